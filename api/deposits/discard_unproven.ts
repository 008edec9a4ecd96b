/**
 * Large transfers that a second node disputes and that are none: an operator's verdict, which the
 * nodes have to bear out.
 *
 * @module
 */

import { z } from "zod";
import { judgeDiscard } from "../../actors/watcher/judge_discard.ts";
import { readUnproven } from "../../ledger/watcher/deposit_proofs.ts";
import { discardUnproven } from "../../ledger/watcher/discard_unproven.ts";
import { ok } from "../http/answer.ts";
import { asideKey, subjectOf } from "../operations/aside.ts";
import { noteRefusal } from "../http/ask_as_admin.ts";
import { settingsAudit } from "../http/audit_stamp.ts";
import { conflict, notFound, unavailable } from "../http/errors.ts";
import { staffRoute } from "../http/route.ts";
import { ASIDE_DECIDED_EXAMPLE, asideDecided } from "../operations/aside_schema.ts";

const ACTION = "inbox.discard";

/** `POST /api/admin/inbox/discard`. */
export const discardInboxRow = staffRoute({
  method: "POST",
  path: "/api/admin/inbox/discard",
  summary: "Discard a large transfer that a second node disputes, as there is no such transfer",
  description:
    "Refused unless the configured nodes and a second one have the same block without it. " +
    "Its deposit fails. Whatever reads the transfer once more has it wait for its proof again.",
  access: { scope: "admin", anyOf: ["admin:treasury"] },
  rateCategory: "none",
  body: z.strictObject({
    ...asideKey,
    phase: z.literal("solid"),
    reason: z.string().trim().min(1).max(200),
  }),
  responses: {
    200: { description: "Done", schema: asideDecided, example: ASIDE_DECIDED_EXAMPLE },
  },
  errors: ["record_not_found", "conflict"],
  handler: async ({ body, ...request }, context) => {
    const { reason, ...row } = body;
    const { sql, chains, treasury, askTimeoutMs } = context;
    const { network, merchantId } = row;
    const transfer = await readUnproven(sql, row);
    if (transfer === null) return notFound;
    if (!transfer.isContested) {
      return conflict("No second node disputes it: it waits for its proof.");
    }
    const chain = chains.get(network);
    if (chain === undefined) return unavailable(`${network} is not configured here.`);
    const nodes = treasury(network).policy?.second?.nodes ?? [];
    const judged = await judgeDiscard({ chain, nodes }, transfer, request.now, askTimeoutMs);
    if (judged.kind !== "absent") {
      await noteRefusal({ ...request, merchantId }, ACTION, subjectOf(row), judged.kind, context);
    }
    if (judged.kind === "not_so") return conflict(judged.why);
    if (judged.kind === "unread") return unavailable(judged.why);
    const audit = settingsAudit(request, ACTION, subjectOf(row), context);
    const line = { ...audit, merchantId };
    if (!await discardUnproven(sql, network, transfer, judged.evidence, reason, line)) {
      return conflict("It was proven or read differently meanwhile; look at it again.");
    }
    context.merchants.wake(merchantId);
    return ok({ success: true });
  },
});
