/**
 * Which (currency, network) pairs take deposits and withdrawals, and on which terms.
 *
 * @module
 */

import { z } from "zod";
import type { FeeBasis } from "../../actors/treasury/fee_board.ts";
import { formatAmount, isExactIn } from "../../ledger/money/amount.ts";
import { networkFeeOf } from "../../ledger/money/fees.ts";
import { type Currency, type Network, tokenDecimals } from "../../ledger/money/pair.ts";
import { listPairs, type PairSettings, updatePair } from "../../ledger/pairs.ts";
import { settingsAudit } from "../http/admin_command.ts";
import { ok } from "../http/answer.ts";
import type { ApiContext } from "../http/context.ts";
import { conflict, invalidField } from "../http/errors.ts";
import { boundedAmount, boundedPositiveAmount, currency, network } from "../http/fields.ts";
import { decimal, EXAMPLE, shownCurrency, shownNetwork, timestamp } from "../http/formats.ts";
import { staffRoute } from "../http/route.ts";

const pair = {
  currency: shownCurrency,
  network: shownNetwork,
  depositsEnabled: z.boolean(),
  withdrawalsEnabled: z.boolean(),
  minWithdrawal: decimal,
  networkFee: decimal.meta({
    description: "The fixed fee; of a dynamic pair what is charged while nothing is estimated",
  }),
  networkFeeMode: z.enum(["fixed", "dynamic"]),
  quotedNetworkFee: decimal.meta({ description: "What a payout is quoted at the moment" }),
  estimate: z.object({
    networkFee: decimal.nullable().meta({ description: "What `dynamic` charges; null: `missing`" }),
    floor: decimal.meta({ description: "The least that `dynamic` charges" }),
    costToHolder: decimal.nullable().meta({
      description: "In the network's coin, to an address that holds the token",
    }),
    costToNewHolder: decimal.nullable().meta({ description: "To one that does not" }),
    estimatedAt: timestamp.nullable(),
    coinRate: decimal.nullable().meta({ description: "Units of the currency per coin" }),
    missing: z.string().nullable().meta({ description: "Why there is no estimate" }),
  }).nullable().meta({ description: "Null where the service has no node of the network" }),
  connected: z.boolean().meta({ description: "Whether the service has a node of the network" }),
};

/** A pair after a change. */
const pairSettings = z.object(pair).meta({ id: "PairSettings" });

/** Answer of the list of pairs. */
const pairList = z.object({
  pairs: z.array(z.object({
    ...pair,
    unclaimed: z.int().min(0).meta({ description: "Transfers quarantined while it was disabled" }),
  })),
});

const PAIR = {
  currency: "USDT",
  network: "TRX",
  depositsEnabled: true,
  withdrawalsEnabled: true,
  minWithdrawal: "1",
  networkFee: "1",
  networkFeeMode: "dynamic",
  quotedNetworkFee: "4.42",
  estimate: {
    networkFee: "4.42",
    floor: "0.1",
    costToHolder: "6.7785",
    costToNewHolder: "13.3785",
    estimatedAt: EXAMPLE.time,
    coinRate: "0.3",
    missing: null,
  },
  connected: true,
};

const PAIR_EXAMPLE = PAIR;

const PAIR_LIST_EXAMPLE = { pairs: [{ ...PAIR, unclaimed: 0 }] };

const PATH = "/api/admin/pairs";

/** `GET /api/admin/pairs`. */
export const getPairs = staffRoute({
  method: "GET",
  path: PATH,
  summary: "Every pair with its terms, and what was quarantined while it was disabled",
  access: { scope: "admin", anyOf: ["admin:read", "admin:write"] },
  rateCategory: "none",
  responses: {
    200: {
      description: "The pairs",
      schema: pairList,
      example: PAIR_LIST_EXAMPLE,
    },
  },
  handler: async (_request, context) => {
    const pairs = await listPairs(context.sql);
    return ok({
      pairs: pairs.map((pair) => ({ ...pairView(pair, context), unclaimed: pair.unclaimed })),
    });
  },
});

/** `PUT /api/admin/pairs`. */
export const updatePairs = staffRoute({
  method: "PUT",
  path: PATH,
  summary: "Change a pair; enabling deposits credits what was quarantined meanwhile",
  description:
    "`networkFeeMode` `dynamic` lets the network fee follow what a payout costs on the " +
    "chain at the moment; while nothing fresh is known (`estimate.missing` says why) `networkFee` " +
    "is charged. Withdrawals that exist keep the fee they were quoted.",
  access: { scope: "admin", anyOf: ["admin:settings"] },
  rateCategory: "none",
  body: z.strictObject({
    currency,
    network,
    depositsEnabled: z.boolean().optional(),
    withdrawalsEnabled: z.boolean().optional(),
    minWithdrawal: boundedPositiveAmount.optional(),
    networkFee: boundedAmount.optional(),
    networkFeeMode: z.enum(["fixed", "dynamic"]).optional(),
  }),
  responses: {
    200: {
      description: "The pair after the change",
      schema: pairSettings,
      example: PAIR_EXAMPLE,
    },
  },
  errors: ["conflict"],
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
    const isEnabled = patch.depositsEnabled === true || patch.withdrawalsEnabled === true;
    if (isEnabled && lacksContract(currency, network, context)) {
      return conflict(`${network} has no contract of ${currency} configured here.`);
    }
    const audit = settingsAudit(request, "pair.set", `${currency}/${network}`, context);
    const { pair, released } = await updatePair(context.sql, { currency, network }, patch, audit);
    for (const merchantId of released) context.merchants.wake(merchantId);
    return ok(pairView(pair, context));
  },
});

/** True where the network is served here without a contract of the currency: nothing of it can be moved. */
function lacksContract(
  currency: Currency,
  network: Network,
  { chains }: Pick<ApiContext, "chains">,
): boolean {
  const chain = chains.get(network);
  return chain !== undefined && !chain.capabilities.currencies.includes(currency);
}

function pairView(pair: PairSettings, { chains, fees }: Pick<ApiContext, "chains" | "fees">) {
  const basis = fees.basis(pair.network, pair.currency);
  return {
    currency: pair.currency,
    network: pair.network,
    depositsEnabled: pair.depositsEnabled,
    withdrawalsEnabled: pair.withdrawalsEnabled,
    minWithdrawal: formatAmount(pair.minWithdrawal),
    networkFee: formatAmount(pair.networkFee),
    networkFeeMode: pair.networkFeeMode,
    quotedNetworkFee: formatAmount(networkFeeOf(pair, basis.fee)),
    estimate: chains.has(pair.network) ? estimateView(basis) : null,
    // an enabled pair still cannot be used where this service has no node of its network, or no contract
    connected: chains.get(pair.network)?.capabilities.currencies.includes(pair.currency) ?? false,
  };
}

/** The parts of a dynamic fee; where it is missing, the reason. */
function estimateView({ cost, rate, fee, missing }: FeeBasis) {
  return {
    networkFee: fee.estimate === null ? null : formatAmount(fee.estimate),
    floor: formatAmount(fee.floor),
    costToHolder: cost === null ? null : formatAmount(cost.holder),
    costToNewHolder: cost === null ? null : formatAmount(cost.newHolder),
    estimatedAt: cost === null ? null : new Date(cost.at).toISOString(),
    coinRate: rate === null ? null : rate.rate,
    missing,
  };
}
