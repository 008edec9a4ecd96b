/**
 * Addresses that a merchant may settle to. A merchant names them, an administrator opens them.
 *
 * @module
 */

import { z } from "zod";
import { listSettlementAddresses } from "../ledger/queries/list_settlement_addresses.ts";
import type { SettlementAddressRow } from "../ledger/rows.ts";
import { created, ok } from "./answer.ts";
import { invalidField, notDone } from "./errors.ts";
import { limit, network, page } from "./fields.ts";
import { pagination } from "./paging.ts";
import { keyedRoute } from "./route.ts";

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
    address: z.string().min(1).max(128),
    network,
    label: z.string().trim().min(1).max(100),
  }),
  responses: { 201: "Listed, not active yet", 409: "The address is on the whitelist already" },
  handler: async ({ merchantId, body, now }, context) => {
    const chain = context.chains.get(body.network);
    if (chain === undefined) {
      return invalidField("network", "Nothing is paid out on this network", "unsupported_network");
    }
    if (!chain.isAddress(body.address)) {
      return invalidField("address", "Not an address of this network", "invalid_address");
    }
    if (body.address === chain.hotWallet || await context.isOwnAddress(body.address) === true) {
      return invalidField(
        "address",
        "The address belongs to this service; a payout cannot go there",
        "own_address",
      );
    }
    const addressId = context.newId("adr");
    const outcome = await context.merchants.ask(merchantId, {
      type: "add-settlement-address",
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
  query: z.object({ page: page.optional(), limit: limit.optional() }),
  responses: { 200: "One page of the whitelist" },
  handler: async ({ merchantId, query }, { sql }) => {
    const request = { page: query.page ?? 1, limit: query.limit ?? 20 };
    const found = await listSettlementAddresses(sql, merchantId, request);
    return ok({
      settlementAddresses: found.rows.map(settlementAddressView),
      pagination: pagination(request, found.total),
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
  responses: { 204: "Removed", 404: "Not on the whitelist" },
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
