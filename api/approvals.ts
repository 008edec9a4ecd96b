/**
 * Payouts that wait for an administrator: withdrawals of resellers, large settlements.
 *
 * @module
 */

import { z } from "zod";
import { findSettlementOwner } from "../ledger/admin/find_settlement_owner.ts";
import { findWithdrawalOwner } from "../ledger/admin/find_withdrawal_owner.ts";
import { type Approval, listApprovals } from "../ledger/admin/list_approvals.ts";
import { formatAmount } from "../ledger/amount.ts";
import { ok } from "./answer.ts";
import { askAsAdmin } from "./ask_as_admin.ts";
import { notFound } from "./errors.ts";
import { limit, page } from "./fields.ts";
import { pagination } from "./paging.ts";
import { staffRoute } from "./route.ts";

const ACCESS = { scope: "admin", anyOf: ["admin:write"] } as const;
const noBody = z.strictObject({}).prefault({});
const withReason = z.strictObject({ reason: z.string().trim().min(1).max(500) });
const STATES = "It is in another state, which is named";

/** `GET /api/admin/approvals`. */
export const getApprovals = staffRoute({
  method: "GET",
  path: "/api/admin/approvals",
  summary: "List the payouts that wait for approval, newest first",
  access: { scope: "admin", anyOf: ["admin:read", "admin:write"] },
  rateCategory: "none",
  query: z.object({ page: page.optional(), limit: limit.optional() }),
  responses: { 200: "One page of the queue" },
  handler: async ({ query }, { sql }) => {
    const request = { page: query.page ?? 1, limit: query.limit ?? 20 };
    const found = await listApprovals(sql, request);
    return ok({
      approvals: found.rows.map(approvalView),
      pagination: pagination(request, found.total),
    });
  },
});

function approvalView(row: Approval) {
  return {
    ...row,
    amount: formatAmount(row.amount),
    totalFees: formatAmount(row.totalFees),
    createdAt: new Date(row.createdAt).toISOString(),
  };
}

/** `POST /api/admin/withdrawals/{withdrawalId}/approve`. */
export const approveWithdrawal = staffRoute({
  method: "POST",
  path: "/api/admin/withdrawals/{withdrawalId}/approve",
  summary: "Let a waiting withdrawal go; again changes nothing",
  access: ACCESS,
  rateCategory: "none",
  body: noBody,
  responses: { 200: "It is on its way (or was already)", 404: "No such withdrawal", 409: STATES },
  handler: async (request, context) => {
    const withdrawalId = request.params.withdrawalId ?? "";
    const found = await findWithdrawalOwner(context.sql, withdrawalId);
    if (found === null) return notFound;
    const action = "withdrawal.approve";
    const outcome = await askAsAdmin(request, found.merchantId, action, withdrawalId, {
      type: "approve-withdrawal",
      at: request.now,
      withdrawalId,
    }, context);
    if (outcome.kind === "answer") return outcome.answer;
    return ok({ success: true, withdrawalId, status: outcome.value.status });
  },
});

/** `POST /api/admin/withdrawals/{withdrawalId}/reject`. */
export const rejectWithdrawal = staffRoute({
  method: "POST",
  path: "/api/admin/withdrawals/{withdrawalId}/reject",
  summary: "Turn a waiting withdrawal down: refunded, its reference released",
  access: ACCESS,
  rateCategory: "none",
  body: withReason,
  responses: { 200: "It is cancelled", 404: "No such withdrawal", 409: STATES },
  handler: async (request, context) => {
    const withdrawalId = request.params.withdrawalId ?? "";
    const { newId } = context;
    const found = await findWithdrawalOwner(context.sql, withdrawalId);
    if (found === null) return notFound;
    const action = "withdrawal.reject";
    const outcome = await askAsAdmin(request, found.merchantId, action, withdrawalId, {
      type: "decline-withdrawal",
      at: request.now,
      withdrawalId,
      reason: `Rejected: ${request.body.reason}`,
      chargeIds: [newId("chg"), newId("chg")],
      eventIds: [newId("evt"), newId("evt")],
    }, context);
    if (outcome.kind === "answer") return outcome.answer;
    return ok({ success: true, withdrawalId, status: outcome.value.status });
  },
});

/** `POST /api/admin/settlements/{settlementId}/approve`. */
export const approveSettlement = staffRoute({
  method: "POST",
  path: "/api/admin/settlements/{settlementId}/approve",
  summary: "Let a waiting settlement go; again changes nothing",
  access: ACCESS,
  rateCategory: "none",
  body: noBody,
  responses: { 200: "It is on its way (or was already)", 404: "No such settlement", 409: STATES },
  handler: async (request, context) => {
    const settlementId = request.params.settlementId ?? "";
    const found = await findSettlementOwner(context.sql, settlementId);
    if (found === null) return notFound;
    const { merchantId, withdrawalId } = found;
    const action = "settlement.approve";
    const outcome = await askAsAdmin(request, merchantId, action, settlementId, {
      type: "approve-settlement",
      at: request.now,
      settlementId,
      withdrawalId,
    }, context);
    if (outcome.kind === "answer") return outcome.answer;
    return ok({ success: true, settlementId, status: outcome.value.status });
  },
});

/** `POST /api/admin/settlements/{settlementId}/reject`. */
export const rejectSettlement = staffRoute({
  method: "POST",
  path: "/api/admin/settlements/{settlementId}/reject",
  summary: "Turn a waiting settlement down: refunded",
  access: ACCESS,
  rateCategory: "none",
  body: withReason,
  responses: { 200: "It is rejected", 404: "No such settlement", 409: STATES },
  handler: async (request, context) => {
    const settlementId = request.params.settlementId ?? "";
    const { newId } = context;
    const found = await findSettlementOwner(context.sql, settlementId);
    if (found === null) return notFound;
    const { merchantId, withdrawalId } = found;
    const action = "settlement.reject";
    const outcome = await askAsAdmin(request, merchantId, action, settlementId, {
      type: "decline-settlement",
      at: request.now,
      settlementId,
      withdrawalId,
      to: "REJECTED",
      reason: `Rejected: ${request.body.reason}`,
      chargeIds: [newId("chg"), newId("chg")],
      eventIds: [newId("evt"), newId("evt")],
    }, context);
    if (outcome.kind === "answer") return outcome.answer;
    return ok({ success: true, settlementId, status: outcome.value.status });
  },
});
