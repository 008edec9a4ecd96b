import { assertEquals, assertLess } from "@std/assert";
import type { Sql } from "../../ledger/database/connect.ts";
import { pullQueued } from "../../ledger/treasury/pull_queued.ts";
import { addMerchant } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { rowsRead } from "../support/rows_read.ts";

const test = testNeeding(DATABASE);

let made = 0;

/** Payouts of a merchant, behind all that were made before. */
async function addPayouts(sql: Sql, merchantId: string, count: number, status = "queued") {
  await sql`
    INSERT INTO book.outgoing
      (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
    SELECT 'out_' || lpad(i::text, 9, '0'), ${merchantId}, 'payout', 'wd_' || i, 'ETH', 'USDT', 1, '0x1', ${status},
      to_timestamp(i), now()
    FROM generate_series(${made + 1}::int, ${made + count}::int) i`;
  made += count;
}

const PULL = { network: "ETH", node: "a", turnMs: 60_000, limit: 12, of: "merchants" } as const;

/** The merchants of the transfers that a pull takes, in their order; these leave the queue. */
async function taken(sql: Sql, names: ReadonlyMap<string, string>, limit = 12): Promise<string> {
  const rows = (await pullQueued(sql, { ...PULL, limit }))?.rows ?? [];
  for (const merchantId of names.keys()) {
    const own = rows.filter((row) => row.merchantId === merchantId).map(({ id }) => id);
    assertEquals(own, own.toSorted(), "a merchant's own leave oldest first");
  }
  await sql`UPDATE book.outgoing SET status = 'signed' WHERE id = ANY (${
    rows.map(({ id }) => id)
  }::text[])`;
  return rows.map(({ merchantId }) => names.get(merchantId) ?? "?").join("");
}

test("a merchant's mass payout keeps no other's payout waiting for more than a turn", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const [a, b, c] = [await addMerchant(sql), await addMerchant(sql), await addMerchant(sql)];
  const names = new Map([[a, "a"], [b, "b"], [c, "c"]]);
  await addPayouts(sql, a, 60);
  await addPayouts(sql, b, 3);
  assertEquals(await taken(sql, names), "abababaaaaaa");
  // of a and of b some are under way, of c none is
  await addPayouts(sql, c, 5);
  await addPayouts(sql, b, 1);
  assertEquals(await taken(sql, names), "ccccbcaaaaaa");
  assertEquals(await taken(sql, names), "aaaaaaaaaaaa");
  await addPayouts(sql, b, 2);
  assertEquals(await taken(sql, names, 1), "b", "also where a lane has but one place");
  await sql`UPDATE book.merchant SET status = 'SUSPENDED' WHERE merchant_id = ${a}`;
  assertEquals(await taken(sql, names), "b");
});

test("more merchants than a pull takes have their turns one after the other, however old the queue of some is", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const names = new Map<string, string>();
  for (const name of "abcdef") {
    const merchantId = await addMerchant(sql);
    names.set(merchantId, name);
    await addPayouts(sql, merchantId, 10);
  }
  const turns = [];
  for (let n = 0; n < 3; n++) turns.push(await taken(sql, names, 4));
  assertEquals(turns, ["abcd", "efab", "cdef"]);
});

test("a pull reads a few rows of each merchant that has some queued, whatever stands in the queue", async () => {
  await using database = await testDatabase({ unused: true });
  const { sql } = database;
  const [a, b] = [await addMerchant(sql), await addMerchant(sql)];
  await addPayouts(sql, a, 100_000);
  await sql`VACUUM ANALYZE book.outgoing`;
  await addPayouts(sql, b, 1);
  // as a node asks: by index only
  const one = database.connect({ max: 1, looksUpOnly: true });
  let of: readonly string[] = [];
  const rows = await rowsRead(one, "book.outgoing", async () => {
    of = (await pullQueued(one, PULL))?.rows.map(({ merchantId }) => merchantId) ?? [];
  });
  assertEquals([of.length, of.indexOf(b)], [12, 1]);
  assertLess(rows, 500);
});
