/**
 * Settlement addresses, opened and closed by administrators.
 *
 * @module
 */

import { z } from "zod";
import { findSettlementAddressOwner } from "../ledger/admin/find_settlement_address_owner.ts";
import { ok } from "./answer.ts";
import { askAsAdmin } from "./ask_as_admin.ts";
import { notFound } from "./errors.ts";
import { notFoundDoc } from "./openapi/error_catalogue.ts";
import { staffRoute } from "./route.ts";
import {
  SETTLEMENT_ADDRESS_OF_MERCHANT_EXAMPLE,
  settlementAddressOfMerchant,
} from "./schemas/admin.ts";

function activationRoute(verb: "activate" | "deactivate", summary: string) {
  return staffRoute({
    method: "POST",
    path: `/api/admin/settlement-addresses/{addressId}/${verb}`,
    summary,
    access: { scope: "admin", anyOf: ["admin:write"] },
    rateCategory: "none",
    body: z.strictObject({}).prefault({}),
    responses: {
      200: {
        description: "The address as it is now",
        schema: settlementAddressOfMerchant,
        example: SETTLEMENT_ADDRESS_OF_MERCHANT_EXAMPLE,
      },
    },
    errors: [notFoundDoc],
    handler: async (request, context) => {
      const addressId = request.params.addressId ?? "";
      const merchantId = await findSettlementAddressOwner(context.sql, addressId);
      if (merchantId === null) return notFound;
      const action = `settlement-address.${verb}`;
      const outcome = await askAsAdmin(request, merchantId, action, addressId, {
        type: "activate-settlement-address",
        at: request.now,
        addressId,
        active: verb === "activate",
      }, context);
      if (outcome.kind === "answer") return outcome.answer;
      const { id, address, network, label, active, createdAt } = outcome.value;
      return ok({
        id,
        merchantId,
        address,
        network,
        label,
        active,
        createdAt: new Date(createdAt).toISOString(),
      });
    },
  });
}

/** `POST /api/admin/settlement-addresses/{addressId}/activate`. */
export const activateSettlementAddress = activationRoute(
  "activate",
  "Let a merchant settle to a whitelisted address",
);

/** `POST /api/admin/settlement-addresses/{addressId}/deactivate`. */
export const deactivateSettlementAddress = activationRoute(
  "deactivate",
  "Let a merchant no longer settle to a whitelisted address",
);
