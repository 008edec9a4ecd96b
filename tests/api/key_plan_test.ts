import { assertEquals } from "@std/assert";
import { findApiKeys } from "../../ledger/api_keys.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

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
