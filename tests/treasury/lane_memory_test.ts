import { assertEquals, assertRejects } from "@std/assert";
import { treasuryActors } from "../../actors/treasury/treasury_actor.ts";
import { ChainUnavailable } from "../../chains/chain.ts";
import type { LaneAsk } from "../../chains/lane.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { addMerchant, amount } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { nodeOf } from "../support/node_of.ts";
import { PAPER_BLOCK } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import {
  addNonce,
  addWallet,
  calmLane,
  lanesOn,
  numberedChain,
  numberedSigner,
  scanTo,
} from "./support/lane_rig.ts";

const test = testNeeding(DATABASE);

test("a poll that fails forgets neither what was sent of a lane nor what was found out of it", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql);
  const merchantId = await addMerchant(sql);
  const payout = await addNonce(sql, { payer: "hot", nonce: 0, merchantId, ageS: 1 });
  const sweep = await addNonce(sql, { payer: "5", nonce: 3 });
  const sent: string[] = [];
  const lane = calmLane({
    next: (address) => Promise.resolve(address === "address-5" ? 4 : 0),
    asks: () => Promise.reject(new ChainUnavailable("timeout", "Cannot read fees: eth")),
  });
  const chain = numberedChain(lane, {
    broadcast: ({ txid }) => {
      sent.push(txid);
      return Promise.resolve({ category: "accepted", retryable: true });
    },
  });
  const kind = treasuryActors(nodeOf(sql, chain, { signer: numberedSigner() }));
  const poll = async () => {
    // an actor that has thrown is made anew
    const actor = await kind.activate("ETH");
    await assertRejects(() => actor.receive({ type: "poll" }), ChainUnavailable);
  };
  await poll();
  await scanTo(sql, PAPER_BLOCK.height + 1);
  await poll();
  assertEquals(sent.toSorted(), [`a${sweep}`, `a${payout}`].toSorted());
  const [row] = await sql`SELECT reason FROM book.outgoing WHERE id = ${sweep}`;
  assertEquals(row, {
    reason: "nonce 3 of address-5 was used by a transaction that the scan has not met",
  });
});

const FEE = { fee: amount("1"), limit: amount("1"), terms: { price: 2 } };
/** Terms by which what is unseen for long is replaced. */
const RISING: LaneAsk = {
  isPassedOver: () => false,
  replacing: () => FEE,
  cancelling: () => FEE,
  within: () => RISING,
};

/** The lane of a payout that was signed so long ago by the database's clock, and a clock that a test moves. */
async function openAged(sql: Sql, ageS: number) {
  await addWallet(sql);
  const merchantId = await addMerchant(sql);
  await addNonce(sql, { payer: "hot", nonce: 0, merchantId, ageS });
  const clock = { now: 1_000_000 };
  const chain = numberedChain(calmLane({ asks: () => Promise.resolve(RISING) }));
  const { poll } = lanesOn(sql, chain, {
    signer: numberedSigner(),
    monotonic: () => clock.now,
  });
  return {
    /** Polls after a while. @returns transactions that were signed by then */
    async pollAfter(ms: number) {
      clock.now += ms;
      await poll();
      const [row] = await sql<{ count: number }[]>`SELECT count(*)::int AS count FROM book.attempt`;
      return row?.count;
    },
  };
}

test("a database's clock that was ahead makes no transaction wait for longer than its time to be replaced", async () => {
  await using database = await testDatabase();
  const lane = await openAged(database.sql, -3_600);
  assertEquals(await lane.pollAfter(0), 1);
  assertEquals(await lane.pollAfter(47_999), 1);
  assertEquals(await lane.pollAfter(1), 2);
});

test("a database's clock that jumps ahead has nothing replaced before its time", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openAged(sql, 1);
  assertEquals(await lane.pollAfter(0), 1);
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`UPDATE book.attempt SET created_at = created_at - interval '1 hour'`;
    await tx`UPDATE book.lane_nonce SET promised_at = promised_at - interval '1 hour'`;
  });
  assertEquals(await lane.pollAfter(4_000), 1);
  assertEquals(await lane.pollAfter(44_000), 2);
});
