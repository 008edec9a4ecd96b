/**
 * Balances per (currency, network).
 *
 * @module
 */

import { z } from "zod";
import type { BalanceView } from "../../ledger/balances.ts";
import type { PairSettings } from "../../ledger/pairs.ts";
import { formatAmount, ZERO } from "../../ledger/money/amount.ts";
import { maxWithdrawable, networkFeeOf } from "../../ledger/money/fees.ts";
import { pairKey, tokenDecimals } from "../../ledger/money/pair.ts";
import { ok } from "../http/answer.ts";
import type { ApiContext } from "../http/context.ts";
import { currency, network } from "../http/fields.ts";
import { decimal, EXAMPLE, shownCurrency, shownNetwork, timestamp } from "../http/formats.ts";
import { keyedRoute } from "../http/route.ts";

const held = {
  currency: shownCurrency,
  network: shownNetwork,
  available: decimal,
  pending: decimal,
};

const lastUpdatedAt = timestamp.nullable().meta({ description: "Null where nothing ever moved" });

/** Answer for one pair. */
const balanceRow = z.object({ ...held, lastUpdatedAt }).meta({ id: "Balance" });

/** Answer for several pairs. */
const balanceList = z.object({
  balances: z.array(
    z.object({
      ...held,
      withdrawalEnabled: z.boolean(),
      networkFee: decimal.nullable().meta({
        description: "What a withdrawal costs on this network now; null when they are disabled",
      }),
      maxWithdrawable: decimal.meta({ description: "Available after the network fee" }),
      lastUpdatedAt,
    }).meta({ id: "BalanceOfPair" }),
  ),
}).meta({ id: "BalanceList" });

/** Answer of the endpoint. */
const balanceAnswer = z.union([balanceRow, balanceList]);

const BALANCE_EXAMPLE = {
  currency: "USDT",
  network: "TRX",
  available: "250.5",
  pending: "0",
  lastUpdatedAt: EXAMPLE.time,
};

const BALANCE_LIST_EXAMPLE = {
  balances: [{
    currency: "USDT",
    network: "TRX",
    available: "250.5",
    pending: "0",
    withdrawalEnabled: true,
    networkFee: "1",
    maxWithdrawable: "249.5",
    lastUpdatedAt: EXAMPLE.time,
  }],
};

/** `GET /api/balance`: one row with both parameters, otherwise a list. */
export const getBalance = keyedRoute({
  method: "GET",
  path: "/api/balance",
  summary: "Balances per currency and network",
  description:
    "With `currency` and `network` one balance, otherwise a list. Balances of different " +
    "networks are never added up: what came in on one network goes out on it.",
  access: { scope: "own", anyOf: ["read"] },
  rateCategory: "balance",
  query: z.object({ currency: currency.optional(), network: network.optional() }),
  responses: {
    200: {
      description: "One balance where both parameters are given, otherwise a list",
      schema: balanceAnswer,
      examples: { onePair: BALANCE_EXAMPLE, list: BALANCE_LIST_EXAMPLE },
    },
  },
  handler: async ({ merchantId, query }, context) => {
    if (query.currency !== undefined && query.network !== undefined) {
      const rows = await context.balances(merchantId);
      const row = rows?.get(pairKey(query.currency, query.network));
      return ok({
        currency: query.currency,
        network: query.network,
        available: formatAmount(row?.available ?? ZERO),
        pending: formatAmount(row?.pending ?? ZERO),
        lastUpdatedAt: updatedAt(row),
      });
    }
    const [rows, settings] = await Promise.all([context.balances(merchantId), context.settings()]);
    const balances = [];
    for (const [key, pair] of settings.pairs) {
      if (query.currency !== undefined && pair.currency !== query.currency) continue;
      if (query.network !== undefined && pair.network !== query.network) continue;
      const row = rows?.get(key);
      const isOpen = pair.depositsEnabled || pair.withdrawalsEnabled;
      if (row !== undefined || isOpen) {
        balances.push(balanceView(pair, row, context));
      }
    }
    return ok({ balances });
  },
});

function balanceView(
  pair: PairSettings,
  row: BalanceView | undefined,
  { chains, fees }: Pick<ApiContext, "chains" | "fees">,
) {
  const { currency, network } = pair;
  const available = row?.available ?? ZERO;
  const withdrawalEnabled = pair.withdrawalsEnabled && chains.has(network);
  const networkFee = networkFeeOf(pair, fees.dynamicFee(network, currency));
  return {
    currency,
    network,
    available: formatAmount(available),
    pending: formatAmount(row?.pending ?? ZERO),
    withdrawalEnabled,
    networkFee: withdrawalEnabled ? formatAmount(networkFee) : null,
    maxWithdrawable: formatAmount(
      withdrawalEnabled
        ? maxWithdrawable(available, networkFee, tokenDecimals(currency, network))
        : ZERO,
    ),
    lastUpdatedAt: updatedAt(row),
  };
}

function updatedAt(row: BalanceView | undefined): string | null {
  return row === undefined ? null : new Date(row.updatedAt).toISOString();
}
