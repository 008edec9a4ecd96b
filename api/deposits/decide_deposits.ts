/**
 * Deposits that were booked by hand, decided by an operator.
 *
 * @module
 */

import { z } from "zod";
import { findDepositOwner, listOpenDeposits } from "../../ledger/deposits.ts";
import { ok } from "../http/answer.ts";
import { noteRefusal } from "../http/ask_as_admin.ts";
import { notFound, refused } from "../http/errors.ts";
import { limit, page } from "../http/fields.ts";
import { pagination } from "../http/paging.ts";
import { staffRoute } from "../http/route.ts";
import {
  DEPOSIT_DECIDED_EXAMPLE,
  depositDecided,
  OPEN_DEPOSIT_PAGE_EXAMPLE,
  openDepositPage,
} from "../operations/admin_schema.ts";
import { askToDecideDeposit } from "./ask_to_decide_deposit.ts";
import { depositView } from "./deposits.ts";
import { isTransferOfAnother } from "./is_transfer_of_another.ts";

/** `GET /api/admin/deposits`. */
export const getOpenDeposits = staffRoute({
  method: "GET",
  path: "/api/admin/deposits",
  summary: "List the deposits booked by hand that wait for a decision, newest first",
  access: { scope: "admin", anyOf: ["admin:read", "admin:write"] },
  rateCategory: "none",
  query: z.object({
    page: page.default(1),
    limit: limit.default(20),
    merchantId: z.string().min(1).max(100).optional(),
  }),
  responses: {
    200: {
      description: "One page of what waits",
      schema: openDepositPage,
      example: OPEN_DEPOSIT_PAGE_EXAMPLE,
    },
  },
  handler: async ({ query }, { sql }) => {
    const found = await listOpenDeposits(sql, query.merchantId, query);
    return ok({
      deposits: found.rows.map((row) => ({
        merchantId: row.merchantId,
        ...depositView(row),
        confirmedBy: row.endorsedBy,
      })),
      pagination: pagination(query, found.total),
    });
  },
});

/** What is answered to the first of two administrators. */
const SECOND_NEEDED = "Confirmed by one administrator; another one has to confirm it as well";

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
    access: { scope: "admin", anyOf: ["admin:payments"] },
    rateCategory: "none",
    body: z.strictObject({ reason: z.string().trim().min(1).max(500).optional() }).prefault({}),
    responses: {
      200: {
        description: "The deposit's new status",
        schema: depositDecided,
        example: { ...DEPOSIT_DECIDED_EXAMPLE, status: to },
      },
    },
    errors: verb === "confirm"
      ? [
        "record_not_found",
        "not_manual",
        "wrong_state",
        "transfer_of_another",
        "same_administrator",
      ]
      : ["record_not_found", "not_manual", "wrong_state"],
    handler: async (request, context) => {
      const depositId = request.params.depositId ?? "";
      const { newId } = context;
      const found = await findDepositOwner(context.sql, depositId);
      if (found === null) return notFound;
      const { merchantId, status: from } = found;
      if (verb === "confirm" && await isTransferOfAnother(context, merchantId, depositId)) {
        const accountable = { ...request, merchantId };
        await noteRefusal(
          accountable,
          "deposit.confirm",
          depositId,
          "transfer_of_another",
          context,
        );
        return refused({ code: "transfer_of_another", from, to });
      }
      const outcome = await askToDecideDeposit(request, found, `deposit.${verb}`, {
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
      const status = outcome.value.deposit?.status ?? to;
      return ok({
        success: true,
        depositId,
        status,
        ...(status === to ? {} : { message: SECOND_NEEDED }),
      });
    },
  });
}

/** `POST /api/admin/deposits/{depositId}/confirm`. */
export const confirmDeposit = decideRoute("confirm");

/** `POST /api/admin/deposits/{depositId}/fail`. */
export const failDeposit = decideRoute("fail");

/** `POST /api/admin/deposits/{depositId}/cancel`. */
export const cancelDeposit = decideRoute("cancel");
