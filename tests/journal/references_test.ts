import { assert, assertEquals } from "@std/assert";
import {
  addMerchant,
  amount,
  booksFaults,
  fund,
  openJournal,
  refundCommand,
  reserveCommand,
} from "../support/books.ts";
import { NOT_INITIATED } from "../../actors/merchant/messages.ts";
import { createJournalStore } from "../../ledger/journal/store.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("a repeated reference is told as such also when the money is gone and the node has restarted", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const before = openJournal(sql);
  const [merchantId, poor] = [await addMerchant(sql), await addMerchant(sql)];
  await fund(sql, before, merchantId, "15");
  const first = reserveCommand({ referenceId: "order-1" });
  assertEquals((await before.ask(merchantId, first, 60_000)).kind, "done");
  await before.stop(1_000);

  const journal = openJournal(sql);
  const again = await journal.ask(merchantId, reserveCommand({ referenceId: "order-1" }), 60_000);
  assertEquals(again, {
    kind: "refused",
    refusal: { code: "reference_taken", withdrawalId: first.withdrawalId },
  });
  // what was learnt does not leak to other references, other merchants, or the treasury's word
  const other = await journal.ask(merchantId, reserveCommand({ referenceId: "order-2" }), 60_000);
  assert(other.kind === "refused" && other.refusal.code === "insufficient_balance");
  const elsewhere = await journal.ask(poor, reserveCommand({ referenceId: "order-1" }), 60_000);
  assert(elsewhere.kind === "refused" && elsewhere.refusal.code === "no_balance_row");
  await journal.stop(1_000);
});

test("a reference that an earlier message of the batch has freed is not told as taken", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const before = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, before, merchantId, "15");
  const first = reserveCommand({ referenceId: "order-1" });
  assertEquals((await before.ask(merchantId, first, 60_000)).kind, "done");
  await before.stop(1_000);
  const journal = openJournal(sql);
  const [released, again] = await Promise.all([
    journal.ask(merchantId, refundCommand(first.withdrawalId), 60_000),
    journal.ask(
      merchantId,
      reserveCommand({ referenceId: "order-1", amount: amount("100") }),
      5_000,
    ),
  ]);
  assertEquals(released.kind, "done");
  assert(again.kind === "refused" && again.refusal.code === "insufficient_balance");
  await journal.stop(1_000);
});

for (const [money, text] of [["enough", "10"], ["too little", "95"]] as const) {
  test(`a reference that a later message of the batch frees is taken for an earlier one, with ${money} money`, async () => {
    await using database = await testDatabase();
    const { sql } = database;
    const before = openJournal(sql);
    const merchantId = await addMerchant(sql);
    await fund(sql, before, merchantId, "100");
    const first = reserveCommand({ referenceId: "order-1" });
    assertEquals((await before.ask(merchantId, first, 60_000)).kind, "done");
    await before.stop(1_000);
    const journal = openJournal(sql);
    const [again, released] = await Promise.all([
      journal.ask(
        merchantId,
        reserveCommand({ referenceId: "order-1", amount: amount(text) }),
        5_000,
      ),
      journal.ask(merchantId, refundCommand(first.withdrawalId), 60_000),
    ]);
    assertEquals(again, {
      kind: "refused",
      refusal: { code: "reference_taken", withdrawalId: first.withdrawalId },
    });
    assertEquals(released.kind, "done");
    assertEquals(await booksFaults(sql), []);
    await journal.stop(1_000);
  });
}

test("a taken reference misses its merchant alone, whose next payouts are decided with what was read", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const store = createJournalStore(sql);
  const seen: string[] = [];
  const journal = openJournal(sql, {
    store: {
      ...store,
      async readRecords(needs) {
        for (const { merchantId } of needs.references) seen.push(`read ${merchantId}`);
        return await store.readRecords(needs);
      },
      async writeBatch(...args) {
        const misses = await store.writeBatch(...args);
        for (const { merchantId, reason } of misses) seen.push(`${reason} ${merchantId}`);
        return misses;
      },
    },
  });
  const [merchantId, other] = [await addMerchant(sql), await addMerchant(sql)];
  for (const id of [merchantId, other]) await fund(sql, journal, id, "1000");
  const first = reserveCommand({ referenceId: "order-1" });
  const ask = async (id: string, referenceId: string) =>
    await journal.ask(id, reserveCommand({ referenceId }), 60_000);
  assertEquals((await journal.ask(merchantId, first, 60_000)).kind, "done");
  assertEquals(seen, []);

  const [again, another, elsewhere] = await Promise.all([
    ask(merchantId, "order-1"),
    ask(merchantId, "order-2"),
    ask(other, "order-1"),
  ]);
  const taken = {
    kind: "refused",
    refusal: { code: "reference_taken", withdrawalId: first.withdrawalId },
  } as const;
  assertEquals(again, taken);
  assertEquals([another.kind, elsewhere.kind], ["done", "done"]);
  const read = `read ${merchantId}`;
  assertEquals(seen.splice(0), [`reference ${merchantId}`, read, read]);

  assertEquals(await ask(merchantId, "order-1"), taken);
  assertEquals(seen, [read]);
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("a payout that waits for approval, or is given up at once, is refused where its reference is taken", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "1000");
  const first = reserveCommand({ referenceId: "order-1" });
  assertEquals((await journal.ask(merchantId, first, 60_000)).kind, "done");
  const { network, destination: address } = first;
  const { chargeIds, eventIds } = refundCommand(first.withdrawalId);
  const giveUp = { chargeIds, eventIds, reason: NOT_INITIATED } as const;
  for (const fields of [{ pinnedTo: { network, address } }, { giveUp }]) {
    const command = reserveCommand({ referenceId: "order-1", ...fields });
    assertEquals(await journal.ask(merchantId, command, 60_000), {
      kind: "refused",
      refusal: { code: "reference_taken", withdrawalId: first.withdrawalId },
    });
  }
  await journal.stop(1_000);
});
