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
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { adminRoute, READERS } from "../http/route.ts";

const globalSettings = z.object({
  settlementThresholds: z.object({ USDT: eg(f.decimal, "10000"), USDC: eg(f.decimal, "10000") })
    .meta({ description: "Settlements of this amount and above wait for approval" }),
}).meta({ id: "Settings" });

const PATH = "/api/admin/settings";

export const getSettings = adminRoute({
  at: `GET ${PATH}`,
  summary: "Settings for all merchants",
  anyOf: READERS,
  responses: { 200: { description: "The settings", schema: globalSettings } },
  handler: async (_request, { settings }) =>
    ok(settingsView((await settings()).settlementThresholds)),
});

export const updateSettings = adminRoute({
  at: `PUT ${PATH}`,
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
