import { assert, assertEquals } from "@std/assert";
import { foldEventCounts } from "../../ledger/outbox/deliveries.ts";
import { pruneEvents, pruneInbox } from "../../ledger/retention.ts";
import { findOwnTransactions, recordOutcomes } from "../../ledger/watcher/record_outcomes.ts";
import {
  addMerchant,
  addTransfer,
  amount,
  booksFaults,
  openJournal,
  reserveCommand,
  until,
} from "../support/books.ts";
import { commitSigned } from "../support/commit_signed.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** Everything counts as old. */
const OLD = -60_000;

test("what is pruned and told again changes nothing, and what is still needed is not pruned", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  const hear = async () => {
    journal.wake(merchantId);
    await until(async () =>
      (await sql`SELECT 1 FROM book.inbox WHERE consumed_at IS NULL`).length === 0
    );
  };
  const phases = async () =>
    (await sql`SELECT phase, txid FROM book.inbox ORDER BY phase, txid`)
      .map(({ phase, txid }) => `${phase} ${txid.slice(0, 1)}`);
  const balance = async () =>
    (await sql`
      SELECT trim_scale(available)::text AS available, trim_scale(pending)::text AS pending,
        (SELECT count(*)::int FROM book.deposit) AS deposits FROM book.balance`).map((row) => ({
      ...row,
    }));

  const [final, open] = ["a".repeat(64), "b".repeat(64)];
  await addTransfer(sql, merchantId, "100", { txid: final, phase: "seen" });
  await addTransfer(sql, merchantId, "7", { txid: open, phase: "seen" });
  await hear();
  await addTransfer(sql, merchantId, "100", { txid: final });
  await hear();
  const command = reserveCommand();
  assertEquals((await journal.ask(merchantId, command, 60_000)).kind, "done");
  const txid = "e".repeat(64);
  const { outgoingId } = command;
  await commitSigned(sql, [
    { outgoingId, merchantId, network: "TRX", txid, bytes: "{}", expiresAt: Date.now() + 60_000 },
  ]);
  const [own] = await findOwnTransactions(sql, "TRX", [txid]);
  assert(own !== undefined);
  const outcome = { own, result: "paid", reason: null, height: 9, fee: amount("6") } as const;
  await recordOutcomes(sql, "TRX", [outcome]);
  assertEquals(await pruneInbox(sql, OLD), 1, "what waits is not pruned");
  await hear();
  const before = await balance();

  assertEquals(await pruneInbox(sql, 60_000), 0, "what is young is not pruned");
  assertEquals(await pruneInbox(sql, OLD), 1);
  // what came in on an address is counted from its final transfers; the open one may still vanish
  assertEquals(await phases(), ["seen b", "solid a"]);
  await addTransfer(sql, merchantId, "100", { txid: final, phase: "seen" });
  await recordOutcomes(sql, "TRX", [outcome]);
  await hear();
  assertEquals(await balance(), before);
  assertEquals(await booksFaults(sql), []);

  const [events] = await sql`SELECT count(*)::int AS n FROM book.outbox`;
  assert(events?.n > 0);
  await sql`UPDATE book.outbox SET status = 'PENDING' WHERE id = (SELECT max(id) FROM book.outbox)`;
  assertEquals(await pruneEvents(sql, 60_000), 0);
  assertEquals(await pruneEvents(sql, OLD), events?.n - 1, "what waits is not pruned");
  await foldEventCounts(sql);
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});
