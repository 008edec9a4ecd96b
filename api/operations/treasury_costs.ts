/**
 * Costs of payouts and sweeps, by day.
 *
 * @module
 */

import { z } from "zod";
import { type Amount, formatAmount, subtract } from "../../ledger/money/amount.ts";
import { worthOf } from "../../ledger/money/fees.ts";
import {
  CURRENCIES,
  type Network,
  type OutgoingAsset,
  tokenDecimals,
} from "../../ledger/money/pair.ts";
import { type CostLine, type CostSum, listCosts } from "../../ledger/treasury/costs.ts";
import { ok } from "../http/answer.ts";
import { limit, network } from "../http/fields.ts";
import {
  decimal,
  EXAMPLE,
  exampleId,
  shownNetwork,
  signedDecimal,
  timestamp,
  txHash,
} from "../http/formats.ts";
import { staffRoute } from "../http/route.ts";

/** Kinds of transfers out of the service's wallets. */
export const transferKind = z.enum([
  "payout",
  "settlement",
  "sweep",
  "gas",
  "delegation",
  "reclaim",
  "cold",
]);

/** The coin of a transfer; `native` is the network's own coin. */
export const transferAsset = z.enum([...CURRENCIES, "native"]);

/** The costs of one kind of transfers. */
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
const treasuryCosts = z.object({
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

const TREASURY_COSTS_EXAMPLE = {
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

/** `GET /api/admin/treasury/costs`. */
export const getTreasuryCosts = staffRoute({
  method: "GET",
  path: "/api/admin/treasury/costs",
  summary: "What single transactions cost and what was charged for them, newest first",
  description:
    "`coin` is what the chain took, `cost` the same in the currency at the rate of the time it " +
    "became final. A payout that failed was refunded, so nothing was charged for it. Give " +
    "`next` as `before` to read on.",
  access: { scope: "admin", anyOf: ["admin:read", "admin:write"] },
  rateCategory: "none",
  query: z.object({
    network: network.optional(),
    before: z.string().min(1).max(128).optional(),
    limit: limit.default(20),
  }),
  responses: {
    200: {
      description: "Transactions whose cost is counted, all kinds",
      schema: treasuryCosts,
      example: TREASURY_COSTS_EXAMPLE,
    },
  },
  handler: async ({ query }, { sql, chains }) => {
    const networks = query.network === undefined ? [...chains.keys()] : [query.network];
    const lines = await listCosts(sql, networks, query.before ?? null, query.limit);
    const last = lines.length === query.limit ? lines.at(-1) : undefined;
    return ok({ costs: lines.map(lineView), next: last?.outgoingId ?? null });
  },
});

function lineView(line: CostLine) {
  const { coin, rate, charged, countedAt, amount, txid, ...rest } = line;
  const decimals = decimalsOf(line.currency, line.network);
  const cost = rate === null ? null : worthOf(coin, rate, decimals);
  return {
    ...rest,
    amount: formatAmount(amount),
    txHash: txid,
    charged: shown(charged),
    coin: formatAmount(coin),
    coinRate: rate,
    cost: shown(cost),
    result: cost === null || charged === null ? null : formatAmount(subtract(charged, cost)),
    countedAt: new Date(countedAt).toISOString(),
  };
}

/** Costs in the coin are also counted in a stablecoin. */
function decimalsOf(asset: OutgoingAsset, on: Network): number {
  return tokenDecimals(asset === "native" ? "USDT" : asset, on);
}

function shown(amount: Amount | null): string | null {
  return amount === null ? null : formatAmount(amount);
}

/** A sum of costs as the treasury shows it. */
export function costSumView({ charged, coin, cost, ...sum }: CostSum) {
  return {
    ...sum,
    charged: formatAmount(charged),
    coin: formatAmount(coin),
    cost: formatAmount(cost),
  };
}
