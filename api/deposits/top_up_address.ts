/**
 * The address with which a merchant fills up its own balance.
 *
 * @module
 */

import { z } from "zod";
import { findTopUpAddress } from "../../ledger/deposit_addresses.ts";
import { ok } from "../http/answer.ts";
import { errorAnswer, notDone } from "../http/errors.ts";
import { network } from "../http/fields.ts";
import { heldBack } from "../http/hand_out.ts";
import { refuseUnknown } from "../http/refuse_unknown.ts";
import { keyedRoute } from "../http/route.ts";
import { TOP_UP_ADDRESS_EXAMPLE, topUpAddress } from "./deposit_address_schema.ts";

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
    const refusal = await refuseUnknown(sql, caller, merchantId);
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
