import { assertEquals, assertThrows } from "@std/assert";
import { amountOf } from "../../ledger/money/amount.ts";
import { shape } from "../../ledger/shape.ts";
import { amount, bigint, boolean, json, orNull, text, time } from "../../ledger/table.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const sample = shape({
  merchantId: text(),
  amount: amount(),
  height: bigint(),
  endedAt: orNull(time()),
  isFree: boolean(),
  data: json<unknown>(),
});

testNeeding(DATABASE)("rows that a query is given come back as they were", async () => {
  await using database = await testDatabase();
  const rows = [
    {
      merchantId: 'mer_"1"',
      amount: amountOf("0.000000000000000001"),
      height: 9_000_000_000,
      endedAt: 1_700_000_000_123,
      isFree: true,
      data: { a: [1, "b"] },
    },
    {
      merchantId: "",
      amount: amountOf("12"),
      height: 0,
      endedAt: null,
      isFree: false,
      data: null,
    },
  ];
  const { sql } = database;
  const read = async (given: typeof rows) =>
    sample.all(await sql`SELECT * FROM ${sample.rows(sql, "s", given)} ORDER BY s.height DESC`);
  assertEquals(await read(rows), rows);
  assertEquals(await read([]), []);
  assertEquals(sample.first(await sql`SELECT * FROM ${sample.rows(sql, "s", [])}`), null);
});

Deno.test("a column that a query does not return is a bug", () => {
  assertThrows(() => sample.decode({ merchant_id: "mer_1" }), TypeError, "amount");
});
