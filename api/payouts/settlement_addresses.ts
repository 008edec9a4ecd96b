/**
 * Addresses that a merchant may settle to. A merchant names them, an administrator opens them.
 *
 * @module
 */

import { z } from "zod";
import { listSettlementAddresses } from "../../ledger/settlements.ts";
import type { SettlementAddressRow } from "../../ledger/rows.ts";
import { created, ok } from "../http/answer.ts";
import { invalidField, notDone } from "../http/errors.ts";
import { limit, nameOf, network, onChainAddress, page } from "../http/fields.ts";
import { isClosedDestination } from "./is_closed_destination.ts";
import { pagination } from "../http/paging.ts";
import { actorOf } from "../http/permission.ts";
import { keyedRoute } from "../http/route.ts";
import {
  SETTLEMENT_ADDRESS_EXAMPLE,
  SETTLEMENT_ADDRESS_PAGE_EXAMPLE,
  settlementAddressPage,
  settlementAddressSchema,
} from "./settlement_schema.ts";

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
export function settlementAddressView(row: SettlementAddressRow) {
  return {
    id: row.id,
    address: row.address,
    network: row.network,
    label: row.label,
    active: row.active,
    createdAt: new Date(row.createdAt).toISOString(),
  };
}
