import { assertEquals, assertThrows } from "@std/assert";
import { v7 } from "uuid";
import { decideMerchant } from "../../actors/journal/decide_batch.ts";
import { QueuedCommand } from "../../actors/journal/queue.ts";
import { UnitOfWork } from "../../actors/journal/unit_of_work.ts";
import { type MerchantState, Records, RemainingLiquidity } from "../../actors/merchant/state.ts";
import { reserve } from "../../actors/merchant/decide/withdrawal.ts";
import { newId } from "../../actors/runtime/ids.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import type { Settings } from "../../ledger/settings.ts";
import { createJournalStore } from "../../ledger/journal/store.ts";
import { ZERO } from "../../ledger/money/amount.ts";
import {
  addMerchant,
  amount,
  booksFaults,
  fund,
  openJournal,
  refundCommand,
  reserveCommand,
} from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

const TABLES = ["withdrawal", "transaction", "outgoing", "charge", "entry", "margin"];

/** Rows that hold a merchant's payouts, without what names the merchant. */
async function payoutRows(sql: Sql, merchantId: string): Promise<readonly unknown[]> {
  const rows = await Promise.all(
    TABLES.map((table) =>
      sql.unsafe<{ row: Record<string, unknown> }[]>(
        `SELECT row FROM (
         SELECT to_jsonb(r) - 'merchant_id' - 'beneficiary' - 'margin_to' AS row FROM book.${table} r
         WHERE merchant_id = $1) found
       WHERE coalesce(row ->> 'payment_id', '') !~ '^dep_' ORDER BY row::text`,
        [merchantId],
      )
    ),
  );
  return rows.map((found, n) => [TABLES[n], found.map(({ row }) => row)]);
}

function unitOf(state: MerchantState): UnitOfWork {
  return new UnitOfWork(state, new Records(), new RemainingLiquidity(() => null));
}

test("the rows that the database derives from a payout's opening are those that the decision lists", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const store = createJournalStore(sql);
  const settings = await store.readSettings();
  const free = { enabled: false, baseFee: ZERO, markupRate: "0" };
  const dear = { enabled: true, baseFee: amount("1.5"), markupRate: "0.013" };
  const withFees = (fees: Settings["fees"], networkFee: string): Settings => ({
    ...settings,
    fees,
    pairs: new Map(
      [...settings.pairs].map(([key, pair]) => [key, { ...pair, networkFee: amount(networkFee) }]),
    ),
  });
  const cases = [
    { settings: withFees(dear, "0.7"), command: { referenceId: "one", description: 'a, "b"' } },
    { settings: withFees(dear, "0"), command: { amount: amount("12.345678") } },
    { settings: withFees(free, "2"), command: { fromAddress: "T-hot", createdBy: "key_1" } },
    { settings: withFees(free, "0"), command: { referenceId: "two" } },
  ];
  for (const margin of ["none", "own", "reseller"]) {
    const pair = await Promise.all([addMerchant(sql), addMerchant(sql)]);
    const reseller = await addMerchant(sql);
    for (const merchantId of pair) {
      await sql`
        UPDATE book.merchant SET margin_rate = ${margin === "none" ? 0 : 0.3}, margin_beneficiary =
          ${margin === "own" ? merchantId : margin === "reseller" ? reseller : null}
        WHERE merchant_id = ${merchantId}`;
      await fund(sql, journal, merchantId, "1000");
    }
    const commands = cases.map(({ command }) => reserveCommand(command));
    for (const [n, merchantId] of pair.entries()) {
      const state = (await store.readAccounts([merchantId])).get(merchantId);
      if (state === undefined) throw new Error("no account");
      const unit = unitOf(state);
      for (const [c, command] of commands.entries()) {
        const result = reserve(unit, command, cases[c]?.settings ?? settings);
        if (result.kind !== "decided") throw new Error(`not decided: ${result.kind}`);
        const { decision } = result;
        unit.take(n === 0 ? decision : { ...decision, opening: null });
      }
      const changes = unit.changes();
      assertEquals(
        [changes.openings.length, changes.created.withdrawals.length],
        n === 0 ? [cases.length, 0] : [0, cases.length],
      );
      assertEquals(await store.writeBatch(v7(), settings.epoch, [changes]), []);
    }
    const [derived, listed] = await Promise.all(pair.map((id) => payoutRows(sql, id)));
    assertEquals(derived, listed, margin);
    const balances = await sql`
      SELECT available, pending, reserved FROM book.balance WHERE merchant_id = ANY (${pair}::text[])`;
    assertEquals({ ...balances[0] }, { ...balances[1] });
  }
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("a payout that changes in the batch that opens it is written as it ends", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const store = createJournalStore(sql);
  const settings = await store.readSettings();
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "100");
  const state = (await store.readAccounts([merchantId])).get(merchantId);
  if (state === undefined) throw new Error("no account");
  const unit = unitOf(state);
  const [kept, refunded] = [reserveCommand(), reserveCommand({ referenceId: newId("evt") })];
  const messages = [kept, refunded, refundCommand(refunded.withdrawalId)];
  const decided = decideMerchant(
    merchantId,
    unit,
    settings,
    messages.map((message) => new QueuedCommand(message, Infinity, () => {})),
  );
  assertEquals(decided.messages.map(({ outcome }) => outcome.kind), ["done", "done", "done"]);
  const changes = unit.changes();
  assertEquals(changes.openings.map(({ id }) => id), [kept.withdrawalId]);
  assertEquals(await store.writeBatch(v7(), settings.epoch, [changes]), []);
  const rows = await sql`
    SELECT w.id, w.status, t.status AS line, o.status AS payout FROM book.withdrawal w
    JOIN book.transaction t ON t.payment_id = w.id JOIN book.outgoing o ON o.id = w.outgoing_id
    ORDER BY w.seq`;
  assertEquals(rows.map((row) => ({ ...row })), [
    { id: kept.withdrawalId, status: "PENDING", line: "PENDING", payout: "queued" },
    { id: refunded.withdrawalId, status: "FAILED", line: "FAILED", payout: "void" },
  ]);
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("a payout that is there already is not opened again, and nothing of it is taken", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const store = createJournalStore(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "100");
  const state = (await store.readAccounts([merchantId])).get(merchantId);
  if (state === undefined) throw new Error("no account");
  const unit = unitOf(state);
  const command = reserveCommand();
  const settings = await store.readSettings();
  const take = () => {
    const result = reserve(unit, command, settings);
    if (result.kind !== "decided") throw new Error(`not decided: ${result.kind}`);
    unit.take(result.decision);
  };
  take();
  const before = unit.state;
  assertThrows(take, Error, "it is there already");
  assertEquals(unit.state, before);
  assertEquals(unit.changes().openings.length, 1);
  await journal.stop(1_000);
});
