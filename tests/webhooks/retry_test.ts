import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { isRetried, retryDelayMs } from "../../webhooks/attempt_outcome.ts";
import { isSubscribed } from "../../webhooks/events.ts";

Deno.test("retries wait 1 s, doubling, at most 30 s", () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 20].map((attempt) => retryDelayMs(attempt, 0));
  assertEquals(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
});

Deno.test("jitter only adds, at most a tenth, and never passes 30 s", () => {
  fc.assert(fc.property(
    fc.integer({ min: 1, max: 5_000 }),
    fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    (attempt, random) => {
      const least = retryDelayMs(attempt, 0);
      const wait = retryDelayMs(attempt, random);
      assert(wait >= least && wait <= least * 1.1 && wait <= 30_000 && Number.isInteger(wait));
    },
  ));
});

Deno.test("a retry count of n allows n attempts after the first", () => {
  assertEquals([1, 2, 3, 4].map((attempts) => isRetried(attempts, 3)), [true, true, true, false]);
  assertEquals(isRetried(1, 0), false);
});

Deno.test("the subscription decides which events go out", () => {
  const on = { webhookUrl: "https://a.example", webhookEnabled: true, webhookEvents: null };
  assertEquals(isSubscribed(on, "deposit.confirmed"), true);
  assertEquals(isSubscribed({ ...on, webhookEvents: [] }, "deposit.confirmed"), false);
  const some = { ...on, webhookEvents: ["withdrawal.failed"] };
  assertEquals(isSubscribed(some, "deposit.confirmed"), false);
  assertEquals(isSubscribed(some, "withdrawal.failed"), true);
  assertEquals(isSubscribed({ ...on, webhookEnabled: false }, "deposit.confirmed"), false);
  assertEquals(isSubscribed({ ...on, webhookUrl: null }, "deposit.confirmed"), false);
});
