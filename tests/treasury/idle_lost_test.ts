import { assertEquals } from "@std/assert";
import { AcknowledgedCommits, remembering } from "../../actors/failover/acknowledged_commits.ts";
import { HistoryWatch } from "../../actors/failover/history_watch.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { listLost } from "../../ledger/failover/history.ts";
import { createJournalStore } from "../../ledger/journal/store.ts";
import { pruneCommitLog } from "../../ledger/journal/write_batch.ts";
import { addMerchant, fund, openJournal, reserveCommand } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { paperChain } from "../support/paper_chain.ts";

const test = testNeeding(DATABASE);
const HOUR = 3_600_000;

/** A merchant with a payout that was acknowledged, and the watch of the process that has told so. */
async function acknowledgePayout(sql: Sql, clock: { monotonic: number }) {
  const acknowledged = new AcknowledgedCommits(Date.now, () => clock.monotonic);
  const journal = openJournal(sql, { store: remembering(createJournalStore(sql), acknowledged) });
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "1000");
  const watch = new HistoryWatch({
    sql,
    chains: new Map([["TRX" as const, paperChain("TRX")]]),
    acknowledged,
    highestIndexes: () => new Map(),
    dropCaches: () => {},
  });
  await watch.poll();
  const command = reserveCommand({ referenceId: "order-7" });
  assertEquals((await journal.ask(merchantId, command, 60_000)).kind, "done");
  await journal.stop(1_000);
  return { acknowledged, watch };
}

/** Two quiet hours, after which the log of commits has none of before. */
async function letHoursPass(sql: Sql, clock: { monotonic: number }): Promise<void> {
  clock.monotonic += 2 * HOUR;
  await sql`UPDATE book.commit_log SET created_at = created_at - interval '2 hours'`;
  await pruneCommitLog(sql, HOUR);
}

/** Makes what the server writes another history than the known one, as a promotion does. */
async function promote(sql: Sql): Promise<void> {
  await sql`UPDATE hub.database_history SET timeline = timeline + 1_000_000`;
}

test("a payout that is in the books is not told as lost, though the log of commits has forgotten its commit", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const clock = { monotonic: 0 };
  const { watch } = await acknowledgePayout(sql, clock);
  await letHoursPass(sql, clock);
  await promote(sql);
  await watch.poll();
  assertEquals(await listLost(sql), []);
});

test("a payout that was acknowledged before the database was away for hours, and is gone, is told as lost", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const clock = { monotonic: 0 };
  const { watch } = await acknowledgePayout(sql, clock);
  await letHoursPass(sql, clock);
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`DELETE FROM book.withdrawal`;
  });
  await promote(sql);
  await watch.poll();
  assertEquals((await listLost(sql)).map(({ kind, referenceId }) => [kind, referenceId]), [
    ["withdrawal", "order-7"],
  ]);
});

test("what was acknowledged minutes before a look that found the history unchanged is not looked for after it has changed", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const clock = { monotonic: 0 };
  const { acknowledged, watch } = await acknowledgePayout(sql, clock);
  assertEquals(acknowledged.all.length, 1);
  clock.monotonic += 60_000;
  await watch.poll();
  assertEquals(acknowledged.all.length, 1);
  clock.monotonic += 61_000;
  await watch.poll();
  assertEquals(acknowledged.all, []);
});
