/**
 * Deposit addresses of end customers.
 *
 * @module
 */

import { z } from "zod";
import {
  findDepositAddress,
  listDepositAddresses,
  type ListedAddress,
} from "../../ledger/deposit_addresses.ts";
import { created, ok } from "../http/answer.ts";
import { errorAnswer, notDone } from "../http/errors.ts";
import { identifier, limit, network, page, referenceId } from "../http/fields.ts";
import { heldBack } from "../http/hand_out.ts";
import { pagination } from "../http/paging.ts";
import { keyedRoute } from "../http/route.ts";
import { addressDepositView } from "./address_deposit_view.ts";
import {
  DEPOSIT_ADDRESS_CREATED_EXAMPLE,
  DEPOSIT_ADDRESS_LIST_EXAMPLE,
  depositAddressCreated,
  depositAddressList,
} from "./deposit_address_schema.ts";

/** Rows of a list's page where the request names no limit. */
const LONGEST_PAGE = 1_000;

/** `POST /api/deposit-address`. */
export const createDepositAddress = keyedRoute({
  method: "POST",
  path: "/api/deposit-address",
  summary: "Create the deposit address of an end customer, or refresh its reference",
  description:
    "An address takes every supported token of its network and stays watched for ever. " +
    "The same network and identifier get the same address; a `referenceId` that is supplied " +
    "replaces the one that later deposits carry. Identifiers are compared character by character, " +
    "as they are sent: nothing is trimmed, folded or normalized.",
  access: { scope: "own", anyOf: ["write", "deposit"] },
  needsActiveMerchant: true,
  rateCategory: "deposits",
  body: z.object({ network, identifier, referenceId: referenceId.nullish() }),
  headers: [{
    name: "If-None-Match",
    description: "`*` creates only: where the customer has an address, the answer is 409",
    schema: z.literal("*"),
  }],
  responses: {
    201: {
      description: "The address, new or the one the customer already has",
      schema: depositAddressCreated,
      example: DEPOSIT_ADDRESS_CREATED_EXAMPLE,
    },
  },
  errors: ["deposits_closed_on_network", "address_exists"],
  handler: async ({ merchantId, body, headers, now }, context) => {
    if (!context.chains.has(body.network)) return errorAnswer("deposits_closed_on_network", body);
    const held = await heldBack(context, merchantId);
    if (held !== null) return held;
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
    const { address, walletIndex } = outcome.value;
    const strange = await heldBack(context, merchantId, [{
      network: body.network,
      address,
      walletIndex,
    }]);
    if (strange !== null) return strange;
    return created({
      address,
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
    page: page.default(1),
    limit: limit.default(LONGEST_PAGE),
  }),
  responses: {
    200: {
      description: "Addresses, newest first",
      schema: depositAddressList,
      example: DEPOSIT_ADDRESS_LIST_EXAMPLE,
    },
  },
  handler: async ({ merchantId, query }, context) => {
    const { sql } = context;
    const found = await listDepositAddresses(sql, merchantId, query.network ?? null, query);
    return await heldBack(context, merchantId, found.rows) ?? ok({
      addresses: found.rows.map(addressView),
      pagination: pagination(query, found.total),
    });
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
