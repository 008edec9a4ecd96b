import { assertEquals } from "@std/assert";
import { connect } from "../../../ledger/database/connect.ts";
import { fillWithdrawals } from "./fill_rows.ts";
import { addMerchant, booksFaults, fund, openJournal } from "../../support/books.ts";
import { testDatabase } from "../../support/database.ts";
import { DATABASE, testNeeding } from "../../support/permissions.ts";

const test = testNeeding(DATABASE);

test("the rows that the bench fills a database with are what the journal would have written", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchants = await Promise.all(Array.from({ length: 4 }, () => addMerchant(sql)));
  for (const merchantId of merchants) await fund(sql, journal, merchantId, "1000000");
  await journal.stop(1_000);
  const loader = connect(database.url, { max: 2, statementTimeoutMs: 0 });
  const [hot = "", ...others] = merchants;
  await fillWithdrawals(loader, { hotMerchants: [hot], spreadMerchants: others }, 1_000);
  await loader.end({ timeout: 5 });
  const counts = await sql`
    SELECT status, count(*)::int AS n, count(*) FILTER (WHERE merchant_id = ${hot})::int AS hot
    FROM book.withdrawal GROUP BY 1 ORDER BY 1`;
  assertEquals(counts.map((row) => ({ ...row })), [
    { status: "CONFIRMED", n: 992, hot: 495 },
    { status: "FAILED", n: 8, hot: 5 },
    { status: "PENDING", n: 1, hot: 1 },
  ]);
  assertEquals(await booksFaults(sql), []);
});
