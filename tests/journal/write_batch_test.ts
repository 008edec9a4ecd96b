import { assertEquals, assertLess } from "@std/assert";
import { createJournalStore } from "../../ledger/journal/store.ts";
import { recordNeeds } from "../../actors/journal/open_batch.ts";
import { newId } from "../../actors/runtime/ids.ts";
import {
  addMerchant,
  amount,
  booksFaults,
  fund,
  openJournal,
  refundCommand,
  reserveCommand,
  SOMEWHERE,
} from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("in one batch a stale account and a taken reference miss, and all others are written", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const [stale, taken, ...others] = await Promise.all(
    Array.from({ length: 12 }, () => addMerchant(sql)),
  );
  if (stale === undefined || taken === undefined) throw new Error("no merchants");
  const everybody = [stale, taken, ...others];
  for (const merchantId of everybody) await fund(sql, journal, merchantId, "1000");
  const first = reserveCommand({ referenceId: "order-1" });
  assertEquals((await journal.ask(taken, first, 60_000)).kind, "done");

  // a second node, which has just read everybody; then the first one goes on
  const store = createJournalStore(sql);
  const seen: string[] = [];
  const second = openJournal(sql, {
    store: {
      ...store,
      async writeBatch(...args) {
        const misses = await store.writeBatch(...args);
        seen.push(...misses.map((miss) => `${miss.merchantId} ${miss.reason}`));
        return misses;
      },
    },
  });
  await Promise.all(everybody.map((id) => second.ask(id, reserveCommand(), 60_000)));
  assertEquals((await journal.ask(stale, reserveCommand(), 60_000)).kind, "done");

  const outcomes = await Promise.all(
    everybody.map((id) =>
      second.ask(id, reserveCommand({ referenceId: "order-1", amount: amount("7") }), 60_000)
    ),
  );
  assertEquals(seen, [`${stale} version`, `${taken} reference`]);
  assertEquals(outcomes[1], {
    kind: "refused",
    refusal: { code: "reference_taken", withdrawalId: first.withdrawalId },
  });
  for (const [index, outcome] of outcomes.entries()) {
    if (index !== 1) assertEquals(outcome.kind, "done");
  }
  assertEquals(await booksFaults(sql), []);
  await Promise.all([journal.stop(1_000), second.stop(1_000)]);
});

test("a reference that is taken after it was read is refused as the unique index says, and costs no other", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const funding = openJournal(sql);
  const [taken, other] = [await addMerchant(sql), await addMerchant(sql)];
  for (const merchantId of [taken, other]) await fund(sql, funding, merchantId, "1000");
  const first = reserveCommand({ referenceId: "order-1" });
  assertEquals((await funding.ask(taken, first, 60_000)).kind, "done");
  await funding.stop(1_000);
  const store = createJournalStore(sql);
  let reads = 0;
  const journal = openJournal(sql, {
    store: {
      ...store,
      async readRecords(needs) {
        const records = await store.readRecords(needs);
        return reads++ === 0 ? { ...records, holders: [] } : records;
      },
    },
  });
  const [refused, done] = await Promise.all(
    [taken, other].map((merchantId) =>
      journal.ask(merchantId, reserveCommand({ referenceId: "order-1" }), 60_000)
    ),
  );
  assertEquals(refused, {
    kind: "refused",
    refusal: { code: "reference_taken", withdrawalId: first.withdrawalId },
  });
  assertEquals(done?.kind, "done");
  assertEquals(journal.figures.quarantined, 0);
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("kept plans read by index, however small the tables were when they were made", async () => {
  await using database = await testDatabase({ max: 1, looksUpOnly: true });
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "1000000");
  const reserve = async () => {
    const command = reserveCommand({ referenceId: newId("evt") });
    assertEquals((await journal.ask(merchantId, command, 60_000)).kind, "done");
    return command.withdrawalId;
  };
  const release = async (withdrawalId: string) => {
    const outcome = await journal.ask(merchantId, refundCommand(withdrawalId), 60_000);
    assertEquals(outcome.kind, "done");
  };
  const rowsRead = async () => {
    await sql`SELECT pg_stat_force_next_flush()`;
    const [row] = await sql<{ n: number }[]>`
      SELECT sum(seq_tup_read + idx_tup_fetch)::int AS n FROM pg_stat_user_tables
      WHERE schemaname = 'book' AND relname IN ('withdrawal', 'transaction', 'outgoing', 'entry',
        'charge', 'balance', 'account', 'list_bucket')`;
    return row?.n ?? 0;
  };
  // the pool's only connection makes its plans now, and keeps them from the sixth time on
  for (let i = 0; i < 8; i++) await release(await reserve());
  for (let i = 0; i < 30; i++) await Promise.all(Array.from({ length: 40 }, reserve));
  const before = await rowsRead();
  const withdrawalId = await reserve();
  const between = await rowsRead();
  await release(withdrawalId);
  // a few records each, and none of the 1,200 withdrawals that lie there
  assertLess(between - before, 20);
  assertLess(await rowsRead() - between, 40);
  await journal.stop(1_000);
});

