/**
 * Settlement addresses, opened and closed by administrators.
 *
 * @module
 */

import { z } from "zod";
import { findSettlementAddressOwner } from "../../ledger/settlements.ts";
import { listWhitelist } from "../../ledger/approvals.ts";
import { ok } from "../http/answer.ts";
import { askAsAdmin } from "../http/ask_as_admin.ts";
import { notFound } from "../http/errors.ts";
import { limit, page } from "../http/fields.ts";
import { pagination } from "../http/paging.ts";
import { staffRoute } from "../http/route.ts";
import { settlementAddressView } from "./settlement_addresses.ts";
import {
  SETTLEMENT_ADDRESS_OF_MERCHANT_EXAMPLE,
  settlementAddressOfMerchant,
  WHITELIST_PAGE_EXAMPLE,
  whitelistPage,
} from "../operations/admin_schema.ts";

/** `GET /api/admin/settlement-addresses`. */
export const getWhitelist = staffRoute({
  method: "GET",
  path: "/api/admin/settlement-addresses",
  summary: "List the settlement addresses of all merchants, newest first",
  access: { scope: "admin", anyOf: ["admin:read", "admin:write"] },
  rateCategory: "none",
  query: z.object({
    page: page.default(1),
    limit: limit.default(20),
    active: z.enum(["true", "false"]).optional(),
    merchantId: z.string().min(1).max(100).optional(),
  }),
  responses: {
    200: {
      description: "One page of addresses",
      schema: whitelistPage,
      example: WHITELIST_PAGE_EXAMPLE,
    },
  },
  handler: async ({ query }, { sql }) => {
    const { active, merchantId } = query;
    const filter = { merchantId, active: active === undefined ? undefined : active === "true" };
    const found = await listWhitelist(sql, filter, query);
    return ok({
      settlementAddresses: found.rows.map((row) => ({
        merchantId: row.merchantId,
        ...settlementAddressView(row),
      })),
      pagination: pagination(query, found.total),
    });
  },
});

function activationRoute(verb: "activate" | "deactivate", summary: string) {
  return staffRoute({
    method: "POST",
    path: `/api/admin/settlement-addresses/{addressId}/${verb}`,
    summary,
    access: { scope: "admin", anyOf: ["admin:payments"] },
    rateCategory: "none",
    body: z.strictObject({}).prefault({}),
    responses: {
      200: {
        description: "The address as it is now",
        schema: settlementAddressOfMerchant,
        example: SETTLEMENT_ADDRESS_OF_MERCHANT_EXAMPLE,
      },
    },
    errors: verb === "activate" ? ["record_not_found", "same_administrator"] : ["record_not_found"],
    handler: async (request, context) => {
      const addressId = request.params.addressId ?? "";
      const merchantId = await findSettlementAddressOwner(context.sql, addressId);
      if (merchantId === null) return notFound;
      const action = `settlement-address.${verb}`;
      const outcome = await askAsAdmin(request, merchantId, action, addressId, {
        type: "activate-settlement-address",
        at: request.now,
        addressId,
        active: verb === "activate",
      }, context);
      if (outcome.kind === "answer") return outcome.answer;
      return ok({ merchantId, ...settlementAddressView(outcome.value) });
    },
  });
}

/** `POST /api/admin/settlement-addresses/{addressId}/activate`. */
export const activateSettlementAddress = activationRoute(
  "activate",
  "Let a merchant settle to a whitelisted address",
);

/** `POST /api/admin/settlement-addresses/{addressId}/deactivate`. */
export const deactivateSettlementAddress = activationRoute(
  "deactivate",
  "Let a merchant no longer settle to a whitelisted address",
);
