/**
 * Balances per (currency, network).
 *
 * @module
 */

import { z } from "zod";
import type { BalanceView } from "../../ledger/balances.ts";
import type { PairSettings } from "../../ledger/settings.ts";
import { ZERO } from "../../ledger/money/amount.ts";
import {
  commissionTerms,
  type FeeSettings,
  largestWithdrawal,
  maxWithdrawable,
  networkFeeOf,
} from "../../ledger/money/fees.ts";
import { pairKey, tokenDecimals } from "../../ledger/money/pair.ts";
import { ok } from "../http/answer.ts";
import type { ApiContext } from "../http/context.ts";
import { eg, exampleOf } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { ofPair } from "../http/list.ts";
import { route } from "../http/route.ts";
import { shown } from "../http/shown.ts";

const held = {
  currency: f.currency,
  network: f.network,
  available: eg(
    f.decimal.meta({ description: "Amount for payouts and their fees" }),
    "250.5",
  ),
  pending: eg(
    f.decimal.meta({
      description:
        "Deposits that are not available yet, before fees: seen and not final, top-ups until they " +
        "are swept, manual ones until they are confirmed. No payout is counted in it",
    }),
    "0",
  ),
};

const lastUpdatedAt = f.timestamp.nullable().meta({ description: "Null where nothing ever moved" });

const balance = z.object({ ...held, lastUpdatedAt }).meta({ id: "Balance" });

const balanceOfPair = z.object({
  ...held,
  withdrawalEnabled: eg(z.boolean(), true),
  networkFee: eg(
    f.decimal.nullable().meta({
      description: "Cost of a withdrawal on this network now; null when they are disabled",
    }),
    "1",
  ),
  baseFee: eg(
    f.decimal.nullable().meta({
      description: "Fixed part of a withdrawal's commission now; null when they are disabled",
    }),
    "1",
  ),
  markupRate: eg(
    f.fraction.nullable().meta({
      description:
        "Share of the amount that its commission takes besides; null when they are disabled",
    }),
    "0",
  ),
  minWithdrawal: eg(
    f.decimal.nullable().meta({
      description: "The smallest `amount` of a withdrawal; null when they are disabled",
    }),
    "1",
  ),
  maxWithdrawable: eg(
    f.decimal.meta({
      description: "Available after the network fee; the commission is not taken off",
    }),
    "249.5",
  ),
  largestWithdrawal: eg(
    f.decimal.meta({
      description:
        "The largest `amount` of a withdrawal that the balance pays with all its fees; " +
        "0 where that is below the pair's minimum",
    }),
    "248.5",
  ),
  lastUpdatedAt,
}).meta({ id: "BalanceOfPair" });

const balanceList = z.object({ balances: z.array(balanceOfPair) }).meta({ id: "BalanceList" });

export const getBalance = route({
  at: "GET /api/balance",
  summary: "Balances per currency and network",
  description:
    "With `currency` and `network` one balance, otherwise a list. Balances of different " +
    "networks are never added up: what came in on one network goes out on it.",
  access: { scope: "own", anyOf: ["read"] },
  rateCategory: "balance",
  query: z.object(ofPair),
  responses: {
    200: {
      description: "One balance where both parameters are given, otherwise a list",
      schema: z.union([balance, balanceList]),
      examples: { onePair: exampleOf(balance), list: exampleOf(balanceList) },
    },
  },
  handler: async ({ merchantId, query }, context) => {
    const { currency, network } = query;
    if (currency !== undefined && network !== undefined) {
      const row = (await context.balances(merchantId))?.get(pairKey(currency, network));
      return ok(shown(balance, { currency, network, ...heldView(row) }));
    }
    const [rows, settings] = await Promise.all([context.balances(merchantId), context.settings()]);
    const balances = [];
    for (const [key, pair] of settings.pairs) {
      if (currency !== undefined && pair.currency !== currency) continue;
      if (network !== undefined && pair.network !== network) continue;
      const row = rows?.get(key);
      const isOpen = pair.depositsEnabled || pair.withdrawalsEnabled;
      if (row !== undefined || isOpen) {
        balances.push(balanceView(pair, row, settings.fees, context));
      }
    }
    return ok({ balances });
  },
});

function balanceView(
  pair: PairSettings,
  row: BalanceView | undefined,
  feeSettings: FeeSettings,
  { chains, fees }: Pick<ApiContext, "chains" | "fees">,
) {
  const { currency, network } = pair;
  const withdrawalEnabled = pair.withdrawalsEnabled && chains.has(network);
  const networkFee = networkFeeOf(pair, fees.dynamicFee(network, currency));
  const decimals = tokenDecimals(currency, network);
  const held = heldView(row);
  const terms = commissionTerms(feeSettings, decimals);
  return shown(balanceOfPair, {
    currency,
    network,
    ...held,
    withdrawalEnabled,
    networkFee: withdrawalEnabled ? networkFee : null,
    baseFee: withdrawalEnabled ? terms.baseFee : null,
    markupRate: withdrawalEnabled ? terms.markupRate : null,
    minWithdrawal: withdrawalEnabled ? pair.minWithdrawal : null,
    maxWithdrawable: withdrawalEnabled
      ? maxWithdrawable(held.available, networkFee, decimals)
      : ZERO,
    largestWithdrawal: withdrawalEnabled
      ? largestWithdrawal(held.available, feeSettings, networkFee, pair.minWithdrawal, decimals)
      : ZERO,
  });
}

function heldView(row: BalanceView | undefined) {
  const { available = ZERO, pending = ZERO, updatedAt = null } = row ?? {};
  return { available, pending, lastUpdatedAt: updatedAt };
}
