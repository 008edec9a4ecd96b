import { assert, assertEquals, assertLess } from "@std/assert";
import { findApiKeys, listApiKeys } from "../../ledger/api_keys.ts";
import {
  insertApiKey,
  insertFirstAdminKey,
  type NewKey,
  requireApproval,
  revokeApiKey,
  rotateApiKey,
} from "../../ledger/api_key_changes.ts";
import type { HubAudit } from "../../ledger/audit.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { rowsRead } from "../support/rows_read.ts";

const test = testNeeding(DATABASE);
const KEYS = 2_000;
const ASKED = 30;

/** A hash as a number's hex digits. */
const hashOf = (n: number) => n.toString(16).padStart(64, "0");

test("however many keys there are, those that are asked for are read by index, with their merchants", async () => {
  await using database = await testDatabase({ unused: true });
  const sql = database.connect({ max: 1 });
  await sql`
    INSERT INTO book.merchant (merchant_id, slot, name, deposit_commission_rate, webhook_secret, created_at)
    SELECT 'mer_' || n, 0, 'Test', 0, 'whsec_dGVzdC1zZWNyZXQtdGVzdC1zZWNyZXQ=', now()
    FROM generate_series(1, ${KEYS}::int) n`;
  await sql`
    INSERT INTO hub.api_key (id, hash, merchant_id, role, permissions, label, created_at)
    SELECT 'key_' || n, decode(lpad(to_hex(n), 64, '0'), 'hex'), 'mer_' || n, 'MERCHANT', '{read}', '', now()
    FROM generate_series(1, ${KEYS}::int) n`;
  await sql`UPDATE hub.api_key SET revoked_at = now() WHERE id = 'key_7'`;
  await sql`ANALYZE hub.api_key, book.merchant`;
  const asked = Array.from({ length: ASKED }, (_, n) => hashOf(n + 1));
  // a kept plan and one of its own
  for (const mode of ["force_generic_plan", "force_custom_plan"]) {
    await sql.unsafe(`SET plan_cache_mode = ${mode}`);
    const { found, whole } = await sql.begin(async (tx) => {
      const found = await findApiKeys(tx, [...asked, hashOf(KEYS + 1)]);
      const [whole] = await tx<{ rows: number }[]>`
        SELECT (pg_stat_get_xact_tuples_returned('hub.api_key'::regclass)
          + pg_stat_get_xact_tuples_returned('book.merchant'::regclass))::int AS rows`;
      return { found, whole };
    });
    assertEquals(
      [...found].map(([hash, key]) => [hash, key.id, key.merchantId, key.merchantStatus]),
      asked.filter((hash) => hash !== hashOf(7)).map((hash) => {
        const n = Number.parseInt(hash, 16);
        return [hash, `key_${n}`, `mer_${n}`, "ACTIVE"];
      }),
    );
    assertEquals(whole, { rows: 0 }, `rows that were read without an index, ${mode}`);
  }
});

/** A key with a number, of a merchant or of an administrator. */
function keyOf(n: number, merchantId: string | null): NewKey {
  const role = merchantId === null ? "ADMIN" as const : "MERCHANT" as const;
  const permissions = merchantId === null ? ["admin:write"] : ["read"];
  const rest = {
    administrator: null,
    label: "",
    ipAllowlist: null,
    expiresAt: null,
    createdAt: Date.now(),
  };
  return { id: `key_${n}`, hash: hashOf(n), merchantId, role, permissions, ...rest };
}

/** The line of the audit for a key. */
function auditOf(key: Pick<NewKey, "id">): HubAudit {
  const about = { actor: key.id, action: "test", subject: key.id, before: null, after: null };
  return {
    id: `aud_${key.id}_${crypto.randomUUID()}`,
    merchantId: null,
    requestId: null,
    ...about,
  };
}

test("keys that have ended cost neither their merchant's doors nor the others' a look", async () => {
  await using database = await testDatabase({ unused: true });
  const sql = database.connect({ max: 1 });
  const [shop, busy] = ["mer_shop", "mer_busy"];
  await sql`
    INSERT INTO book.merchant (merchant_id, slot, name, deposit_commission_rate, webhook_secret, created_at)
    SELECT id, 0, 'Test', 0, 'whsec_dGVzdC1zZWNyZXQtdGVzdC1zZWNyZXQ=', now()
    FROM unnest(${[shop, busy]}::text[]) id`;
  const [first, other, own] = [keyOf(1, null), keyOf(2, null), keyOf(3, shop)];
  await insertFirstAdminKey(sql, first, "aud_first");
  for (const key of [other, own]) await insertApiKey(sql, key, first.id, () => auditOf(key));
  // half of them were revoked, the others have expired
  await sql`
    INSERT INTO hub.api_key (id, hash, merchant_id, role, permissions, label, created_at, revoked_at, expires_at)
    SELECT 'key_' || n, decode(lpad(to_hex(n), 64, '0'), 'hex'), ${busy}, 'MERCHANT', '{read}', '', now(),
      CASE WHEN n % 2 = 0 THEN now() END, CASE WHEN n % 2 = 1 THEN now() END
    FROM generate_series(11, ${KEYS}::int) n`;
  let next = KEYS;
  const doors: Readonly<Record<string, () => Promise<unknown>>> = {
    make: async () => {
      const key = keyOf(++next, busy);
      assertEquals(typeof await insertApiKey(sql, key, first.id, () => auditOf(key)), "object");
    },
    rotate: () =>
      rotateApiKey(sql, own.id, keyOf(++next, shop), first.id, Date.now(), () => auditOf(own)),
    "take approvals": () => requireApproval(sql, busy, null),
    "end an administrator's": () => revokeApiKey(sql, null, other.id, auditOf(other)),
    "list a merchant's": () => listApiKeys(sql, shop),
    "list administrators'": () => listApiKeys(sql, null),
  };
  for (const isKnown of [false, true]) {
    if (isKnown) await sql`ANALYZE hub.api_key`;
    for (const [name, door] of Object.entries(doors)) {
      const read = await rowsRead(sql, "hub.api_key", async () => {
        await door();
        // transactions have a connection of their own, which tells what it has read when it is asked to
        await sql.begin((tx) => tx`SELECT pg_stat_force_next_flush()`);
      });
      assert(read > 0, `${name}: nothing was counted`);
      assertLess(read, 100, `${name}, ${isKnown ? "with" : "without"} statistics`);
    }
  }
});
