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
import { created, ok } from "../http/answer.ts";
import { heldBack, refuseUnknownMerchant } from "../http/checks.ts";
import { errorAnswer, notDone } from "../http/errors.ts";
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { listed, pageOf, pages } from "../http/list.ts";
import { route } from "../http/route.ts";
import { shown } from "../http/shown.ts";
import { shortDeposit } from "./deposits.ts";

/** As stored: the merchant's id, an underscore, the merchant's own name for its customer. */
export const storedIdentifier = eg(z.string().min(1), `${f.exampleId("mer")}_customer-7`).meta({
  description: "`<merchant_id>_<identifier>`",
  examples: [`${f.exampleId("mer")}_customer-7`],
});

const depositAddressCreated = z.object({
  address: f.address,
  identifier: storedIdentifier,
  network: f.network,
  networkSymbol: f.network.meta({ description: "The same as network" }),
  referenceId: eg(
    z.string().optional().meta({ description: "Echoed only when supplied" }),
    "order-1001",
  ),
}).meta({ id: "DepositAddressCreated" });

const depositAddress = z.object({
  id: f.id("adr"),
  address: f.address,
  networkSymbol: f.network,
  createdAt: f.timestamp,
  deposits: z.array(shortDeposit).meta({ description: "The newest 10" }),
}).meta({ id: "DepositAddress" });

const topUpAddress = z.object({ address: f.address, network: f.network });

/** Rows of a list's page where the request names no limit. */
const LONGEST_PAGE = 1_000;

export const createDepositAddress = route({
  at: "POST /api/deposit-address",
  summary: "Create the deposit address of an end customer, or refresh its reference",
  description:
    "An address takes every supported token of its network and stays watched for ever. " +
    "The same network and identifier get the same address; a `referenceId` that is supplied " +
    "replaces the one that later deposits carry. Identifiers are compared character by character, " +
    "as they are sent: nothing is trimmed, folded or normalized.",
  access: { scope: "own", anyOf: ["write", "deposit"] },
  needsActiveMerchant: true,
  rateCategory: "deposits",
  body: z.object({
    network: f.network,
    identifier: f.identifier,
    referenceId: f.referenceId.nullish(),
  }),
  headers: [{
    name: "If-None-Match",
    description: "`*` creates only: where the customer has an address, the answer is 409",
    schema: z.literal("*"),
  }],
  responses: {
    201: {
      description: "The address, new or the one the customer already has",
      schema: depositAddressCreated,
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

export const getDepositAddresses = route({
  at: "GET /api/deposit-address",
  summary: "List deposit addresses with their newest deposits",
  access: { scope: "own", anyOf: ["read"] },
  rateCategory: "transactions",
  query: z.object({ network: f.network.optional(), ...pages(LONGEST_PAGE) }),
  responses: {
    200: {
      description: "Addresses, newest first",
      schema: pageOf("addresses", depositAddress, LONGEST_PAGE),
    },
  },
  handler: async ({ merchantId, query }, context) => {
    const found = await listDepositAddresses(context.sql, merchantId, query.network ?? null, query);
    return await heldBack(context, merchantId, found.rows) ??
      listed("addresses", found, query, addressView);
  },
});

function addressView(row: ListedAddress) {
  return shown(depositAddress, { ...row, networkSymbol: row.network });
}

export const getTopUpAddress = route({
  at: "GET /api/merchants/{merchantId}/top-up-address",
  summary: "The merchant's own top-up address, made on first use",
  access: { scope: "named", anyOf: ["read"], adminAnyOf: ["admin:read", "admin:write"] },
  rateCategory: "transactions",
  query: z.object({ network: f.network }),
  responses: { 200: { description: "The address, the same every time", schema: topUpAddress } },
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
