/**
 * Callers that are let through: by key, by address, by token, by limit.
 *
 * @module
 */

import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { authenticate, type Connection } from "../../api/http/authenticate.ts";
import { clientAddress } from "../../api/http/client_address.ts";
import type { ApiContext } from "../../api/http/context.ts";
import { createKeyRing, hashApiKey, KEY_MEMORY_MS, mintApiKey } from "../../api/http/key_ring.ts";
import type { Caller } from "../../api/http/permission.ts";
import { DEFAULT_LIMITS, RateLimits } from "../../api/http/rate_limits.ts";
import { createSessionTokens } from "../../api/http/session_token.ts";
import { getBalance } from "../../api/statements/balance.ts";
import type { StoredKey } from "../../ledger/api_keys.ts";

const NOW = 1_800_000_000_000;

const CALLER: Caller = {
  keyId: "key_1",
  role: "MERCHANT",
  merchantId: "mer_1",
  isActive: true,
  administrator: null,
  needsApproval: false,
  permissions: ["read"],
  ipAllowlist: null,
  expiresAt: null,
  rateLimits: {},
};

Deno.test("a key with an allow-list is refused where the client's address is not known", async () => {
  const caller = { ...CALLER, ipAllowlist: ["203.0.113.0/24"] };
  const identify = (connection: Connection | undefined, headers: HeadersInit = {}) => {
    const parts: Pick<ApiContext, "keys" | "trustedProxies"> = {
      keys: { find: () => caller, remembered: () => null, forget: () => {} },
      trustedProxies: ["10.0.0.1"],
    };
    const sent = new Headers({ authorization: "Bearer sk_development_1", ...headers });
    return authenticate(getBalance, {}, sent, connection, NOW, parts as ApiContext);
  };
  const kindOf = async (...from: Parameters<typeof identify>) => (await identify(...from)).kind;
  assertEquals(await kindOf({ transport: "tcp", hostname: "203.0.113.7" }), "known");
  assertEquals(await kindOf({ transport: "tcp", hostname: "198.51.100.7" }), "refused");
  assertEquals(await kindOf(undefined), "refused");
  assertEquals(await kindOf({ transport: "unix" }), "refused");
  assertEquals(await kindOf(undefined, { "x-forwarded-for": "203.0.113.7" }), "refused");
});

Deno.test("where a trusted proxy names no client, its address is not known and never the proxy's", () => {
  const trusted = ["127.0.0.1", "10.0.0.0/8", "::1"];
  const rows: readonly (readonly [string, string | null, string | null])[] = [
    ["127.0.0.1", "203.0.113.7", "203.0.113.7"],
    ["127.0.0.1", " 203.0.113.7 ", "203.0.113.7"],
    ["127.0.0.1", "203.0.113.7:4711", "203.0.113.7"],
    ["127.0.0.1", "2001:db8::1", "2001:db8::1"],
    ["127.0.0.1", "[2001:db8::1]", "2001:db8::1"],
    ["127.0.0.1", "[2001:db8::1]:4711", "2001:db8::1"],
    ["127.0.0.1", "[::ffff:203.0.113.7]:4711", "::ffff:203.0.113.7"],
    ["::ffff:127.0.0.1", "203.0.113.7", "203.0.113.7"],
    ["127.0.0.1", "198.51.100.1, 203.0.113.7", "203.0.113.7"],
    ["127.0.0.1", "203.0.113.7:4711, 10.1.2.3:80", "203.0.113.7"],
    ["127.0.0.1", "203.0.113.7, [::1]:80, 10.1.2.3", "203.0.113.7"],
    ["127.0.0.1", "unknown, 203.0.113.7", "203.0.113.7"],
    ["127.0.0.1", "203.0.113.7, unknown", null],
    ["127.0.0.1", "unknown", null],
    ["127.0.0.1", "_hidden", null],
    ["127.0.0.1", "", null],
    ["127.0.0.1", ",", null],
    ["127.0.0.1", "203.0.113.7,", null],
    ["127.0.0.1", null, null],
    ["127.0.0.1", "10.0.0.1", null],
    ["127.0.0.1", "127.0.0.1:80", null],
    ["127.0.0.1", "203.0.113.7:port", null],
    ["127.0.0.1", "203.0.113.7:123456", null],
    ["127.0.0.1", "[203.0.113.7", null],
    ["127.0.0.1", "[unknown]:80", null],
    ["127.0.0.1", "http://203.0.113.7", null],
    // only a trusted proxy is believed
    ["203.0.113.9", "198.51.100.1", "203.0.113.9"],
    ["203.0.113.9", "unknown", "203.0.113.9"],
    ["203.0.113.9", null, "203.0.113.9"],
  ];
  for (const [peer, forwarded, expected] of rows) {
    assertEquals(clientAddress(peer, forwarded, trusted), expected, `${peer}, ${forwarded}`);
  }
  assertEquals(clientAddress(undefined, "203.0.113.7", trusted), null);
});

