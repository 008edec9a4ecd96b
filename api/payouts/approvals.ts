/**
 * Payouts that wait for an administrator: withdrawals of resellers, large settlements.
 *
 * @module
 */

import { z } from "zod";
import { type Approval, hasFunded, listApprovals } from "../../ledger/approvals.ts";
import { findSettlementOwner } from "../../ledger/settlements.ts";
import { findWithdrawalOwner } from "../../ledger/withdrawals.ts";
import { askAsAdmin } from "../http/admin_command.ts";
import { ok } from "../http/answer.ts";
import { endIds } from "../http/context.ts";
import { notFound } from "../http/errors.ts";
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { listed, pageOf, pages } from "../http/list.ts";
import { actorOf } from "../http/permission.ts";
import { adminRoute, READERS } from "../http/route.ts";
import { shown } from "../http/shown.ts";
import { settlementMoved } from "./settlements.ts";
import { withdrawalMoved } from "./withdrawals.ts";

const approval = z.object({
  type: eg(z.enum(["withdrawal", "settlement"]), "withdrawal"),
  id: eg(z.string(), f.exampleId("wd")),
  merchantId: f.id("mer"),
  merchantName: eg(z.string(), "Example Reseller"),
  currency: f.currency,
  network: f.network,
  amount: eg(f.decimal, "100"),
  totalFees: eg(f.decimal, "2"),
  destination: f.address,
  status: eg(z.enum(["PENDING_APPROVAL", "APPROVAL_REQUIRED", "PENDING"]), "PENDING_APPROVAL"),
  createdAt: f.timestamp,
  createdBy: f.madeBy,
  waitsFor: eg(
    z.enum(["approval", "signer_cap"]).meta({
      description:
        "signer_cap: above the signer's cap per transaction; nothing is to be approved, the cap is raised or the payout given up",
    }),
    "approval",
  ),
}).meta({ id: "Approval" });

export const getApprovals = adminRoute({
  at: "GET /api/admin/approvals",
  summary: "List the payouts that wait for a person, newest first",
  anyOf: READERS,
  query: z.object(pages()),
  responses: {
    200: { description: "One page of the queue", schema: pageOf("approvals", approval) },
  },
  handler: async ({ query }, { sql }) => {
    const found = await listApprovals(sql, query);
    return listed("approvals", found, query, (row: Approval) => shown(approval, row));
  },
});

const APPROVE = {
  anyOf: ["admin:payments"],
  body: z.strictObject({}).prefault({}),
  errors: ["record_not_found", "wrong_state", "same_administrator"],
} as const;

const REJECT = {
  anyOf: ["admin:payments"],
  body: z.strictObject({ reason: z.string().trim().min(1).max(500) }),
  errors: ["record_not_found", "wrong_state"],
} as const;

const GONE = "It is on its way (or was already)";

export const approveWithdrawal = adminRoute({
  at: "POST /api/admin/withdrawals/{withdrawalId}/approve",
  summary: "Let a waiting withdrawal go; again changes nothing",
  ...APPROVE,
  responses: { 200: { description: GONE, schema: withdrawalMoved("PENDING") } },
  handler: async (request, context) => {
    const { withdrawalId } = request.params;
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

export const rejectWithdrawal = adminRoute({
  at: "POST /api/admin/withdrawals/{withdrawalId}/reject",
  summary: "Turn a waiting withdrawal down: refunded, its reference released",
  ...REJECT,
  responses: { 200: { description: "It is cancelled", schema: withdrawalMoved("CANCELLED") } },
  handler: async (request, context) => {
    const { withdrawalId } = request.params;
    const found = await findWithdrawalOwner(context.sql, withdrawalId);
    if (found === null) return notFound;
    const action = "withdrawal.reject";
    const outcome = await askAsAdmin(request, found.merchantId, action, withdrawalId, {
      type: "decline-withdrawal",
      at: request.now,
      withdrawalId,
      reason: `Rejected: ${request.body.reason}`,
      ...endIds(context),
    }, context);
    if (outcome.kind === "answer") return outcome.answer;
    return ok({ success: true, withdrawalId, status: outcome.value.status });
  },
});

export const approveSettlement = adminRoute({
  at: "POST /api/admin/settlements/{settlementId}/approve",
  summary: "Let a waiting settlement go; again changes nothing",
  ...APPROVE,
  responses: { 200: { description: GONE, schema: settlementMoved("PROCESSING") } },
  handler: async (request, context) => {
    const { settlementId } = request.params;
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

export const rejectSettlement = adminRoute({
  at: "POST /api/admin/settlements/{settlementId}/reject",
  summary: "Turn a waiting settlement down: refunded",
  ...REJECT,
  responses: { 200: { description: "It is rejected", schema: settlementMoved("REJECTED") } },
  handler: async (request, context) => {
    const { settlementId } = request.params;
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
      ...endIds(context),
    }, context);
    if (outcome.kind === "answer") return outcome.answer;
    return ok({ success: true, settlementId, status: outcome.value.status });
  },
});
