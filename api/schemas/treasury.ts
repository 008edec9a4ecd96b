/**
 * The treasury as administrators see it.
 *
 * @module
 */

import { z } from "zod";
import {
  address,
  decimal,
  EXAMPLE,
  exampleId,
  shownCurrency,
  shownNetwork,
  signedDecimal,
  timestamp,
  txHash,
} from "./formats.ts";

const transfer = z.object({
  id: z.string(),
  merchantId: z.string(),
  kind: z.enum(["payout", "settlement", "sweep", "gas", "delegation", "cold"]),
  paymentId: z.string().nullable(),
  currency: shownCurrency,
  amount: decimal,
  destination: address,
  reason: z.string().nullable().meta({ description: "What it waits for" }),
  attempts: z.int().min(0),
  txid: txHash.nullable(),
  expiresAt: timestamp.nullable(),
  createdAt: timestamp,
}).meta({ id: "WaitingTransfer" });

/** Answer of the treasury. */
export const treasurySchema = z.object({
  networks: z.array(
    z.object({
      network: shownNetwork,
      hotWallet: address,
      payoutsOpen: z.boolean().meta({ description: "Whether payouts can be signed" }),
      native: decimal.nullable().meta({ description: "The network's own coin; null: node silent" }),
      balances: z.array(z.object({
        currency: shownCurrency,
        balance: decimal.nullable().meta({ description: "In solid blocks; null: node silent" }),
        queued: decimal.meta({ description: "Promised and not signed" }),
        inFlight: decimal.meta({ description: "Signed and not final" }),
        liquidity: signedDecimal.nullable().meta({ description: "What new payouts can count on" }),
      })),
      readUntil: z.object({ height: z.int().min(0), time: timestamp }).nullable(),
      queued: z.array(transfer),
      inFlight: z.array(transfer),
    }).meta({ id: "TreasuryOfNetwork" }),
  ),
});

const WAITING = {
  id: exampleId("out"),
  merchantId: exampleId("mer"),
  kind: "payout",
  paymentId: exampleId("wd"),
  currency: "USDT",
  amount: "10",
  destination: EXAMPLE.address,
  reason: null,
  attempts: 1,
  txid: EXAMPLE.txHash,
  expiresAt: EXAMPLE.later,
  createdAt: EXAMPLE.time,
};

/** What the reference shows for the treasury. */
export const TREASURY_EXAMPLE = {
  networks: [{
    network: "TRX",
    hotWallet: EXAMPLE.address,
    payoutsOpen: true,
    native: "100000",
    balances: [{
      currency: "USDT",
      balance: "1000000",
      queued: "0",
      inFlight: "10",
      liquidity: "999990",
    }],
    readUntil: { height: 1_200, time: EXAMPLE.time },
    queued: [],
    inFlight: [WAITING],
  }],
};