for (const looksUpOnly of [true, false]) {
  const which = looksUpOnly ? "the journal's" : "any other";
  test(`a reference that all merchants use is looked up in one place each, on ${which} connection`, async () => {
    await using database = await testDatabase({ max: 1, looksUpOnly });
    const { sql } = database;
    const store = createJournalStore(sql);
    const asking = (merchantId: string) =>
      recordNeeds([{ merchantId, message: reserveCommand({ referenceId: "1" }) }]);
    await sql`
    INSERT INTO book.withdrawal (id, merchant_id, seq, transaction_seq, outgoing_id, currency, network, amount, base_fee,
      markup_rate, markup_amount, network_fee, destination, reference_id, status, created_at)
    SELECT 'wd_' || m || '_' || r, 'mer_' || m, r, r, 'out_' || m || '_' || r, 'USDT', 'TRX', 1, 0, 0, 0, 0, ${SOMEWHERE}, r, 'PENDING', now()
    FROM generate_series(1, 400) m, generate_series(1, 3) r`;
    if (!looksUpOnly) await sql`ANALYZE book.withdrawal`;
    const rowsRead = async () => {
      await sql`SELECT pg_stat_force_next_flush()`;
      const [row] = await sql<{ n: number }[]>`
      SELECT (seq_tup_read + idx_tup_fetch)::int AS n FROM pg_stat_user_tables
      WHERE relid = 'book.withdrawal'::regclass`;
      return row?.n ?? 0;
    };
    const before = await rowsRead();
    assertEquals((await store.readRecords(asking("mer_new"))).holders.length, 0);
    const { holders } = await store.readRecords(asking("mer_7"));
    assertEquals([...holders].map((row) => ({ ...row })), [
      { merchantId: "mer_7", referenceId: "1", withdrawalId: "wd_7_1" },
    ]);
    assertLess(await rowsRead() - before, 5);
  });
}

test("a bucket is counted when its last row is written, and kept by later changes of its rows", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "10000");
  const commands = Array.from({ length: 251 }, () => reserveCommand());
  const reserve = async (from: number, until: number) => {
    for (let n = from; n < until; n += 50) {
      const some = commands.slice(n, Math.min(n + 50, until));
      await Promise.all(some.map((command) => journal.ask(merchantId, command, 60_000)));
    }
  };
  const refund = (n: number) =>
    journal.ask(merchantId, refundCommand(commands[n]?.withdrawalId ?? ""), 60_000);
  const counts = async (table: string) =>
    (await sql<{ list: string; status: string; type: string; n: number }[]>`
      SELECT list, status, type, count::int AS n FROM ${sql(table)}
      WHERE count > 0 ORDER BY list, type, status`)
      .map(({ list, status, type, n }) => [list, status, type, n]);
  await reserve(0, 200);
  assertEquals((await refund(0)).kind, "done");
  assertEquals(await counts("book.list_bucket"), [
    ["charge", "", "NETWORK_FEE", 125],
    ["charge", "", "WITHDRAWAL_COMMISSION", 125],
  ]);
  await reserve(200, 251);
  const statement = [
    ["transaction", "CONFIRMED", "DEPOSIT", 1],
    ["transaction", "FAILED", "WITHDRAWAL", 1],
    ["transaction", "PENDING", "WITHDRAWAL", 248],
  ];
  const withdrawals = [["withdrawal", "FAILED", "", 1], ["withdrawal", "PENDING", "", 249]];
  assertEquals((await counts("book.list_bucket")).slice(-5), [...statement, ...withdrawals]);

  // as if 64,000 rows were there
  await sql`
    INSERT INTO book.list_large_bucket
    SELECT merchant_id, list, bucket / 256, currency, network, status, type, count, effect
    FROM book.list_bucket WHERE list = 'withdrawal'`;
  await sql`INSERT INTO book.list_summed VALUES (${merchantId}, 'withdrawal', 1)`;
  for (const n of [1, 250]) assertEquals((await refund(n)).kind, "done");
  // the 251st is in the next bucket, which is not full
  const after = [["withdrawal", "FAILED", "", 2], ["withdrawal", "PENDING", "", 248]];
  assertEquals((await counts("book.list_bucket")).slice(-2), after);
  assertEquals(await counts("book.list_large_bucket"), after);
  assertEquals(await booksFaults(sql), []);
  await sql`UPDATE book.list_bucket SET count = count + 1 WHERE list = 'withdrawal' AND status = 'PENDING'`;
  assertEquals((await booksFaults(sql)).length, 2);
  await journal.stop(1_000);
});
