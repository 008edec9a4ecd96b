/** The record of when keys were used. @module */

import { assertEquals } from "@std/assert";
import { markKeysUsed } from "../../ledger/api_keys.ts";
import { addMerchant } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("uses of keys wait for no change of one of them, which locks others of its account as well", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await addMerchant(sql);
  await sql`
    INSERT INTO hub.api_key (id, hash, merchant_id, role, permissions, label, created_at)
    SELECT 'key_' || n, sha256(n::text::bytea), ${merchantId}, 'MERCHANT', '{read}', '', now()
    FROM generate_series(1, 3) n`;
  const recorder = database.connect({ max: 1 });
  await recorder`SET lock_timeout = '1s'`;
  const used = async () => {
    const rows = await sql<{ id: string }[]>`
      SELECT id FROM hub.api_key WHERE last_used_at IS NOT NULL ORDER BY id`;
    return rows.map(({ id }) => id);
  };
  await sql.begin(async (tx) => {
    await tx`SELECT FROM hub.api_key WHERE id = 'key_2' FOR NO KEY UPDATE`;
    await markKeysUsed(recorder, ["key_1", "key_2", "key_3"]);
  });
  assertEquals(await used(), ["key_1", "key_3"]);
  await markKeysUsed(recorder, ["key_2"]);
  assertEquals(await used(), ["key_1", "key_2", "key_3"]);
});
