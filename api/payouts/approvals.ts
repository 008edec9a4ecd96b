/**
 * Payouts that wait for an administrator: withdrawals of resellers, large settlements.
 *
 * @module
 */

import { z } from "zod";
import { type Approval, hasFunded, listApprovals } from "../../ledger/approvals.ts";
import { formatAmount } from "../../ledger/money/amount.ts";
import { findSettlementOwner } from "../../ledger/settlements.ts";
import { findWithdrawalOwner } from "../../ledger/withdrawals.ts";
import { askAsAdmin } from "../http/admin_command.ts";
import { ok } from "../http/answer.ts";
import { notFound } from "../http/errors.ts";
import { limit, page } from "../http/fields.ts";
import {
  address,
  decimal,
  EXAMPLE,
  exampleId,
  id,
  madeBy,
  onePage,
  pagination,
  paginationSchema,
  shownCurrency,
  shownNetwork,
  timestamp,
} from "../http/formats.ts";
import { actorOf } from "../http/permission.ts";
import { staffRoute } from "../http/route.ts";
import { settlementMoved, settlementMovedExample } from "./settlement_schema.ts";
import { withdrawalMoved, withdrawalMovedExample } from "./withdrawal_schema.ts";

/** Answer of the approval queue. */
const approvalPage = z.object({
  approvals: z.array(
    z.object({
      type: z.enum(["withdrawal", "settlement"]),
      id: z.string(),
      merchantId: id("mer"),
      merchantName: z.string(),
      currency: shownCurrency,
      network: shownNetwork,
      amount: decimal,
      totalFees: decimal,
      destination: address,
      status: z.enum(["PENDING_APPROVAL", "APPROVAL_REQUIRED"]),
      createdAt: timestamp,
      createdBy: madeBy,
    }).meta({ id: "Approval" }),
  ),
  pagination: paginationSchema,
});

const APPROVAL_PAGE_EXAMPLE = {
  approvals: [{
    type: "withdrawal",
    id: exampleId("wd"),
    merchantId: exampleId("mer"),
    merchantName: "Example Reseller",
    currency: "USDT",
    network: "TRX",
    amount: "100",
    totalFees: "2",
    destination: EXAMPLE.address,
    status: "PENDING_APPROVAL",
    createdAt: EXAMPLE.time,
    createdBy: exampleId("key"),
  }],
  pagination: onePage(20),
};

const ACCESS = { scope: "admin", anyOf: ["admin:payments"] } as const;
const noBody = z.strictObject({}).prefault({});
const withReason = z.strictObject({ reason: z.string().trim().min(1).max(500) });

/** `GET /api/admin/approvals`. */
export const getApprovals = staffRoute({
  method: "GET",
  path: "/api/admin/approvals",
  summary: "List the payouts that wait for approval, newest first",
  access: { scope: "admin", anyOf: ["admin:read", "admin:write"] },
  rateCategory: "none",
  query: z.object({ page: page.default(1), limit: limit.default(20) }),
  responses: {
    200: {
      description: "One page of the queue",
      schema: approvalPage,
      example: APPROVAL_PAGE_EXAMPLE,
    },
  },
  handler: async ({ query }, { sql }) => {
    const found = await listApprovals(sql, query);
    return ok({
      approvals: found.rows.map(approvalView),
      pagination: pagination(query, found.total),
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
  responses: {
    200: {
      description: "It is on its way (or was already)",
      schema: withdrawalMoved,
      example: withdrawalMovedExample("PENDING"),
    },
  },
  errors: ["record_not_found", "wrong_state", "same_administrator"],
  handler: async (request, context) => {
    const withdrawalId = request.params.withdrawalId ?? "";
    const found = await findWithdrawalOwner(context.sql, withdrawalId);
    if (found === null) return notFound;
    const action = "withdrawal.approve";
    const outcome = await askAsAdmin(request, found.merchantId, action, withdrawalId, {
      type: "approve-withdrawal",
      at: request.now,
      withdrawalId,
      isFundedByApprover: await hasFunded(context.sql, withdrawalId, actorOf(request.caller)),
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
  responses: {
    200: {
      description: "It is cancelled",
      schema: withdrawalMoved,
      example: withdrawalMovedExample("CANCELLED"),
    },
  },
  errors: ["record_not_found", "wrong_state"],
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
  responses: {
    200: {
      description: "It is on its way (or was already)",
      schema: settlementMoved,
      example: settlementMovedExample("PROCESSING"),
    },
  },
  errors: ["record_not_found", "wrong_state", "same_administrator"],
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
      isFundedByApprover: await hasFunded(context.sql, withdrawalId, actorOf(request.caller)),
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
  responses: {
    200: {
      description: "It is rejected",
      schema: settlementMoved,
      example: settlementMovedExample("REJECTED"),
    },
  },
  errors: ["record_not_found", "wrong_state"],
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
