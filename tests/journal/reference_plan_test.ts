import { assertEquals, assertLess } from "@std/assert";
import { ListQuery } from "../../ledger/lists/list_query.ts";
import { addMerchant, fund, openJournal, refundCommand, reserveCommand } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** A step of a plan, as EXPLAIN shows it. */
interface Step {
  readonly "Index Name"?: string;
  readonly "Relation Name"?: string;
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly Plans?: readonly Step[];
}

function stepsOf(step: Step): readonly Step[] {
  return [step, ...(step.Plans ?? []).flatMap(stepsOf)];
}

test("a withdrawal is found by its reference through an index, whether it failed or not", async () => {
  await using database = await testDatabase();
  const sql = database.connect({ max: 2 });
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "100000");
  await Promise.all(Array.from({ length: 2_000 }, async (_, i) => {
    const command = reserveCommand({ referenceId: `order-${i}` });
    await journal.ask(merchantId, command, 60_000);
    if (i % 4 === 0) return;
    const refund = refundCommand(command.withdrawalId, { reason: "Payout initiation failed" });
    assertEquals((await journal.ask(merchantId, refund, 60_000)).kind, "done");
  }));
  await journal.stop(1_000);
  await sql`VACUUM ANALYZE book.withdrawal`;
  for (const [referenceId, found] of [["order-1", 1], ["order-4", 1], ["order-x", 0]] as const) {
    const { searched } = new ListQuery(sql, "withdrawal", merchantId, { referenceId });
    assertEquals((await sql`SELECT r.id FROM ${searched}`).length, found, referenceId);
    const [row] = await sql`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT r.* FROM ${searched}`;
    const plan: Step = row?.["QUERY PLAN"][0].Plan;
    const indexes = stepsOf(plan).flatMap((step) => step["Index Name"] ?? []);
    assertEquals(indexes.toSorted(), ["withdrawal_reference", "withdrawal_reference_refused"]);
    // by status it would be a page for every few of the 1,500 that failed
    assertLess(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"], 20, referenceId);
  }
});
