/**
 * Settings that concern all merchants: the terms of each (currency, network) pair, and thresholds.
 *
 * @module
 */
import { z } from "zod";
import type { FeeBasis } from "../../actors/treasury/fee_board.ts";
import { type Amount, formatAmount, isExactIn } from "../../ledger/money/amount.ts";
import { networkFeeOf } from "../../ledger/money/fees.ts";
import { CURRENCIES, type Currency, type Network, tokenDecimals } from "../../ledger/money/pair.ts";
import {
  listPairs,
  type PairSettings,
  updatePair,
  updateThresholds,
} from "../../ledger/settings.ts";
import { settingsAudit } from "../http/admin_command.ts";
import { ok } from "../http/answer.ts";
import type { ApiContext } from "../http/context.ts";
import { errorAnswer, invalidField } from "../http/errors.ts";
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { adminRoute, READERS } from "../http/route.ts";
import { shown } from "../http/shown.ts";

const estimate = z.object({
  networkFee: eg(
    f.decimal.nullable().meta({ description: "Fee that `dynamic` charges; null: `missing`" }),
    "4.42",
  ),
  floor: eg(f.decimal.meta({ description: "The least that `dynamic` charges" }), "0.1"),
  costToHolder: eg(
    f.decimal.nullable().meta({
      description: "In the network's coin, to an address that holds the token",
    }),
    "6.7785",
  ),
  costToNewHolder: eg(
    f.decimal.nullable().meta({ description: "To one that does not" }),
    "13.3785",
  ),
  estimatedAt: f.timestamp.nullable(),
  coinRate: eg(f.decimal.nullable().meta({ description: "Units of the currency per coin" }), "0.3"),
  missing: eg(z.string().nullable().meta({ description: "Why there is no estimate" }), null),
});

const fields = {
  currency: f.currency,
  network: f.network,
  depositsEnabled: eg(z.boolean(), true),
  withdrawalsEnabled: eg(z.boolean(), true),
  minWithdrawal: eg(f.decimal, "1"),
  networkFee: eg(
    f.decimal.meta({
      description: "The fixed fee; of a dynamic pair what is charged while nothing is estimated",
    }),
    "1",
  ),
  networkFeeMode: eg(z.enum(["fixed", "dynamic"]), "dynamic"),
  quotedNetworkFee: eg(
    f.decimal.meta({ description: "Network fee that a payout is quoted at the moment" }),
    "4.42",
  ),
  estimate: estimate.nullable().meta({
    description: "Null where the service has no node of the network",
  }),
  connected: eg(
    z.boolean().meta({ description: "Whether the service has a node of the network" }),
    true,
  ),
};

const pairSettings = z.object(fields).meta({ id: "PairSettings" });

const listedPair = z.object({
  ...fields,
  unclaimed: eg(
    z.int().min(0).meta({
      description:
        "Transfers quarantined while it was disabled, counted from their first 1,000 rows",
    }),
    0,
  ),
});

export const getPairs = adminRoute({
  at: "GET /api/admin/pairs",
  summary: "Every pair with its terms, and what was quarantined while it was disabled",
  anyOf: READERS,
  responses: {
    200: { description: "The pairs", schema: z.object({ pairs: z.array(listedPair) }) },
  },
  handler: async (_request, context) => {
    const pairs = await listPairs(context.sql);
    return ok({ pairs: pairs.map((pair) => shown(listedPair, termsOf(pair, context))) });
  },
});

