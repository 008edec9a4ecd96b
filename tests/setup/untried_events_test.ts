import { assertEquals } from "@std/assert";
import { detailReads } from "../../app/health/readiness.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("events that were never tried are found behind the retries of a thousand other merchants", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const put = (first: number, last: number, attempts: number) =>
    sql`
      INSERT INTO book.outbox (id, merchant_id, type, payload, payment_id, status, attempts, created_at)
      SELECT 'evt_' || lpad(n::text, 9, '0'), 'mer_' || lpad(n::text, 9, '0'), 'deposit.confirmed', '{}',
        'dep_' || n, 'PENDING', ${attempts}, now() - interval '1 hour'
      FROM generate_series(${first}::int, ${last}::int) n`;
  await put(1, 1_000, 1);
  await put(2_001, 3_000, 1);
  const details = detailReads(sql, { history: { isTold: true } as never });
  const untried = async () => (await details().health).untriedEvents;
  assertEquals([await untried(), await untried(), await untried()], [0, 0, 0]);

  await put(3_001, 3_005, 0);
  // a look goes through a thousand merchants, so that three of them see everybody
  const found = [await untried(), await untried(), await untried()];
  assertEquals(Math.max(...found), 5);
  assertEquals([await untried(), await untried()], [5, 5], "it is told until it is over");
  await sql`UPDATE book.outbox SET attempts = 1 WHERE attempts = 0`;
  assertEquals(await untried(), 0);
  // the next round begins with the first again
  await sql`UPDATE book.outbox SET attempts = 0 WHERE merchant_id = 'mer_000000001'`;
  const again = [await untried(), await untried(), await untried()];
  assertEquals(Math.max(...again), 1);
});
