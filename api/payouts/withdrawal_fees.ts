/**
 * Fees of withdrawals, for all merchants alike.
 *
 * @module
 */

import { z } from "zod";
import { isExactIn } from "../../ledger/money/amount.ts";
import { networkFeeOf, withdrawalFees } from "../../ledger/money/fees.ts";
import { pairKey, tokenDecimals } from "../../ledger/money/pair.ts";
import { updateFeeSettings } from "../../ledger/settings.ts";
import { settingsAudit } from "../http/admin_command.ts";
import { ok } from "../http/answer.ts";
import { invalidField } from "../http/errors.ts";
import { eg } from "../http/example.ts";
import { feeInfo, feeInfoSchema } from "../http/fee_info.ts";
import * as f from "../http/fields.ts";
import { adminRoute, READERS } from "../http/route.ts";
import { shown } from "../http/shown.ts";

const feeSettings = z.object({
  baseFee: eg(f.decimal, "1"),
  markupRate: eg(f.fraction, "0"),
  enabled: eg(z.boolean(), true),
}).meta({ id: "WithdrawalFeeSettings" });

const PATH = "/api/admin/withdrawal-fees";

export const getWithdrawalFees = adminRoute({
  at: `GET ${PATH}`,
  summary: "Fee settings of withdrawals",
  anyOf: READERS,
  responses: { 200: { description: "The settings", schema: feeSettings } },
  handler: async (_request, { settings }) => ok(shown(feeSettings, (await settings()).fees)),
});

export const setWithdrawalFees = adminRoute({
  at: `POST ${PATH}`,
  summary: "Change the fee settings; withdrawals that exist keep theirs",
  anyOf: ["admin:settings"],
  body: z.strictObject({
    baseFee: f.boundedAmount.optional(),
    markupRate: f.rate.optional(),
    enabled: z.boolean().optional(),
  }).refine((body) => Object.values(body).some((value) => value !== undefined), {
    message: "Nothing would change",
  }),
  responses: { 200: { description: "The settings after the change", schema: feeSettings } },
  handler: async ({ body, ...request }, context) => {
    const audit = settingsAudit(request, "withdrawal-fees.set", "withdrawal-fees", context);
    return ok(shown(feeSettings, await updateFeeSettings(context.sql, body, audit)));
  },
});

export const testWithdrawalFees = adminRoute({
  at: `PUT ${PATH}`,
  summary: "Calculate what a withdrawal would cost; nothing is changed",
  anyOf: READERS,
  body: z.strictObject({
    amount: f.positiveAmount,
    currency: f.currency,
    network: f.network.optional(),
  }),
  responses: { 200: { description: "The fees", schema: z.object({ feeInfo: feeInfoSchema }) } },
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
