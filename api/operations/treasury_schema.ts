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
} from "../http/formats.ts";
import { SWEEPS_EXAMPLE, sweepsSchema } from "./sweeps.ts";
import { COST_SUM_EXAMPLE, costSum, transferAsset, transferKind } from "./treasury_costs.ts";

const transfer = z.object({
  id: z.string(),
  merchantId: z.string(),
  kind: transferKind,
  paymentId: z.string().nullable(),
  currency: transferAsset,
  amount: decimal,
  destination: address,
  reason: z.string().nullable().meta({ description: "What it waits for" }),
  attempts: z.int().min(0),
  txid: txHash.nullable(),
  expiresAt: timestamp.nullable(),
  createdAt: timestamp,
}).meta({ id: "WaitingTransfer" });

const waitingGroup = z.object({
  kind: transferKind,
  currency: transferAsset,
  status: z.enum(["queued", "signed"]),
  reason: z.string().nullable().meta({ description: "Null: for its turn, or for its block" }),
  count: z.int().min(1),
  amount: decimal,
  oldestAt: timestamp.meta({ description: "Since when the oldest of them exists" }),
}).meta({ id: "WaitingTransfers" });

const stuck = z.object({
  count: z.int().min(0),
  oldestAt: timestamp.nullable(),
});

/** Answer of the treasury. */
export const treasurySchema = z.object({
  networks: z.array(
    z.object({
      network: shownNetwork,
      hotWallet: address,
      payoutsOpen: z.boolean().meta({ description: "Whether payouts can be signed" }),
      low: z.array(z.string()).meta({
        description: "What the hot wallet has too little of",
        examples: [["USDT: 90 of at least 1000"]],
      }),
      lowBelow: z.record(z.string(), decimal).nullable().meta({
        description: "By asset, where that begins; `native` is the network's own coin",
      }),
      coldAddress: address.nullable(),
      secondNodes: z.object({ above: decimal, nodes: z.array(z.string()) }).nullable().meta({
        description: "Who has to agree before a payout above an amount counts as expired; null: " +
          "the service's own scan decides alone",
      }),
      unproven: z.int().min(0).meta({ description: "Expired payouts they have not agreed on" }),
      oldestQueuedSeconds: z.int().min(0).nullable().meta({
        description: "Age of the oldest transfer without a signature; null: none waits",
      }),
      overCap: stuck.meta({
        description: "Payouts above the signer's cap per transaction: they wait for a person",
      }),
      setAside: stuck.meta({
        description: "Payouts that something about themselves keeps from being signed",
      }),
      tokens: z.array(z.string()).meta({
        description: "What issuers have switched in their tokens; payouts of a paused one wait",
        examples: [["USDT: its issuer has paused all transfers"]],
      }),
      native: decimal.nullable().meta({ description: "The network's own coin; null: node silent" }),
      nativeFree: signedDecimal.nullable().meta({
        description: "What of it is promised to nobody, and no transaction under way may take",
      }),
      balances: z.array(z.object({
        currency: shownCurrency,
        balance: decimal.nullable().meta({ description: "In solid blocks; null: node silent" }),
        queued: decimal.meta({ description: "Promised and not signed" }),
        inFlight: decimal.meta({ description: "Signed and not final" }),
        liquidity: signedDecimal.nullable().meta({ description: "What new payouts can count on" }),
        ceiling: decimal.nullable().meta({
          description: "Above so much the surplus goes to the cold address; null: it stays",
        }),
        target: decimal.nullable().meta({ description: "What is left then" }),
      })),
      readUntil: z.object({ height: z.int().min(0), time: timestamp }).nullable(),
      waiting: z.array(waitingGroup).meta({ description: "All that waits, by what it waits for" }),
      costs: z.array(costSum).meta({ description: "What transactions have cost, all of them" }),
      costsOf30Days: z.array(costSum).meta({ description: "The same in the last 30 days" }),
      queued: z.array(transfer),
      inFlight: z.array(transfer),
      sweeps: sweepsSchema,
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

export const TREASURY_EXAMPLE = {
  networks: [{
    network: "TRX",
    hotWallet: EXAMPLE.address,
    payoutsOpen: true,
    low: [],
    lowBelow: { native: "200", USDT: "1000", USDC: "0" },
    coldAddress: null,
    secondNodes: { above: "5000", nodes: ["tron.example"] },
    unproven: 0,
    oldestQueuedSeconds: null,
    overCap: { count: 0, oldestAt: null },
    setAside: { count: 0, oldestAt: null },
    tokens: [],
    native: "100000",
    nativeFree: "99985",
    balances: [{
      currency: "USDT",
      balance: "1000000",
      queued: "0",
      inFlight: "10",
      liquidity: "999990",
      ceiling: null,
      target: null,
    }],
    readUntil: { height: 1_200, time: EXAMPLE.time },
    waiting: [{
      kind: "payout",
      currency: "USDT",
      status: "signed",
      reason: null,
      count: 1,
      amount: "10",
      oldestAt: EXAMPLE.time,
    }],
    costs: [COST_SUM_EXAMPLE],
    costsOf30Days: [COST_SUM_EXAMPLE],
    queued: [],
    inFlight: [WAITING],
    sweeps: SWEEPS_EXAMPLE,
  }],
};
