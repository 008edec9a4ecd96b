/**
 * Lasting addresses of end customers, and the merchant's own for topping up.
 *
 * @module
 */

import { z } from "zod";
import type { FreshAddress } from "../../actors/addresses/address_book.ts";
import type { AddressIssued, IssueAddress } from "../../actors/merchant/messages.ts";
import {
  findDepositAddress,
  findTopUpAddress,
  listDepositAddresses,
  type ListedAddress,
} from "../../ledger/deposit_addresses.ts";
import { type Answer, created, ok } from "../http/answer.ts";
import { refuseUnknownMerchant, withheld } from "../http/checks.ts";
import type { ApiContext } from "../http/context.ts";
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
    const { network, identifier } = body;
    const known = () => findDepositAddress(context.sql, merchantId, network, identifier);
    const issued = await issueAddress(
      merchantId,
      {
        kind: "issued",
        at: now,
        network,
        identifier,
        referenceId: body.referenceId ?? null,
        createOnly: headers.get("if-none-match") === "*",
      },
      context,
      known,
    );
    if ("status" in issued) return issued;
    const { address } = issued;
    return created({
      address,
      identifier: `${merchantId}_${identifier}`,
      network,
      networkSymbol: network,
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
    return await withheld(context, merchantId, found.rows) ??
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
    const { sql, chains } = context;
    const { network } = query;
    const refusal = await refuseUnknownMerchant(sql, caller, merchantId);
    if (refusal !== null) return refusal;
    const known = await findTopUpAddress(sql, merchantId, network);
    if (known !== null) {
      return await withheld(context, merchantId, [known]) ??
        ok({ address: known.address, network });
    }
    if (!chains.has(network)) return errorAnswer("deposits_closed_on_network", query);
    const issued = await issueAddress(merchantId, {
      kind: "top_up",
      at: now,
      network,
      identifier: null,
      referenceId: null,
      createOnly: false,
    }, context);
    return "status" in issued ? issued : ok({ address: issued.address, network });
  },
});

/**
 * Issues an address that may be part of an answer.
 *
 * @param find looks for the address that is offered again, so that no fresh one is used for a refresh
 * @returns the answer to give instead where it may not
 */
export async function issueAddress(
  merchantId: string,
  command: Omit<IssueAddress, "type" | "fresh">,
  context: ApiContext,
  find: () => Promise<FreshAddress | null> = () => Promise.resolve(null),
): Promise<AddressIssued | Answer> {
  const { network } = command;
  const refusal = await withheld(context, merchantId);
  if (refusal !== null) return refusal;
  const fresh = await find() ?? await context.addressBook.take(network, merchantId);
  const asked: IssueAddress = { type: "issue-address", ...command, fresh };
  const outcome = await context.merchants.ask(merchantId, asked, context.askTimeoutMs);
  if (outcome.kind !== "done") return notDone(outcome, {});
  const { address, walletIndex } = outcome.value;
  return await withheld(context, merchantId, [{ network, address, walletIndex }]) ?? outcome.value;
}
