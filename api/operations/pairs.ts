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
import { listPairs, type PairRecord, updatePair } from "../../ledger/pairs.ts";
import { ok } from "../http/answer.ts";
import { settingsAudit } from "../http/audit_stamp.ts";
import type { ApiContext } from "../http/context.ts";
import { conflict, invalidField } from "../http/errors.ts";
import { boundedAmount, boundedPositiveAmount, currency, network } from "../http/fields.ts";
import { staffRoute } from "../http/route.ts";
import { PAIR_EXAMPLE, PAIR_LIST_EXAMPLE, pairList, pairSettings } from "./admin_schema.ts";

const PATH = "/api/admin/pairs";

/** `GET /api/admin/pairs`. */
export const getPairs = staffRoute({
  method: "GET",
  path: PATH,
  summary: "Every pair with its terms, and what was set aside while it was disabled",
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
  summary: "Change a pair; enabling deposits credits what was set aside meanwhile",
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

/** Whether the network is served here without a contract of the currency: nothing of it can be moved. */
function lacksContract(
  currency: Currency,
  network: Network,
  { chains }: Pick<ApiContext, "chains">,
): boolean {
  const chain = chains.get(network);
  return chain !== undefined && !chain.capabilities.currencies.includes(currency);
}

function pairView(pair: PairRecord, { chains, fees }: Pick<ApiContext, "chains" | "fees">) {
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

/** What a dynamic fee is made of; where it is missing, the reason. */
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
