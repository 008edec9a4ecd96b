/**
 * Addresses that a merchant may settle to: a merchant names them, an administrator opens and closes
 * them.
 *
 * @module
 */

import { z } from "zod";
import { listWhitelist } from "../../ledger/approvals.ts";
import type { SettlementAddressRow } from "../../ledger/payment_rows.ts";
import { findSettlementAddressOwner, MOST_SETTLEMENT_ADDRESSES } from "../../ledger/settlements.ts";
import { askAsAdmin } from "../http/admin_command.ts";
import { created, ok } from "../http/answer.ts";
import { invalidField, notDone, notFound } from "../http/errors.ts";
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { listed, pageOf, pages } from "../http/list.ts";
import { actorOf } from "../http/permission.ts";
import { adminRoute, READERS, route } from "../http/route.ts";
import { shown } from "../http/shown.ts";
import { isClosedDestination } from "./withdrawals.ts";

const settlementAddress = z.object({
  id: f.id("adr"),
  address: f.address,
  network: f.network,
  label: eg(z.string(), "Company wallet"),
  active: eg(z.boolean().meta({ description: "An administrator activates it" }), false),
  createdAt: f.timestamp,
}).meta({ id: "SettlementAddress" });

const addressOfMerchant = settlementAddress.extend({
  active: eg(settlementAddress.shape.active, true),
  merchantId: f.id("mer"),
}).meta({ id: "SettlementAddressOfMerchant" });

const ownView = (row: SettlementAddressRow) => shown(settlementAddress, row);
const adminView = (row: SettlementAddressRow) => shown(addressOfMerchant, row);

export const createSettlementAddress = route({
  at: "POST /api/settlement-addresses",
  summary: "Put an address on the whitelist; an administrator activates it",
  description: `An account has ${MOST_SETTLEMENT_ADDRESSES} of them at most.`,
  access: { scope: "own", anyOf: ["write", "payout"] },
  needsActiveMerchant: true,
  closedTo: ["RESELLER"],
  rateCategory: "withdrawals",
  body: z.object({ address: f.onChainAddress, network: f.network, label: f.nameOf(100) }),
  responses: { 201: { description: "Listed, not active yet", schema: settlementAddress } },
  errors: ["settlement_address_exists", "too_many_settlement_addresses"],
  handler: async ({ caller, merchantId, body, now }, context) => {
    const chain = context.chains.get(body.network);
    if (chain === undefined) {
      return invalidField("network", "Nothing is paid out on this network", "unsupported_network");
    }
    const address = chain.address(body.address);
    if (address === null) {
      return invalidField("address", "Not an address of this network", "invalid_address");
    }
    if (await isClosedDestination(merchantId, body.network, address, context)) {
      const message = "The address belongs to this service; a payout cannot go there";
      return invalidField("address", message, "own_address");
    }
    const addressId = context.newId("adr");
    const outcome = await context.merchants.ask(merchantId, {
      type: "add-settlement-address",
      by: actorOf(caller),
      at: now,
      addressId,
      ...body,
      address,
    }, context.askTimeoutMs);
    if (outcome.kind !== "done") return notDone(outcome, { addressId });
    return created(ownView(outcome.value));
  },
});

export const getSettlementAddresses = route({
  at: "GET /api/settlement-addresses",
  summary: "The whitelist, newest first",
  access: { scope: "own", anyOf: ["read"] },
  rateCategory: "transactions",
  query: z.object(pages()),
  responses: {
    200: {
      description: "One page of the whitelist",
      schema: pageOf("settlementAddresses", settlementAddress),
    },
  },
  handler: async ({ merchantId, query }, { sql }) => {
    const found = await listWhitelist(sql, { merchantId }, query);
    return listed("settlementAddresses", found, query, ownView);
  },
});

export const deleteSettlementAddress = route({
  at: "DELETE /api/settlement-addresses/{addressId}",
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
      addressId: params.addressId,
    }, context.askTimeoutMs);
    return outcome.kind === "done" ? { status: 204, body: null } : notDone(outcome, {});
  },
});

export const getWhitelist = adminRoute({
  at: "GET /api/admin/settlement-addresses",
  summary: "List the settlement addresses of all merchants, newest first",
  anyOf: READERS,
  query: z.object({
    ...pages(),
    active: z.enum(["true", "false"]).optional(),
    merchantId: z.string().min(1).max(100).optional(),
  }),
  responses: {
    200: {
      description: "One page of addresses",
      schema: pageOf("settlementAddresses", addressOfMerchant),
    },
  },
  handler: async ({ query }, { sql }) => {
    const { active, merchantId } = query;
    const filter = { merchantId, active: active === undefined ? undefined : active === "true" };
    const found = await listWhitelist(sql, filter, query);
    return listed("settlementAddresses", found, query, adminView);
  },
});

function activationRoute(verb: "activate" | "deactivate", summary: string) {
  return adminRoute({
    at: `POST /api/admin/settlement-addresses/{addressId}/${verb}`,
    summary,
    anyOf: ["admin:payments"],
    body: z.strictObject({}).prefault({}),
    responses: { 200: { description: "The address as it is now", schema: addressOfMerchant } },
    errors: verb === "activate" ? ["record_not_found", "same_administrator"] : ["record_not_found"],
    handler: async (request, context) => {
      const { addressId } = request.params;
      const merchantId = await findSettlementAddressOwner(context.sql, addressId);
      if (merchantId === null) return notFound;
      const action = `settlement-address.${verb}`;
      const outcome = await askAsAdmin(request, merchantId, action, addressId, {
        type: "activate-settlement-address",
        at: request.now,
        addressId,
        active: verb === "activate",
      }, context);
      return outcome.kind === "answer" ? outcome.answer : ok(adminView(outcome.value));
    },
  });
}

export const activateSettlementAddress = activationRoute(
  "activate",
  "Let a merchant settle to a whitelisted address",
);

export const deactivateSettlementAddress = activationRoute(
  "deactivate",
  "Let a merchant no longer settle to a whitelisted address",
);