Deno.test("a key that expires while it is remembered is not let through", async () => {
  const key = mintApiKey("development");
  const stored: StoredKey = {
    id: "key_1",
    role: "MERCHANT",
    administrator: null,
    needsApproval: false,
    permissions: ["read"],
    ipAllowlist: null,
    expiresAt: NOW + KEY_MEMORY_MS / 2,
    merchantId: "mer_1",
    merchantStatus: "ACTIVE",
    rateLimits: {},
    lastUsedAt: NOW,
  };
  let reads = 0;
  const ring = createKeyRing((hashes) => {
    reads++;
    return Promise.resolve(new Map(hashes.map((hash) => [hash, stored])));
  }, "development");
  const holder = async (now: number) => {
    const found = await ring.find(key, now);
    return found === null || typeof found === "string" ? found : found.keyId;
  };
  assertEquals(await holder(NOW), "key_1");
  assertEquals(await holder(NOW + KEY_MEMORY_MS / 2 - 1), "key_1");
  assertEquals(await ring.find(key, NOW + KEY_MEMORY_MS / 2), null);
  assertEquals(reads, 1, "from memory alone");
});

Deno.test("a key is told from memory for refusals until five seconds after it was found, and not once it was forgotten", async () => {
  const key = mintApiKey("development");
  const stored: StoredKey = {
    id: "key_1",
    role: "MERCHANT",
    administrator: null,
    needsApproval: false,
    permissions: ["read"],
    ipAllowlist: null,
    expiresAt: NOW + 10 * KEY_MEMORY_MS,
    merchantId: "mer_1",
    merchantStatus: "ACTIVE",
    rateLimits: {},
    lastUsedAt: NOW,
  };
  let reads = 0;
  const ring = createKeyRing((hashes) => {
    reads++;
    return Promise.resolve(new Map(hashes.map((hash) => [hash, stored])));
  }, "development");
  const told = (now: number, text = key) => ring.remembered(text, now)?.keyId ?? null;
  assertEquals([told(NOW), reads], [null, 0]);
  await ring.find(key, NOW);
  assertEquals([told(NOW), told(NOW + 5 * KEY_MEMORY_MS - 1)], ["key_1", "key_1"]);
  // too old, a clock that was set back, another text
  assertEquals([told(NOW + 5 * KEY_MEMORY_MS), told(NOW - 1)], [null, null]);
  assertEquals([told(NOW, `${key} `), told(NOW, mintApiKey("development"))], [null, null]);
  ring.forget("mer_1");
  assertEquals(told(NOW), null);
  await ring.find(key, NOW + 9.5 * KEY_MEMORY_MS);
  assertEquals(told(NOW + 9.9 * KEY_MEMORY_MS), "key_1");
  // its own end is kept to
  assertEquals([told(NOW + 10 * KEY_MEMORY_MS), reads], [null, 2]);
});

