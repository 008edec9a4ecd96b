/**
 * What the chain took for our transactions, next to what was charged for them.
 *
 * @module
 */

import { z } from "zod";
import { type Amount, formatAmount, subtract } from "../../ledger/money/amount.ts";
import { worthOf } from "../../ledger/money/fees.ts";
import { type Network, type OutgoingAsset, tokenDecimals } from "../../ledger/money/pair.ts";
import { type CostLine, listCosts } from "../../ledger/treasury/list_costs.ts";
import type { CostSum } from "../../ledger/treasury/sum_costs.ts";
import { ok } from "../http/answer.ts";
import { limit, network } from "../http/fields.ts";
import { staffRoute } from "../http/route.ts";
import { TREASURY_COSTS_EXAMPLE, treasuryCosts } from "./treasury_costs_schema.ts";

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

/** What the coin itself costs is counted in a stablecoin. */
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
