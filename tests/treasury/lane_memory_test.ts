import { assertEquals, assertRejects } from "@std/assert";
import { treasuryActors } from "../../actors/treasury/treasury_actor.ts";
import { ChainUnavailable } from "../../chains/chain.ts";
import { addMerchant } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { nodeOf } from "../support/node_of.ts";
import { PAPER_BLOCK } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import {
  addNonce,
  addWallet,
  calmLane,
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