export const updatePairs = adminRoute({
  at: "PUT /api/admin/pairs",
  summary: "Change a pair; enabling deposits credits what was quarantined meanwhile",
  description:
    "`networkFeeMode` `dynamic` lets the network fee follow what a payout costs on the " +
    "chain at the moment; while nothing fresh is known (`estimate.missing` says why) `networkFee` " +
    "is charged. Withdrawals that exist keep the fee they were quoted.",
  anyOf: ["admin:settings"],
  body: z.strictObject({
    currency: f.currency,
    network: f.network,
    depositsEnabled: z.boolean().optional(),
    withdrawalsEnabled: z.boolean().optional(),
    minWithdrawal: f.boundedPositiveAmount.optional(),
    networkFee: f.boundedAmount.optional(),
    networkFeeMode: z.enum(["fixed", "dynamic"]).optional(),
  }),
  responses: { 200: { description: "The pair after the change", schema: pairSettings } },
  errors: ["pair_not_served"],
  handler: async ({ body, ...request }, context) => {
    const { currency, network, ...patch } = body;
    const decimals = tokenDecimals(currency, network);
    for (const field of ["minWithdrawal", "networkFee"] as const) {
      const value = patch[field];
      if (value !== undefined && !isExactIn(value, decimals)) {
        const message = `The amount may have ${decimals} decimal places on this network`;
        return invalidField(field, message, "not_exact");
      }
    }
    if (patch.depositsEnabled === true || patch.withdrawalsEnabled === true) {
      const why = whyNotServed(currency, network, context);
      if (why !== null) return errorAnswer("pair_not_served", { why });
    }
    const audit = settingsAudit(request, "pair.set", `${currency}/${network}`, context);
    const { pair, released } = await updatePair(context.sql, { currency, network }, patch, audit);
    for (const merchantId of released) context.merchants.wake(merchantId);
    return ok(shown(pairSettings, termsOf(pair, context)));
  },
});

/**
 * The reason for which nothing of a pair can be moved here; null where it can. A merchant would be told that
 * it is open, and every request would be refused.
 */
function whyNotServed(
  currency: Currency,
  network: Network,
  { chains }: Pick<ApiContext, "chains">,
): string | null {
  const chain = chains.get(network);
  if (chain === undefined) {
    return `${network} is not served here: it needs a node (${network}_NODE_URLS, in development ` +
      "DEV_CHAINS), an account of the wallet, and a restart.";
  }
  return chain.capabilities.currencies.includes(currency)
    ? null
    : `${network} has no contract of ${currency} configured here.`;
}

function termsOf<P extends PairSettings>(
  pair: P,
  { chains, fees }: Pick<ApiContext, "chains" | "fees">,
) {
  const basis = fees.basis(pair.network, pair.currency);
  const chain = chains.get(pair.network);
  return {
    ...pair,
    quotedNetworkFee: networkFeeOf(pair, basis.fee),
    estimate: chain === undefined ? null : estimateOf(basis),
    // an enabled pair still cannot be used where this service has no node of its network, or no contract
    connected: chain?.capabilities.currencies.includes(pair.currency) ?? false,
  };
}

/** The parts of a dynamic fee; where it is missing, the reason. */
function estimateOf({ cost, rate, fee, missing }: FeeBasis) {
  return {
    networkFee: fee.estimate,
    floor: fee.floor,
    costToHolder: cost?.holder ?? null,
    costToNewHolder: cost?.newHolder ?? null,
    estimatedAt: cost?.at ?? null,
    coinRate: rate?.rate ?? null,
    missing,
  };
}

const globalSettings = z.object({
  settlementThresholds: z.object({ USDT: eg(f.decimal, "10000"), USDC: eg(f.decimal, "10000") })
    .meta({ description: "Settlements of this amount and above wait for approval" }),
}).meta({ id: "Settings" });

export const getSettings = adminRoute({
  at: "GET /api/admin/settings",
  summary: "Settings for all merchants",
  anyOf: READERS,
  responses: { 200: { description: "The settings", schema: globalSettings } },
  handler: async (_request, { settings }) =>
    ok(settingsView((await settings()).settlementThresholds)),
});

export const updateSettings = adminRoute({
  at: "PUT /api/admin/settings",
  summary: "Change from which amount on settlements wait for approval, per currency",
  anyOf: ["admin:settings"],
  body: z.strictObject({
    settlementThresholds: z.strictObject({
      USDT: f.boundedAmount.optional(),
      USDC: f.boundedAmount.optional(),
    }),
  }),
  responses: { 200: { description: "The settings after the change", schema: globalSettings } },
  handler: async ({ body, ...request }, context) => {
    const thresholds = new Map<Currency, Amount>();
    for (const currency of CURRENCIES) {
      const threshold = body.settlementThresholds[currency];
      if (threshold !== undefined) thresholds.set(currency, threshold);
    }
    const audit = settingsAudit(request, "settings.set", "settlement-thresholds", context);
    return ok(settingsView(await updateThresholds(context.sql, thresholds, audit)));
  },
});

function settingsView(thresholds: ReadonlyMap<Currency, Amount>) {
  return {
    settlementThresholds: Object.fromEntries(
      [...thresholds].map(([currency, threshold]) => [currency, formatAmount(threshold)]),
    ),
  };
}
