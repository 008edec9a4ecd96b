/**
 * Lasting addresses of end customers, and the merchant's own for topping up.
 *
 * @module
 */

import { z } from "zod";
import {
  findDepositAddress,
  findTopUpAddress,
  listDepositAddresses,
  type ListedAddress,
} from "../../ledger/deposit_addresses.ts";
import type { AddressDeposit } from "../../ledger/deposits.ts";
import { formatAmount } from "../../ledger/money/amount.ts";
import { created, ok } from "../http/answer.ts";
import { heldBack, refuseUnknownMerchant } from "../http/checks.ts";
import { errorAnswer, notDone } from "../http/errors.ts";
import { identifier, limit, network, page, referenceId } from "../http/fields.ts";
import {
  address,
  EXAMPLE,
  exampleId,
  id,
  onePage,
  pagination,
  paginationSchema,
  shownNetwork,
  timestamp,
} from "../http/formats.ts";
import { keyedRoute } from "../http/route.ts";
import { SHORT_DEPOSIT_EXAMPLE, shortDeposit } from "./deposits.ts";

/** As stored: the merchant's id, an underscore, what the merchant calls its customer. */
export const storedIdentifier = z.string().min(1).meta({
  description: "`<merchant_id>_<identifier>`",
  examples: [`${exampleId("mer")}_customer-7`],
});

/** Answer to a new or refreshed address. */
const depositAddressCreated = z.object({
  address,
  identifier: storedIdentifier,
  network: shownNetwork,
  networkSymbol: shownNetwork.meta({ description: "The same as network" }),
  referenceId: z.string().optional().meta({ description: "Echoed only when supplied" }),
}).meta({ id: "DepositAddressCreated" });

/** Answer of the list. */
const depositAddressList = z.object({
  addresses: z.array(
    z.object({
      id: id("adr"),
      address,
      networkSymbol: shownNetwork,
      createdAt: timestamp,
      deposits: z.array(shortDeposit).meta({ description: "The newest 10" }),
    }).meta({ id: "DepositAddress" }),
  ),
  pagination: paginationSchema,
});

const DEPOSIT_ADDRESS_CREATED_EXAMPLE = {
  address: EXAMPLE.address,
  identifier: `${exampleId("mer")}_customer-7`,
  network: "TRX",
  networkSymbol: "TRX",
  referenceId: "order-1001",
};

const DEPOSIT_ADDRESS_LIST_EXAMPLE = {
  addresses: [{
    id: exampleId("adr"),
    address: EXAMPLE.address,
    networkSymbol: "TRX",
    createdAt: EXAMPLE.time,
    deposits: [SHORT_DEPOSIT_EXAMPLE],
  }],
  pagination: onePage(1_000),
};

/** Answer of the merchant's own top-up address. */
const topUpAddress = z.object({ address, network: shownNetwork });

const TOP_UP_ADDRESS_EXAMPLE = { address: EXAMPLE.address, network: "TRX" };

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

/** A deposit as it is shown in the list of its address. */
export function addressDepositView(deposit: AddressDeposit) {
  return {
    id: deposit.id,
    amount: formatAmount(deposit.amount),
    currency: deposit.currency,
    status: deposit.status,
    createdAt: new Date(deposit.createdAt).toISOString(),
  };
}

/** `GET /api/merchants/{merchantId}/top-up-address`. */
export const getTopUpAddress = keyedRoute({
  method: "GET",
  path: "/api/merchants/{merchantId}/top-up-address",
  summary: "The merchant's own top-up address, made on first use",
  access: { scope: "named", anyOf: ["read"], adminAnyOf: ["admin:read", "admin:write"] },
  rateCategory: "transactions",
  query: z.object({ network }),
  responses: {
    200: {
      description: "The address, the same every time",
      schema: topUpAddress,
      example: TOP_UP_ADDRESS_EXAMPLE,
    },
  },
  errors: ["record_not_found", "deposits_closed_on_network", "merchant_not_active"],
  handler: async ({ caller, merchantId, query, now }, context) => {
    const { sql, chains, addressBook } = context;
    const refusal = await refuseUnknownMerchant(sql, caller, merchantId);
    if (refusal !== null) return refusal;
    const known = await findTopUpAddress(sql, merchantId, query.network);
    if (known !== null) {
      return await heldBack(context, merchantId, [known]) ??
        ok({ address: known.address, network: query.network });
    }
    if (!chains.has(query.network)) return errorAnswer("deposits_closed_on_network", query);
    const held = await heldBack(context, merchantId);
    if (held !== null) return held;
    const outcome = await context.merchants.ask(merchantId, {
      type: "issue-address",
      kind: "top_up",
      at: now,
      network: query.network,
      identifier: null,
      referenceId: null,
      createOnly: false,
      fresh: await addressBook.take(query.network, merchantId),
    }, context.askTimeoutMs);
    if (outcome.kind !== "done") return notDone(outcome, {});
    const { address, walletIndex } = outcome.value;
    return await heldBack(context, merchantId, [{
      network: query.network,
      address,
      walletIndex,
    }]) ??
      ok({ address, network: query.network });
  },
});
