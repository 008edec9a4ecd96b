/**
 * Costs of transactions as administrators see them.
 *
 * @module
 */

import { z } from "zod";
import { CURRENCIES } from "../../ledger/money/pair.ts";
import {
  decimal,
  EXAMPLE,
  exampleId,
  shownNetwork,
  signedDecimal,
  timestamp,
  txHash,
} from "../http/formats.ts";

/** Kinds of what leaves a wallet of ours. */
export const transferKind = z.enum([
  "payout",
  "settlement",
  "sweep",
  "gas",
  "delegation",
  "reclaim",
  "cold",
]);

/** What a transfer moves; `native` is the network's own coin. */
export const transferAsset = z.enum([...CURRENCIES, "native"]);

/** What one kind of transfers has cost. */
export const costSum = z.object({
  kind: transferKind,
  currency: transferAsset,
  transfers: z.int().min(0),
  failed: z.int().min(0).meta({ description: "Of them, those that were included and failed" }),
  charged: decimal.meta({ description: "Network fees that merchants paid, refunds left out" }),
  coin: decimal.meta({ description: "What the chain took, in its own coin" }),
  cost: decimal.meta({ description: "The same in the currency, at the rates of the time" }),
  unpriced: z.int().min(0).meta({ description: "Transfers that `cost` lacks for want of a rate" }),
}).meta({ id: "NetworkCost" });

/** What the reference shows for it. */
export const COST_SUM_EXAMPLE = {
  kind: "payout",
  currency: "USDT",
  transfers: 1,
  failed: 0,
  charged: "2.24",
  coin: "6.7785",
  cost: "2.03355",
  unpriced: 0,
};

/** Answer of the list of costs. */
export const treasuryCosts = z.object({
  costs: z.array(
    z.object({
      outgoingId: z.string(),
      attempt: z.int().min(1),
      merchantId: z.string(),
      paymentId: z.string().nullable(),
      kind: transferKind,
      network: shownNetwork,
      currency: transferAsset,
      amount: decimal,
      txHash,
      outcome: z.enum(["paid", "failed", "unexpected"]),
      charged: decimal.nullable().meta({ description: "Null: nobody is charged for this kind" }),
      coin: decimal.meta({ description: "What the chain took, in its own coin" }),
      coinRate: decimal.nullable().meta({ description: "Units of the currency per coin then" }),
      cost: decimal.nullable().meta({ description: "In the currency; null: no rate was known" }),
      result: signedDecimal.nullable().meta({ description: "`charged` less `cost`" }),
      countedAt: timestamp,
    }).meta({ id: "TransferCost" }),
  ),
  next: z.string().nullable().meta({ description: "Null at the end" }),
});

/** What the reference shows for it. */
export const TREASURY_COSTS_EXAMPLE = {
  costs: [{
    outgoingId: exampleId("out"),
    attempt: 1,
    merchantId: exampleId("mer"),
    paymentId: exampleId("wd"),
    kind: "payout",
    network: "TRX",
    currency: "USDT",
    amount: "10",
    txHash: EXAMPLE.txHash,
    outcome: "paid",
    charged: "2.24",
    coin: "6.7785",
    coinRate: "0.3",
    cost: "2.03355",
    result: "0.20645",
    countedAt: EXAMPLE.later,
  }],
  next: null,
};
