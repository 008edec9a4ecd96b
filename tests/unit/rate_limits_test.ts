import { assert, assertEquals } from "@std/assert";
import type { Caller } from "../../api/http/permission.ts";
import { type Counted, RateLimits } from "../../api/http/rate_limits.ts";

const CALLER: Caller = {
  keyId: "key_1",
  role: "MERCHANT",
  merchantId: "mer_1",
  isActive: true,
  administrator: null,
  needsApproval: false,
  permissions: [],
  ipAllowlist: null,
  expiresAt: null,
  rateLimits: {},
};

function page(sessionHash: string, address: string): Counted {
  return { caller: null, sessionHash, address };
}

Deno.test("a flood of addresses and of invented tokens forgets no other category's windows", () => {
  const limits = new RateLimits();
  const withdrawal = () =>
    limits.count("withdrawals", { caller: CALLER, sessionHash: null, address: null }, 0);
  const guess = () => limits.countFailure("203.0.113.9", 0);
  for (let i = 0; i < 100; i++) guess();
  for (let i = 0; i < 50; i++) withdrawal();
  const known = page("known", "203.0.113.9");
  limits.foundPage(limits.count("hosted", known, 0), known, 0);
  for (let i = 0; i < 239; i++) limits.count("hosted", page("known", "203.0.113.9"), 0);
  let refused = 0;
  for (let i = 0; i < 100_100; i++) {
    const isOver = limits.count("hosted", page(`invented ${i}`, "203.0.113.9"), 1).refusal !== null;
    if (isOver) refused++;
  }
  for (let i = 0; i < 100_100; i++) {
    const address = `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;
    limits.count("hosted", page(`invented ${i}`, address), 1);
    limits.count("public", page("", address), 1);
  }
  assertEquals(refused, 99_500);
  assertEquals([guess().refusal?.status, withdrawal().refusal?.status], [429, 429]);
  assertEquals(limits.count("hosted", page("known", "203.0.113.9"), 2).refusal?.status, 429);
});

Deno.test("a page that was found gives its address back what it was counted there", () => {
  const limits = new RateLimits();
  for (let i = 0; i < 2_000; i++) {
    const request = page(`page ${i}`, "203.0.113.9");
    const counting = limits.count("hosted", request, 0);
    assertEquals(counting.refusal, null);
    const found = limits.foundPage(counting, request, 0);
    assertEquals(found.headers["ratelimit-limit"], "240");
  }
  // many at once, before any was found: their number is bounded, and none is counted twice
  const asked = Array.from({ length: 700 }, () => limits.count("hosted", page("a", "::1"), 0));
  assertEquals(asked.filter(({ refusal }) => refusal === null).length, 600);
  const found = asked.slice(0, 300).map((counting) =>
    limits.foundPage(counting, page("a", "::1"), 0)
  );
  assertEquals(found.filter(({ refusal }) => refusal === null).length, 240);
  assert(limits.count("hosted", page("b", "::1"), 0).refusal === null);
});

Deno.test("large answers that are asked for at once weigh on each other", () => {
  const limits = new RateLimits();
  const request = { caller: null, sessionHash: null, address: "203.0.113.5" };
  const asked = Array.from({ length: 570 }, () => limits.count("public", request, 0));
  assertEquals(asked.filter(({ refusal }) => refusal !== null), []);
  const [first = asked[0], ...others] = asked;
  assert(first !== undefined);
  assertEquals(limits.overdrawn(first, 0), null);
  const MEGABYTES = 1_700_000;
  const weighed = asked.map((counting) => limits.weigh(counting, MEGABYTES, 0));
  const served = weighed.filter(({ refusal }) => refusal === null).length;
  assert(served <= 6, `${served} answers of 1.7 MB were made`);
  // what is small is still answered, what would be large is refused before it is made
  assertEquals(limits.weigh(others[0] ?? first, 1_000, 0).refusal, null);
  assertEquals(limits.overdrawn(first, 0)?.status, 429);
  assertEquals(limits.count("public", request, 60_000).refusal, null);
});

Deno.test("one large answer after the other, each counts as what it weighs", () => {
  const limits = new RateLimits();
  const request = { caller: CALLER, sessionHash: null, address: null };
  let served = 0;
  for (let i = 0; i < 570; i++) {
    const counting = limits.count("transactions", request, 0);
    if (counting.refusal !== null) continue;
    if (limits.weigh(counting, 437_000, 0).refusal === null) served++;
  }
  assertEquals(served, 25);
});

Deno.test("a merchant's keys share a bucket beside the one that each has", () => {
  const limits = new RateLimits();
  const take = (keyId: string, caller: Partial<Caller> = {}) => {
    const request = { caller: { ...CALLER, keyId, ...caller }, sessionHash: null, address: null };
    return limits.count("withdrawals", request, 0);
  };
  const passed = (keyIds: readonly string[], caller: Partial<Caller> = {}) =>
    keyIds.flatMap((keyId) => Array.from({ length: 60 }, () => take(keyId, caller)))
      .filter(({ refusal }) => refusal === null).length;
  const twenty = Array.from({ length: 20 }, (_, i) => `key_${i}`);
  assertEquals(passed(["key_0"]), 50);
  assertEquals(passed(twenty), 150);
  assertEquals(take("key_19").refusal?.body, {
    error: "rate_limit_exceeded",
    code: "rate_limit_exceeded",
    message: "200 requests per minute (withdrawals) are used up; try again in 60 s.",
    details: { limit: 200, remaining: 0, reset: 60 },
  });
  assertEquals(passed(twenty, { merchantId: "mer_2" }), 200);
  const own = { merchantId: "mer_3", rateLimits: { withdrawals: 7 } };
  assertEquals(passed(twenty, own), 28);
  const free = { merchantId: "mer_4", rateLimits: { withdrawals: 0 } };
  assertEquals(passed(twenty, free), 1_200);
});

Deno.test("what is no session token is counted per client, not remembered one by one", () => {
  const limits = new RateLimits();
  const ask = (sessionHash: string, address: string) =>
    limits.count("hosted", { caller: null, sessionHash, address }, 1).refusal?.status ?? 200;
  for (let i = 0; i < 600; i++) assertEquals(ask(`${i}`.repeat(5_000), "203.0.113.9"), 200);
  assertEquals(ask("x".repeat(44), "203.0.113.9"), 429);
  assertEquals(ask("x".repeat(44), "203.0.113.10"), 200);
  // what only looks like one is counted there as well
  assertEquals(ask("x".repeat(43), "203.0.113.9"), 429);
});

Deno.test("pages of one client address are limited together, its documents the more, others not", () => {
  const limits = new RateLimits();
  const ask = (sessionHash: string, address: string, isDocument: boolean) => {
    const request = { caller: null, sessionHash, address, isDocument };
    const counting = limits.foundPage(limits.count("hosted", request, 0), request, 0);
    return counting.refusal;
  };
  const answered = (pages: number, address: string, isDocument: boolean) => {
    let count = 0;
    for (let i = 0; i < pages; i++) {
      for (let n = 0; n < 200; n++) if (ask(`page ${i}`, address, isDocument) === null) count++;
    }
    return count;
  };
  // 85 pages without payments: 17,000 requests, each of them within the limit of its page
  assertEquals(answered(85, "203.0.113.9", true), 2_400);
  assertEquals(ask("page 1", "203.0.113.9", true)?.body, {
    error: "rate_limit_exceeded",
    code: "rate_limit_exceeded",
    message: "2400 requests per minute (hosted) are used up; try again in 60 s.",
    details: { limit: 2_400, remaining: 0, reset: 60 },
  });
  assertEquals(answered(85, "203.0.113.9", false), 12_000 - 2_400);
  assertEquals(ask("page 84", "203.0.113.9", false)?.headers?.["retry-after"], "60");
  // what was refused for the address counts against no page
  assertEquals(ask("page 84", "203.0.113.10", true), null);
});
