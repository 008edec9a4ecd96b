import { assertEquals, assertLess } from "@std/assert";
import { createJournalStore } from "../../ledger/journal/store.ts";
import { newId } from "../../actors/runtime/ids.ts";
import {
  addMerchant,
  amount,
  booksFaults,
  fund,
  openJournal,
  reserveCommand,
} from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("in one batch a stale slice and a taken reference miss, all others are written", async () => {
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
  assertEquals((await journal.ask(taken, first, 5_000)).kind, "done");

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
  await Promise.all(everybody.map((id) => second.ask(id, reserveCommand(), 5_000)));
  assertEquals((await journal.ask(stale, reserveCommand(), 5_000)).kind, "done");

  const outcomes = await Promise.all(
    everybody.map((id) =>
      second.ask(id, reserveCommand({ referenceId: "order-1", amount: amount("7") }), 5_000)
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

test("a kept plan reads by index, however small the tables were when it was made", async () => {
  await using database = await testDatabase({ max: 1 });
  const { sql } = database;
  // the pool's only connection keeps the plans that it makes on empty tables
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "1000000");
  for (let i = 0; i < 30; i++) {
    const ask = () => journal.ask(merchantId, reserveCommand({ referenceId: newId("evt") }), 5_000);
    await Promise.all(Array.from({ length: 40 }, ask));
  }
  const rowsRead = async () => {
    await sql`SELECT pg_stat_force_next_flush()`;
    const [row] = await sql<{ n: number }[]>`
      SELECT sum(seq_tup_read + idx_tup_fetch)::int AS n FROM pg_stat_user_tables
      WHERE schemaname = 'book' AND relname IN
        ('withdrawal', 'transaction', 'outgoing', 'entry', 'charge', 'balance', 'account', 'list_block')`;
    return row?.n ?? 0;
  };
  const before = await rowsRead();
  const outcome = await journal.ask(merchantId, reserveCommand({ referenceId: "last" }), 5_000);
  assertEquals(outcome.kind, "done");
  // account, balance and lists; not one of the 1,200 withdrawals that are there
  assertLess(await rowsRead() - before, 20);
  await journal.stop(1_000);
});