Deno.test("a key that is asked for again and again is let in no longer than it is valid, whose key it is told each time", async () => {
  const stored = (id: string): StoredKey => ({
    id,
    role: "MERCHANT",
    administrator: null,
    needsApproval: false,
    permissions: ["read"],
    ipAllowlist: null,
    expiresAt: null,
    merchantId: `mer_${id}`,
    merchantStatus: "ACTIVE",
    rateLimits: {},
    lastUsedAt: NOW,
  });
  const [mine, other] = [mintApiKey("development"), mintApiKey("development")];
  const valid = new Map([[hashApiKey(mine), stored("1")], [hashApiKey(other), stored("2")]]);
  const ring = createKeyRing(
    (hashes) =>
      Promise.resolve(
        new Map(hashes.flatMap((hash) => {
          const found = valid.get(hash);
          return found === undefined ? [] : [[hash, found] as const];
        })),
      ),
    "development",
  );
  const holder = async (key: string, now: number) => {
    const found = await ring.find(key, now);
    return found === null || typeof found === "string" ? found : found.keyId;
  };
  for (let at = 0; at < 20 * KEY_MEMORY_MS; at += KEY_MEMORY_MS / 4) {
    assertEquals(await holder(mine, NOW + at), "1");
    assertEquals(await holder(other, NOW + at), "2");
  }
  // revoked elsewhere: noticed within its memory, and its text is no key from then on
  valid.delete(hashApiKey(mine));
  const end = NOW + 21 * KEY_MEMORY_MS;
  assertEquals([await holder(mine, end), await holder(mine, end + 1)], [null, null]);
  assertEquals(await holder(other, end), "2");
});

Deno.test("guessed keys are not looked up for ever, and cost a key that was found nothing", async () => {
  const stored: StoredKey = {
    id: "key_1",
    role: "MERCHANT",
    administrator: null,
    needsApproval: false,
    permissions: ["read"],
    ipAllowlist: null,
    expiresAt: null,
    merchantId: "mer_1",
    merchantStatus: "ACTIVE",
    rateLimits: {},
    lastUsedAt: NOW,
  };
  const [mine, late] = [mintApiKey("development"), mintApiKey("development")];
  const real = new Set([hashApiKey(mine), hashApiKey(late)]);
  let reads = 0;
  const keys = createKeyRing((hashes) => {
    reads += hashes.length;
    return Promise.resolve(
      new Map(hashes.filter((hash) => real.has(hash)).map((hash) => [hash, stored])),
    );
  }, "development");
  const context = { keys, trustedProxies: [], rateLimits: new RateLimits() };
  const ask = async (key: string, now: number, hostname = "203.0.113.7") => {
    const sent = new Headers({ authorization: key });
    const connection = { transport: "tcp", hostname };
    const parts = context as Pick<ApiContext, keyof typeof context> as ApiContext;
    const found = await authenticate(getBalance, {}, sent, connection, now, parts);
    return found.kind === "known" ? 200 : found.answer.status;
  };
  assertEquals(await ask(mine, NOW), 200);
  const guesses = Array.from({ length: 3_000 }, () => ask(mintApiKey("development"), NOW + 1));
  const statuses = Map.groupBy(await Promise.all(guesses), (status) => status);
  assertEquals([statuses.get(401)?.length, statuses.get(429)?.length], [1_000, 2_000]);
  assertEquals(reads, 1_001);
  // read anew when its memory is over, whatever its address has guessed
  assertEquals(await ask(mine, NOW + KEY_MEMORY_MS), 200);
  assertEquals(reads, 1_002);
  assertEquals(await ask(late, NOW + 2), 429);
  assertEquals(await ask(late, NOW + 2, "203.0.113.8"), 200);
  assertEquals(await ask(late, NOW + 3), 200);
});

Deno.test("administrators are not counted, but for what upstream systems send with their keys", () => {
  const limits = new RateLimits();
  const request = {
    caller: { ...CALLER, role: "ADMIN" as const, merchantId: null },
    sessionHash: null,
    address: "203.0.113.7",
  };
  const refused = (category: "webhooks" | "withdrawals", count: number) =>
    Array.from({ length: count }, () => limits.count(category, request, NOW))
      .filter(({ refusal }) => refusal !== null).length;
  assertEquals(refused("webhooks", DEFAULT_LIMITS.webhooks + 3), 3);
  assertEquals(refused("withdrawals", DEFAULT_LIMITS.withdrawals + 3), 0);
});

Deno.test("a page's token depends on its session, its nonce and the secret", () => {
  const tokens = createSessionTokens("a secret");
  const token = tokens.of("ses_1", "nonce");
  assert(/^[\w-]{43}$/.test(token));
  assertEquals(tokens.of("ses_1", "nonce"), token);
  assertNotEquals(tokens.of("ses_1", "another"), token);
  assertNotEquals(tokens.of("ses_2", "nonce"), token);
  assertNotEquals(createSessionTokens("another secret").of("ses_1", "nonce"), token);
});
