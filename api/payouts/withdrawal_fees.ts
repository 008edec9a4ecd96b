/**
 * Fees of withdrawals, for all merchants alike.
 *
 * @module
 */

import { z } from "zod";
import { formatAmount, isExactIn } from "../../ledger/money/amount.ts";
import { type FeeSettings, networkFeeOf, withdrawalFees } from "../../ledger/money/fees.ts";
import { pairKey, tokenDecimals } from "../../ledger/money/pair.ts";
import { updateFeeSettings } from "../../ledger/platform_settings.ts";
import { settingsAudit } from "../http/admin_command.ts";
import { ok } from "../http/answer.ts";
import { invalidField } from "../http/errors.ts";
import { FEE_INFO_EXAMPLE, feeInfo, feeInfoSchema } from "../http/fee_info.ts";
import { boundedAmount, currency, network, positiveAmount, rate } from "../http/fields.ts";
import { decimal, fraction } from "../http/formats.ts";
import { staffRoute } from "../http/route.ts";

/** Fee settings of withdrawals. */
const withdrawalFeeSettings = z.object({
  baseFee: decimal,
  markupRate: fraction,
  enabled: z.boolean(),
}).meta({ id: "WithdrawalFeeSettings" });

const WITHDRAWAL_FEE_SETTINGS_EXAMPLE = { baseFee: "1", markupRate: "0", enabled: true };

/** Answer of a fee calculation. */
const feeCalculation = z.object({ feeInfo: feeInfoSchema });

const FEE_CALCULATION_EXAMPLE = { feeInfo: FEE_INFO_EXAMPLE };

const PATH = "/api/admin/withdrawal-fees";

/** `GET /api/admin/withdrawal-fees`. */
export const getWithdrawalFees = staffRoute({
  method: "GET",
  path: PATH,
  summary: "Fee settings of withdrawals",
  access: { scope: "admin", anyOf: ["admin:read", "admin:write"] },
  rateCategory: "none",
  responses: {
    200: {
      description: "The settings",
      schema: withdrawalFeeSettings,
      example: WITHDRAWAL_FEE_SETTINGS_EXAMPLE,
    },
  },
  handler: async (_request, { settings }) => ok(feesView((await settings()).fees)),
});

/** `POST /api/admin/withdrawal-fees`. */
export const setWithdrawalFees = staffRoute({
  method: "POST",
  path: PATH,
  summary: "Change the fee settings; withdrawals that exist keep theirs",
  access: { scope: "admin", anyOf: ["admin:settings"] },
  rateCategory: "none",
  body: z.strictObject({
    baseFee: boundedAmount.optional(),
    markupRate: rate.optional(),
    enabled: z.boolean().optional(),
  }).refine((body) => Object.values(body).some((value) => value !== undefined), {
    message: "Nothing would change",
  }),
  responses: {
    200: {
      description: "The settings after the change",
      schema: withdrawalFeeSettings,
      example: WITHDRAWAL_FEE_SETTINGS_EXAMPLE,
    },
  },
  handler: async ({ body, ...request }, context) => {
    const audit = settingsAudit(request, "withdrawal-fees.set", "withdrawal-fees", context);
    return ok(feesView(await updateFeeSettings(context.sql, body, audit)));
  },
});

/** `PUT /api/admin/withdrawal-fees`. */
export const testWithdrawalFees = staffRoute({
  method: "PUT",
  path: PATH,
  summary: "Calculate what a withdrawal would cost; nothing is changed",
  access: { scope: "admin", anyOf: ["admin:read", "admin:write"] },
  rateCategory: "none",
  body: z.strictObject({ amount: positiveAmount, currency, network: network.optional() }),
  responses: {
    200: {
      description: "The fees",
      schema: feeCalculation,
      example: FEE_CALCULATION_EXAMPLE,
    },
  },
  handler: async ({ body }, context) => {
    const { currency, network = "TRX", amount } = body;
    const decimals = tokenDecimals(currency, network);
    if (!isExactIn(amount, decimals)) {
      const message = `The amount may have ${decimals} decimal places on this network`;
      return invalidField("amount", message, "not_exact");
    }
    const { fees, pairs } = await context.settings();
    const pair = pairs.get(pairKey(currency, network));
    if (pair === undefined) throw new Error(`Cannot quote as a pair is missing: ${network}`);
    const networkFee = networkFeeOf(pair, context.fees.dynamicFee(network, currency));
    return ok({ feeInfo: feeInfo(withdrawalFees(amount, fees, networkFee, decimals)) });
  },
});

function feesView(fees: FeeSettings) {
  const { baseFee, markupRate, enabled } = fees;
  return { baseFee: formatAmount(baseFee), markupRate, enabled };
}
