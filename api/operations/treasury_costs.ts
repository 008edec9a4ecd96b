/**
 * Costs of payouts and sweeps, by day.
 *
 * @module
 */

import { z } from "zod";
import { subtract } from "../../ledger/money/amount.ts";
import { worthOf } from "../../ledger/money/fees.ts";
import {
  CURRENCIES,
  type Network,
  type OutgoingAsset,
  tokenDecimals,
} from "../../ledger/money/pair.ts";
import { TRANSFER_KINDS } from "../../ledger/money/transfer_kinds.ts";
import { type CostLine, listCosts } from "../../ledger/treasury/costs.ts";
import { ok } from "../http/answer.ts";
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { adminRoute, READERS } from "../http/route.ts";
import { shown } from "../http/shown.ts";

/** Kinds of transfers out of the service's wallets. */
export const transferKind = eg(z.enum(TRANSFER_KINDS), "payout");

/** The coin of a transfer; `native` is the network's own coin. */
export const transferAsset = eg(z.enum([...CURRENCIES, "native"]), "USDT");

/** The costs of one kind of transfers. */
export const costSum = z.object({
  kind: transferKind,
  currency: transferAsset,
  transfers: eg(z.int().min(0), 1),
  failed: eg(
    z.int().min(0).meta({ description: "Of them, those that were included and failed" }),
    0,
  ),
  charged: eg(
    f.decimal.meta({ description: "Network fees that merchants paid, refunds left out" }),
    "2.24",
  ),
  coin: eg(f.decimal.meta({ description: "Cost on the chain, in its own coin" }), "6.7785"),
  cost: eg(
    f.decimal.meta({ description: "The same in the currency, at the rates of the time" }),
    "2.03355",
  ),
  unpriced: eg(
    z.int().min(0).meta({ description: "Transfers that `cost` lacks for want of a rate" }),
    0,
  ),
}).meta({ id: "NetworkCost" });

const transferCost = z.object({
  outgoingId: eg(z.string(), f.exampleId("out")),
  attempt: eg(z.int().min(1), 1),
  merchantId: eg(z.string(), f.exampleId("mer")),
  paymentId: eg(z.string().nullable(), f.exampleId("wd")),
  kind: transferKind,
  network: f.network,
  currency: transferAsset,
  amount: eg(f.decimal, "10"),
  txHash: f.txHash,
  outcome: eg(z.enum(["paid", "failed", "unexpected"]), "paid"),
  charged: eg(
    f.decimal.nullable().meta({ description: "Null: no merchant is charged for this kind" }),
    "2.24",
  ),
  coin: eg(f.decimal.meta({ description: "Cost on the chain, in its own coin" }), "6.7785"),
  coinRate: eg(
    f.decimal.nullable().meta({ description: "Units of the currency per coin then" }),
    "0.3",
  ),
  cost: eg(
    f.decimal.nullable().meta({ description: "In the currency; null: no rate was known" }),
    "2.03355",
  ),
  result: eg(
    f.signedDecimal.nullable().meta({ description: "`charged` less `cost`" }),
    "0.20645",
  ),
  countedAt: f.later,
}).meta({ id: "TransferCost" });

const treasuryCosts = z.object({
  costs: z.array(transferCost),
  next: eg(z.string().nullable().meta({ description: "Null at the end" }), null),
});

export const getTreasuryCosts = adminRoute({
  at: "GET /api/admin/treasury/costs",
  summary: "Cost of single transactions and the fees charged for them, newest first",
  description:
    "`coin` is what the chain took, `cost` the same in the currency at the rate of the time it " +
    "became final. A payout that failed was refunded, so nothing was charged for it. Give " +
    "`next` as `before` to read on.",
  anyOf: READERS,
  query: z.object({
    network: f.network.optional(),
    before: z.string().min(1).max(128).optional(),
    limit: f.limit.default(20),
  }),
  responses: {
    200: {
      description: "Transactions whose cost is counted, all kinds",
      schema: treasuryCosts,
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
  const { coin, rate, charged } = line;
  const cost = rate === null ? null : worthOf(coin, rate, decimalsOf(line.currency, line.network));
  return shown(transferCost, {
    ...line,
    txHash: line.txid,
    coinRate: rate,
    cost,
    result: cost === null || charged === null ? null : subtract(charged, cost),
  });
}

/** Costs in the coin are also counted in a stablecoin. */
function decimalsOf(asset: OutgoingAsset, on: Network): number {
  return tokenDecimals(asset === "native" ? "USDT" : asset, on);
}
