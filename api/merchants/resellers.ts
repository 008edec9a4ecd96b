/**
 * Resellers: each owns a merchant account, and one registered address its withdrawals may go to.
 *
 * @module
 */

import { z } from "zod";
import { readMerchant } from "../../ledger/merchants.ts";
import type { Network } from "../../ledger/money/pair.ts";
import {
  findResellerById,
  insertReseller,
  listResellers,
  type ResellerRecord,
  updateReseller,
} from "../../ledger/resellers.ts";
import { newWebhookSecret } from "../../webhooks/signature.ts";
import { type Answer, created, ok } from "../http/answer.ts";
import { hubAudit } from "../http/admin_command.ts";
import type { ApiContext } from "../http/context.ts";
import { conflict, forbidden, invalidField, notFound, validationFailed } from "../http/errors.ts";
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { listed, pageOf, pages } from "../http/list.ts";
import type { Caller } from "../http/permission.ts";
import { adminRoute, route } from "../http/route.ts";
import { shown } from "../http/shown.ts";
import { refuseUnknownFields } from "../http/checks.ts";
import { isClosedDestination } from "../payouts/withdrawals.ts";
import { makeMerchant } from "./admin_merchants.ts";

const resellerSchema = z.object({
  id: f.id("rsl"),
  merchantId: f.id("mer").meta({ description: "Its own merchant account" }),
  name: eg(z.string(), "Example Reseller"),
  withdrawalAddress: f.address,
  network: f.network,
  createdAt: f.timestamp,
  updatedAt: f.timestamp,
}).meta({ id: "Reseller" });

const view = (reseller: ResellerRecord) => shown(resellerSchema, reseller);

/** Access of a reseller to its own line, and of administrators. */
export const READ = {
  scope: "reseller",
  anyOf: ["read"],
  adminAnyOf: ["admin:read", "admin:write"],
} as const;

const name = f.nameOf(200);

/** The fields of a reseller that can be changed. */
const CHANGES = {
  name: name.optional(),
  withdrawalAddress: f.onChainAddress.optional(),
  network: f.network.optional(),
};

/** The reseller in the path, if the caller may see it; otherwise the answer that says no. */
export async function resellerFor(
  caller: Caller,
  resellerId: string,
  { sql }: Pick<ApiContext, "sql">,
): Promise<ResellerRecord | Answer> {
  const found = await findResellerById(sql, resellerId);
  if (caller.role === "ADMIN") return found ?? notFound;
  return found === null || found.merchantId !== caller.merchantId ? forbidden : found;
}

/** True where {@linkcode resellerFor} said no. */
export function isRefused(found: ResellerRecord | Answer): found is Answer {
  return "body" in found;
}

export const getResellers = route({
  at: "GET /api/resellers",
  summary: "List resellers, newest first; a reseller sees itself",
  access: READ,
  rateCategory: "transactions",
  query: z.object(pages()),
  responses: {
    200: { description: "One page of resellers", schema: pageOf("resellers", resellerSchema) },
  },
  handler: async ({ caller, query }, { sql }) => {
    const found = await listResellers(sql, caller.merchantId, query);
    if (caller.role !== "ADMIN" && found.total === 0) return forbidden;
    return listed("resellers", found, query, view);
  },
});

export const createReseller = adminRoute({
  at: "POST /api/resellers",
  summary: "Create a reseller, with a merchant account of its own unless one is named",
  anyOf: ["admin:merchants"],
  body: z.strictObject({
    name,
    withdrawalAddress: f.onChainAddress,
    network: f.network,
    merchantId: z.string().min(1).max(100).optional(),
  }),
  responses: { 201: { description: "The reseller", schema: resellerSchema } },
  errors: ["validation_failed", "conflict"],
  handler: async ({ body, ...request }, context) => {
    const { name, network } = body;
    const named = body.merchantId ?? null;
    const withdrawalAddress = await addressFor(named, body.withdrawalAddress, network, context);
    if (typeof withdrawalAddress !== "string") return withdrawalAddress;
    if (named !== null && await readMerchant(context.sql, named) === null) {
      return validationFailed("merchantId", "There is no such merchant", "unknown_merchant");
    }
    // An account that is left over by a crash in between owns nothing and harms no one.
    const merchantId = named ??
      (await makeMerchant(request, { name }, newWebhookSecret(), request.now, context)).merchantId;
    const reseller: ResellerRecord = {
      id: context.newId("rsl"),
      merchantId,
      name,
      withdrawalAddress,
      network,
      createdAt: request.now,
      updatedAt: request.now,
    };
    const accountable = { ...request, merchantId };
    const after = { name, withdrawalAddress, network };
    const audit = hubAudit(accountable, "reseller.create", reseller.id, context, null, after);
    if (!await insertReseller(context.sql, reseller, audit)) {
      return conflict("This merchant account belongs to a reseller already.");
    }
    context.keys.forget(merchantId);
    return created(view(reseller));
  },
});

export const getReseller = route({
  at: "GET /api/resellers/{resellerId}",
  summary: "One reseller",
  access: READ,
  rateCategory: "transactions",
  responses: { 200: { description: "The reseller", schema: resellerSchema } },
  errors: ["record_not_found"],
  handler: async ({ caller, params }, context) => {
    const found = await resellerFor(caller, params.resellerId, context);
    return isRefused(found) ? found : ok(view(found));
  },
});

export const putReseller = route({
  at: "PUT /api/resellers/{resellerId}",
  summary: "Change a reseller; its registered address only as an administrator",
  access: { scope: "reseller", anyOf: ["write"], adminAnyOf: ["admin:merchants"] },
  rateCategory: "transactions",
  body: z.looseObject(CHANGES),
  responses: { 200: { description: "The reseller after the change", schema: resellerSchema } },
  errors: ["record_not_found"],
  handler: async ({ body, ...request }, context) => {
    const { caller, params } = request;
    const unknown = refuseUnknownFields(caller, body, CHANGES);
    if (unknown !== null) return unknown;
    const found = await resellerFor(caller, params.resellerId, context);
    if (isRefused(found)) return found;
    const { name, network } = body;
    const moves = body.withdrawalAddress !== undefined || network !== undefined;
    if (moves && caller.role !== "ADMIN") return forbidden;
    const withdrawalAddress = moves
      ? await addressFor(
        found.merchantId,
        body.withdrawalAddress ?? found.withdrawalAddress,
        network ?? found.network,
        context,
      )
      : undefined;
    if (typeof withdrawalAddress === "object") return withdrawalAddress;
    const accountable = { ...request, merchantId: found.merchantId };
    const { before: _before, after: _after, ...audit } = hubAudit(
      accountable,
      "reseller.update",
      found.id,
      context,
      null,
      null,
    );
    const patch = { name, withdrawalAddress, network };
    const updated = await updateReseller(context.sql, found.id, patch, audit);
    return updated === null ? notFound : ok(view(updated));
  },
});

/**
 * An address in its canonical spelling; or the 400 for one that is none of its network, or that the merchant
 * may not be paid at.
 */
async function addressFor(
  merchantId: string | null,
  given: string,
  network: Network,
  context: ApiContext,
): Promise<string | Answer> {
  const address = context.chains.get(network)?.address(given) ?? null;
  const field = "withdrawalAddress";
  if (address === null) {
    return invalidField(field, "Not an address of this network", "invalid_address");
  }
  return await isClosedDestination(merchantId, network, address, context)
    ? invalidField(field, "The address belongs to this service", "own_address")
    : address;
}
