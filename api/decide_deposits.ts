/**
 * Deposits that were booked by hand, decided by an operator.
 *
 * @module
 */

import { z } from "zod";
import { findDepositOwner } from "../ledger/admin/find_deposit_owner.ts";
import { ok } from "./answer.ts";
import { askAsAdmin } from "./ask_as_admin.ts";
import { notFound } from "./errors.ts";
import { notFoundDoc, REFUSALS } from "./openapi/error_catalogue.ts";
import { staffRoute } from "./route.ts";
import { DEPOSIT_DECIDED_EXAMPLE, depositDecided } from "./schemas/admin.ts";

const VERBS = {
  confirm: { to: "CONFIRMED", summary: "Confirm a deposit that was booked by hand" },
  fail: { to: "FAILED", summary: "Fail a deposit that was booked by hand" },
  cancel: { to: "CANCELLED", summary: "Cancel a deposit that was booked by hand" },
} as const;

function decideRoute(verb: keyof typeof VERBS) {
  const { to, summary } = VERBS[verb];
  return staffRoute({
    method: "POST",
    path: `/api/admin/deposits/{depositId}/${verb}`,
    summary,
    access: { scope: "admin", anyOf: ["admin:write"] },
    rateCategory: "none",
    body: z.strictObject({ reason: z.string().trim().min(1).max(500).optional() }).prefault({}),
    responses: {
      200: {
        description: "The deposit's new status",
        schema: depositDecided,
        example: { ...DEPOSIT_DECIDED_EXAMPLE, status: to },
      },
    },
    errors: [notFoundDoc, REFUSALS.not_manual, REFUSALS.wrong_state],
    handler: async (request, context) => {
      const depositId = request.params.depositId ?? "";
      const { newId } = context;
      const merchantId = await findDepositOwner(context.sql, depositId);
      if (merchantId === null) return notFound;
      const outcome = await askAsAdmin(request, merchantId, `deposit.${verb}`, depositId, {
        type: "decide-deposit",
        at: request.now,
        depositId,
        to,
        reason: request.body.reason ?? null,
        chargeIds: [newId("chg"), newId("chg")],
        eventIds: [newId("evt"), newId("evt")],
        ingestion: null,
      }, context);
      if (outcome.kind === "answer") return outcome.answer;
      return ok({ success: true, depositId, status: to });
    },
  });
}

/** `POST /api/admin/deposits/{depositId}/confirm`. */
export const confirmDeposit = decideRoute("confirm");

/** `POST /api/admin/deposits/{depositId}/fail`. */
export const failDeposit = decideRoute("fail");

/** `POST /api/admin/deposits/{depositId}/cancel`. */
export const cancelDeposit = decideRoute("cancel");
