import { assertEquals } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import { signQueued } from "../../actors/treasury/sign_queued.ts";
import { testDatabase } from "../support/database.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { nodeOf } from "../support/node_of.ts";

const test = testNeeding(DATABASE);

test("merchants hear at once that their settlements are on their way, and nobody else is woken", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  for (const [kind, merchant] of [["settlement", "mer_settles"], ["payout", "mer_pays"]] as const) {
    const id = newId("out");
    await sql`
      INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
      VALUES (${id}, ${merchant}, ${kind}, ${`wd_${id}`}, 'TRX', 'USDT', 5, ${id}, 'queued', now(), now())`;
  }
  const woken: string[] = [];
  const node = nodeOf(sql, paperChain("TRX"), {
    wakeMerchants: (merchantIds) => woken.push(...merchantIds),
  });
  const { transactions } = await signQueued(paperChain("TRX"), node);
  assertEquals(transactions.length, 2);
  assertEquals(woken, ["mer_settles"]);
});
