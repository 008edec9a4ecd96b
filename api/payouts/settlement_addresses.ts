/**
 * Addresses that a merchant may settle to: a merchant names them, an administrator opens and closes
 * them.
 *
 * @module
 */

import { z } from "zod";
import { listWhitelist } from "../../ledger/approvals.ts";
import type { SettlementAddressRow } from "../../ledger/rows.ts";
import { findSettlementAddressOwner, listSettlementAddresses } from "../../ledger/settlements.ts";
import { askAsAdmin } from "../http/admin_command.ts";
import { created, ok } from "../http/answer.ts";
import { invalidField, notDone, notFound } from "../http/errors.ts";
import { limit, nameOf, network, onChainAddress, page } from "../http/fields.ts";
import { exampleId, id, onePage, pagination, paginationSchema } from "../http/formats.ts";
import { actorOf } from "../http/permission.ts";
import { keyedRoute, staffRoute } from "../http/route.ts";
import { isClosedDestination } from "./withdrawals.ts";
import {
  SETTLEMENT_ADDRESS_EXAMPLE,
  SETTLEMENT_ADDRESS_PAGE_EXAMPLE,
  settlementAddressPage,
  settlementAddressSchema,
} from "./settlement_schema.ts";

/** A whitelisted address as administrators see it. */
const settlementAddressOfMerchant = settlementAddressSchema.extend({
  merchantId: id("mer"),
}).meta({ id: "SettlementAddressOfMerchant" });

const SETTLEMENT_ADDRESS_OF_MERCHANT_EXAMPLE = {
  ...SETTLEMENT_ADDRESS_EXAMPLE,
  active: true,
  merchantId: exampleId("mer"),
};

/** Answer of the list of all merchants' settlement addresses. */
const whitelistPage = z.object({
  settlementAddresses: z.array(settlementAddressOfMerchant),
  pagination: paginationSchema,
});

const WHITELIST_PAGE_EXAMPLE = {
  settlementAddresses: [SETTLEMENT_ADDRESS_OF_MERCHANT_EXAMPLE],
  pagination: onePage(20),
};

/** `POST /api/settlement-addresses`. */
export const createSettlementAddress = keyedRoute({
  method: "POST",
  path: "/api/settlement-addresses",
  summary: "Put an address on the whitelist; an administrator activates it",
  access: { scope: "own", anyOf: ["write", "payout"] },
  needsActiveMerchant: true,
  closedTo: ["RESELLER"],
  rateCategory: "withdrawals",
  body: z.object({
    address: onChainAddress,
    network,
    label: nameOf(100),
  }),
  responses: {
    201: {
      description: "Listed, not active yet",
      schema: settlementAddressSchema,
      example: SETTLEMENT_ADDRESS_EXAMPLE,
    },
  },
  errors: ["settlement_address_exists"],
  handler: async ({ caller, merchantId, body, now }, context) => {
    const chain = context.chains.get(body.network);
    if (chain === undefined) {
      return invalidField("network", "Nothing is paid out on this network", "unsupported_network");
    }
    if (!chain.isAddress(body.address)) {
      return invalidField("address", "Not an address of this network", "invalid_address");
    }
    if (await isClosedDestination(merchantId, body.network, body.address, context)) {
      return invalidField(
        "address",
        "The address belongs to this service; a payout cannot go there",
        "own_address",
      );
    }
    const addressId = context.newId("adr");
    const outcome = await context.merchants.ask(merchantId, {
      type: "add-settlement-address",
      by: actorOf(caller),
      at: now,
      addressId,
      ...body,
    }, context.askTimeoutMs);
    if (outcome.kind !== "done") return notDone(outcome, { addressId });
    return created(settlementAddressView(outcome.value));
  },
});

/** `GET /api/settlement-addresses`. */
export const getSettlementAddresses = keyedRoute({
  method: "GET",
  path: "/api/settlement-addresses",
  summary: "The whitelist, newest first",
  access: { scope: "own", anyOf: ["read"] },
  rateCategory: "transactions",
  query: z.object({ page: page.default(1), limit: limit.default(20) }),
  responses: {
    200: {
      description: "One page of the whitelist",
      schema: settlementAddressPage,
      example: SETTLEMENT_ADDRESS_PAGE_EXAMPLE,
    },
  },
  handler: async ({ merchantId, query }, { sql }) => {
    const found = await listSettlementAddresses(sql, merchantId, query);
    return ok({
      settlementAddresses: found.rows.map(settlementAddressView),
      pagination: pagination(query, found.total),
    });
  },
});

/** `DELETE /api/settlement-addresses/{addressId}`. */
export const deleteSettlementAddress = keyedRoute({
  method: "DELETE",
  path: "/api/settlement-addresses/{addressId}",
  summary: "Take an address off the whitelist",
  access: { scope: "own", anyOf: ["write", "payout"] },
  closedTo: ["RESELLER"],
  rateCategory: "transactions",
  responses: { 204: { description: "Removed", schema: null } },
  errors: ["record_not_found"],
  handler: async ({ merchantId, params, now }, context) => {
    const outcome = await context.merchants.ask(merchantId, {
      type: "remove-settlement-address",
      at: now,
      addressId: params.addressId ?? "",
    }, context.askTimeoutMs);
    return outcome.kind === "done" ? { status: 204, body: null } : notDone(outcome, {});
  },
});

/** A whitelisted address as it is shown. */
function settlementAddressView(row: SettlementAddressRow) {
  return {
    id: row.id,
    address: row.address,
    network: row.network,
    label: row.label,
    active: row.active,
    createdAt: new Date(row.createdAt).toISOString(),
  };
}

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
