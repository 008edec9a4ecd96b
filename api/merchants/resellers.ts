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
import { limit, nameOf, network, onChainAddress, page } from "../http/fields.ts";
import { pagination } from "../http/formats.ts";
import type { Caller } from "../http/permission.ts";
import { staffRoute } from "../http/route.ts";
import { refuseUnknownFields } from "../http/checks.ts";
import { isClosedDestination } from "../payouts/withdrawals.ts";
import { makeMerchant } from "./admin_merchants.ts";
import {
  RESELLER_EXAMPLE,
  RESELLER_PAGE_EXAMPLE,
  resellerPage,
  resellerSchema,
} from "./reseller_schema.ts";

const READ = {
  scope: "reseller",
  anyOf: ["read"],
  adminAnyOf: ["admin:read", "admin:write"],
} as const;

const name = nameOf(200);

/** The fields of a reseller that can be changed. */
const CHANGES = {
  name: name.optional(),
  withdrawalAddress: onChainAddress.optional(),
  network: network.optional(),
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

/** `GET /api/resellers`. */
export const getResellers = staffRoute({
  method: "GET",
  path: "/api/resellers",
  summary: "List resellers, newest first; a reseller sees itself",
  access: READ,
  rateCategory: "transactions",
  query: z.object({ page: page.default(1), limit: limit.default(20) }),
  responses: {
    200: {
      description: "One page of resellers",
      schema: resellerPage,
      example: RESELLER_PAGE_EXAMPLE,
    },
  },
  handler: async ({ caller, query }, { sql }) => {
    const found = await listResellers(sql, caller.merchantId, query);
    if (caller.role !== "ADMIN" && found.total === 0) return forbidden;
    return ok({
      resellers: found.rows.map(resellerView),
      pagination: pagination(query, found.total),
    });
  },
});

/** `POST /api/resellers`. */
export const createReseller = staffRoute({
  method: "POST",
  path: "/api/resellers",
  summary: "Create a reseller, with a merchant account of its own unless one is named",
  access: { scope: "admin", anyOf: ["admin:merchants"] },
  rateCategory: "none",
  body: z.strictObject({
    name,
    withdrawalAddress: onChainAddress,
    network,
    merchantId: z.string().min(1).max(100).optional(),
  }),
  responses: {
    201: {
      description: "The reseller",
      schema: resellerSchema,
      example: RESELLER_EXAMPLE,
    },
  },
  errors: ["validation_failed", "conflict"],
  handler: async ({ body, ...request }, context) => {
    const { name, withdrawalAddress, network } = body;
    const refusal = await refuseAddress(
      body.merchantId ?? null,
      withdrawalAddress,
      network,
      context,
    );
    if (refusal !== null) return refusal;
    if (
      body.merchantId !== undefined && await readMerchant(context.sql, body.merchantId) === null
    ) return validationFailed("merchantId", "There is no such merchant", "unknown_merchant");
    // An account that is left over by a crash in between owns nothing and harms no one.
    const merchantId = body.merchantId ??
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
    const audit = hubAudit(
      { ...request, merchantId },
      "reseller.create",
      reseller.id,
      context,
      null,
      {
        name,
        withdrawalAddress,
        network,
      },
    );
    if (!await insertReseller(context.sql, reseller, audit)) {
      return conflict("This merchant account belongs to a reseller already.");
    }
    context.keys.forget(merchantId);
    return created(resellerView(reseller));
  },
});

/** `GET /api/resellers/{resellerId}`. */
export const getReseller = staffRoute({
  method: "GET",
  path: "/api/resellers/{resellerId}",
  summary: "One reseller",
  access: READ,
  rateCategory: "transactions",
  responses: {
    200: {
      description: "The reseller",
      schema: resellerSchema,
      example: RESELLER_EXAMPLE,
    },
  },
  errors: ["record_not_found"],
  handler: async ({ caller, params }, context) => {
    const found = await resellerFor(caller, params.resellerId ?? "", context);
    return isRefused(found) ? found : ok(resellerView(found));
  },
});

/** `PUT /api/resellers/{resellerId}`. */
export const putReseller = staffRoute({
  method: "PUT",
  path: "/api/resellers/{resellerId}",
  summary: "Change a reseller; its registered address only as an administrator",
  access: { scope: "reseller", anyOf: ["write"], adminAnyOf: ["admin:merchants"] },
  rateCategory: "transactions",
  body: z.looseObject(CHANGES),
  responses: {
    200: {
      description: "The reseller after the change",
      schema: resellerSchema,
      example: RESELLER_EXAMPLE,
    },
  },
  errors: ["record_not_found"],
  handler: async ({ body, ...request }, context) => {
    const { caller, params } = request;
    const unknown = refuseUnknownFields(caller, body, CHANGES);
    if (unknown !== null) return unknown;
    const found = await resellerFor(caller, params.resellerId ?? "", context);
    if (isRefused(found)) return found;
    const { name, withdrawalAddress, network } = body;
    const moves = withdrawalAddress !== undefined || network !== undefined;
    if (moves && caller.role !== "ADMIN") return forbidden;
    if (moves) {
      const refusal = await refuseAddress(
        found.merchantId,
        withdrawalAddress ?? found.withdrawalAddress,
        network ?? found.network,
        context,
      );
      if (refusal !== null) return refusal;
    }
    const { merchantId } = found;
    const { before: _before, after: _after, ...audit } = hubAudit(
      { ...request, merchantId },
      "reseller.update",
      found.id,
      context,
      null,
      null,
    );
    const patch = { name, withdrawalAddress, network };
    const updated = await updateReseller(context.sql, found.id, patch, audit);
    return updated === null ? notFound : ok(resellerView(updated));
  },
});

/** The 400 for an address that is none of its network, or that the merchant may not be paid at. */
async function refuseAddress(
  merchantId: string | null,
  address: string,
  network: Network,
  context: ApiContext,
): Promise<Answer | null> {
  const chain = context.chains.get(network);
  const field = "withdrawalAddress";
  if (chain === undefined || !chain.isAddress(address)) {
    return invalidField(field, "Not an address of this network", "invalid_address");
  }
  return await isClosedDestination(merchantId, network, address, context)
    ? invalidField(field, "The address belongs to this service", "own_address")
    : null;
}

/** A reseller as it is shown. */
function resellerView(reseller: ResellerRecord) {
  return {
    ...reseller,
    createdAt: new Date(reseller.createdAt).toISOString(),
    updatedAt: new Date(reseller.updatedAt).toISOString(),
  };
}
