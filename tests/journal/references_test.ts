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
