/** Payouts go first: what deposit addresses, which pay for their own sweeps, need of nodes costs them nothing. */

import { assertEquals } from "@std/assert";
import { treasuryActors } from "../../actors/treasury/treasury_actor.ts";
import type { LaneAsk } from "../../chains/lane.ts";
import { addMerchant, amount } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { nodeOf } from "../support/node_of.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import {
  addNonce,
  addWallet,
  calmLane,
  numberedChain,
  numberedSigner,
} from "./support/lane_rig.ts";

const test = testNeeding(DATABASE);

const FEE = { fee: amount("1"), limit: amount("1"), terms: { price: 2 } };
/** Terms by which what is unseen for long is replaced. */
const RISING: LaneAsk = {
  isPassedOver: () => false,
  replacing: () => FEE,
  cancelling: () => FEE,
  within: () => RISING,
};

test("payouts, those that are replaced and those that are new, are sent before a node is asked for a deposit address", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql);
  const merchantId = await addMerchant(sql);
  const stuck = await addNonce(sql, { payer: "hot", nonce: 0, merchantId });
  const sweep = await addNonce(sql, { payer: "7", nonce: 0 });
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
    VALUES ('out_new', ${merchantId}, 'payout', 'wd_new', 'ETH', 'USDT', 1, 'somewhere', 'queued', now(), now())`;
  const done: string[] = [];
  const lane = calmLane({
    asks: () => Promise.resolve(RISING),
    next: (address) => {
      if (address === "address-7") done.push("its nonce is asked for");
      return Promise.resolve(0);
    },
  });
  const chain = numberedChain(lane, {
    estimateFee: () => Promise.resolve(FEE),
    balanceOf: (address) => {
      if (address === "address-7") done.push("its coin is asked for");
      return Promise.resolve(amount("100"));
    },
    broadcast: ({ txid }) => {
      done.push(txid.replace(/-\d+$/, ""));
      return Promise.resolve({ category: "accepted", retryable: true });
    },
  });
  const actor = await treasuryActors(nodeOf(sql, chain, { signer: numberedSigner() }))
    .activate("ETH");
  await actor.receive({ type: "poll" });
  assertEquals(done, [
    `pay-${stuck}`,
    "pay-out_new",
    "its nonce is asked for",
    "its coin is asked for",
    `pay-${sweep}`,
  ]);
});

test("payouts that fill the hot wallet's lane leave one place to the service's own transfers", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql);
  const merchantId = await addMerchant(sql);
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
    SELECT 'out_' || i, ${merchantId}, 'payout', 'wd_' || i, 'ETH', 'USDT', 1, 'somewhere', 'queued', now(), now()
    FROM generate_series(10, 39) i`;
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, network, currency, amount, destination, status, created_at, updated_at)
    SELECT 'out_gas' || i, 'mer_platform', 'gas', 'ETH', 'native', 1, 'address-' || i, 'queued', now(), now()
    FROM generate_series(1, 3) i`;
  const sent: string[] = [];
  const chain = numberedChain(calmLane(), {
    estimateFee: () => Promise.resolve(FEE),
    balanceOf: () => Promise.resolve(amount("1000")),
    broadcast: ({ txid }) => {
      sent.push(txid.replace(/-\d+$/, ""));
      return Promise.resolve({ category: "accepted", retryable: true });
    },
  });
  const actor = await treasuryActors(nodeOf(sql, chain, { signer: numberedSigner() }))
    .activate("ETH");
  // the lane has twelve places
  const payouts = Array.from({ length: 11 }, (_, i) => `pay-out_${10 + i}`);
  for (let poll = 0; poll < 3; poll++) {
    await actor.receive({ type: "poll" });
    assertEquals(sent.filter((one, at) => sent.indexOf(one) === at), [...payouts, "pay-out_gas1"]);
  }
});
