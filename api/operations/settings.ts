/**
 * Settings that concern all merchants and no pair.
 *
 * @module
 */

import { z } from "zod";
import { type Amount, formatAmount } from "../../ledger/money/amount.ts";
import { CURRENCIES, type Currency } from "../../ledger/money/pair.ts";
import { updateThresholds } from "../../ledger/platform_settings.ts";
import { settingsAudit } from "../http/admin_command.ts";
import { ok } from "../http/answer.ts";
import { boundedAmount } from "../http/fields.ts";
import { decimal } from "../http/formats.ts";
import { staffRoute } from "../http/route.ts";

/** Settings that concern all merchants. */
const globalSettings = z.object({
  settlementThresholds: z.object({ USDT: decimal, USDC: decimal }).meta({
    description: "Settlements of this amount and above wait for approval",
  }),
}).meta({ id: "Settings" });

const SETTINGS_EXAMPLE = { settlementThresholds: { USDT: "10000", USDC: "10000" } };

const PATH = "/api/admin/settings";

/** `GET /api/admin/settings`. */
export const getSettings = staffRoute({
  method: "GET",
  path: PATH,
  summary: "Settings for all merchants",
  access: { scope: "admin", anyOf: ["admin:read", "admin:write"] },
  rateCategory: "none",
  responses: {
    200: {
      description: "The settings",
      schema: globalSettings,
      example: SETTINGS_EXAMPLE,
    },
  },
  handler: async (_request, { settings }) =>
    ok(settingsView((await settings()).settlementThresholds)),
});

/** `PUT /api/admin/settings`. */
export const updateSettings = staffRoute({
  method: "PUT",
  path: PATH,
  summary: "Change from which amount on settlements wait for approval, per currency",
  access: { scope: "admin", anyOf: ["admin:settings"] },
  rateCategory: "none",
  body: z.strictObject({
    settlementThresholds: z.strictObject({
      USDT: boundedAmount.optional(),
      USDC: boundedAmount.optional(),
    }),
  }),
  responses: {
    200: {
      description: "The settings after the change",
      schema: globalSettings,
      example: SETTINGS_EXAMPLE,
    },
  },
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
