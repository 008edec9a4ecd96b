/**
 * Deposit addresses of end customers.
 *
 * @module
 */

import { z } from "zod";
import { findDepositAddress } from "../ledger/queries/find_deposit_address.ts";
import {
  listDepositAddresses,
  type ListedAddress,
} from "../ledger/queries/list_deposit_addresses.ts";
import { addressDepositView } from "./address_deposit_view.ts";
import { created, ok } from "./answer.ts";
import { depositsNotSupported, notDone } from "./errors.ts";
import { identifier, limit, network, page, referenceId } from "./fields.ts";
import { keyedRoute } from "./route.ts";

/** Addresses of a list without paging. */
const NEWEST = 1_000;

/** `POST /api/deposit-address`. */
export const createDepositAddress = keyedRoute({
  method: "POST",
  path: "/api/deposit-address",
  summary: "Create the deposit address of an end customer, or refresh its reference",
  access: { scope: "own", anyOf: ["write"] },
  needsActiveMerchant: true,
  rateCategory: "deposits",
  body: z.object({ network, identifier, referenceId: referenceId.nullish() }),
  responses: {
    201: "The address, new or the one the customer already has",
    409: "Deposit address already exists (only with If-None-Match: *)",
  },
  handler: async ({ merchantId, body, headers, now }, context) => {
    if (!context.chains.has(body.network)) return depositsNotSupported(body.network);
    const known = await findDepositAddress(context.sql, merchantId, body.network, body.identifier);
    const outcome = await context.merchants.ask(merchantId, {
      type: "issue-address",
      kind: "issued",
      at: now,
      network: body.network,
      identifier: body.identifier,
      referenceId: body.referenceId ?? null,
      createOnly: headers.get("if-none-match") === "*",
      // An address that exists is offered again, so that no fresh one is spent on a refresh.
      fresh: known ?? await context.addressBook.take(body.network, merchantId),
    }, context.askTimeoutMs);
    if (outcome.kind !== "done") return notDone(outcome, {});
    return created({
      address: outcome.value.address,
      identifier: `${merchantId}_${body.identifier}`,
      network: body.network,
      networkSymbol: body.network,
      ...(typeof body.referenceId === "string" ? { referenceId: body.referenceId } : {}),
    });
  },
});

/** `GET /api/deposit-address`. */
export const getDepositAddresses = keyedRoute({
  method: "GET",
  path: "/api/deposit-address",
  summary: "List deposit addresses with their newest deposits",
  access: { scope: "own", anyOf: ["read"] },
  rateCategory: "transactions",
  query: z.object({
    network: network.optional(),
    page: page.optional(),
    limit: limit.optional(),
  }),
  responses: { 200: "Addresses, newest first" },
  handler: async ({ merchantId, query }, { sql }) => {
    const isPaged = query.page !== undefined || query.limit !== undefined;
    const size = query.limit ?? (isPaged ? 100 : NEWEST);
    const found = await listDepositAddresses(
      sql,
      merchantId,
      query.network ?? null,
      ((query.page ?? 1) - 1) * size,
      size,
    );
    return ok({ addresses: found.map(addressView) });
  },
});

function addressView(row: ListedAddress) {
  return {
    id: row.id,
    address: row.address,
    networkSymbol: row.network,
    createdAt: new Date(row.createdAt).toISOString(),
    deposits: row.deposits.map(addressDepositView),
  };
}
