import { assertEquals } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import { Actors } from "../../actors/runtime/actor.ts";
import { treasuryActors } from "../../actors/treasury/treasury_actor.ts";
import { ChainUnavailable } from "../../chains/chain.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { PLATFORM_ACCOUNT } from "../../ledger/own_accounts.ts";
import { amount } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { nodeOf } from "../support/node_of.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** Queues payouts of a currency, or sweeps of it by the house. */
async function queue(sql: Sql, currency: string, count: number, of: "payout" | "sweep") {
  const merchantId = of === "sweep" ? PLATFORM_ACCOUNT : "mer_1";
  for (let n = 0; n < count; n++) {
    const id = newId("out");
    const paymentId = of === "sweep" ? null : `wd_${id}`;
    const wallet = of === "sweep" ? String(n) : "hot";
    await sql`
      INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, wallet, destination, status, created_at, updated_at)
      VALUES (${id}, ${merchantId}, ${of}, ${paymentId}, 'TRX', ${currency}, 10, ${wallet}, 'x', 'queued', now(), now())`;
  }
}

test("a currency that no node answers for keeps neither payouts of others nor the house from going on", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  // more than several batches take: those of the other currency are behind all of them
  await queue(sql, "USDC", 350, "payout");
  await queue(sql, "USDT", 10, "payout");
  await queue(sql, "USDC", 60, "sweep");
  await queue(sql, "USDT", 2, "sweep");
  let asked = 0;
  const chain = paperChain("TRX", {
    estimateFee: ([movement]) => {
      if (movement?.asset !== "USDC") {
        return Promise.resolve({ fee: amount("1"), limit: amount("2") });
      }
      asked++;
      return Promise.reject(new ChainUnavailable("server-error", "Cannot simulate: OTHER_ERROR"));
    },
  });
  const actors = new Actors(treasuryActors(nodeOf(sql, chain)));
  actors.tell("TRX", { type: "poll" });
  // one look
  await actors.stop(30_000);
  const signed = await sql<{ kind: string; currency: string; n: number }[]>`
    SELECT kind, currency, count(*)::int AS n FROM book.outgoing WHERE status = 'signed'
    GROUP BY kind, currency ORDER BY kind`;
  assertEquals(signed.map(({ kind, currency, n }) => [kind, currency, n]), [
    ["payout", "USDT", 10],
    ["sweep", "USDT", 2],
  ]);
  assertEquals(asked <= 40, true, `${asked} were asked for`);
});
