/**
 * Payouts that succeeded without the intended transfer, settled by an operator.
 *
 * @module
 */

import { z } from "zod";
import { judgePayout } from "../../actors/treasury/judge_payout.ts";
import { readUnexpectedPayout } from "../../ledger/treasury/unexpected_payouts.ts";
import { askAsAdmin, recordRefusal } from "../http/admin_command.ts";
import { ok } from "../http/answer.ts";
import { cannotBelieveAs, whyStopped } from "../http/checks.ts";
import { endIds } from "../http/context.ts";
import { conflict, notFound, unavailable } from "../http/errors.ts";
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { adminRoute } from "../http/route.ts";
import { shown } from "../http/shown.ts";

const settledWithdrawal = z.object({
  success: z.literal(true),
  withdrawalId: eg(z.string(), f.exampleId("wd")),
  verdict: eg(z.enum(["paid", "not_paid"]), "not_paid"),
  status: eg(z.enum(["CONFIRMED", "FAILED"]), "FAILED"),
  changed: eg(
    z.boolean().meta({ description: "False where the same verdict was given before" }),
    true,
  ),
  arrived: eg(
    f.decimal.meta({ description: "Amount that reached the destination, as the chain shows it" }),
    "0",
  ),
});

const ACTION = "withdrawal.settle";

export const settleUnexpectedWithdrawal = adminRoute({
  at: "POST /api/admin/withdrawals/{withdrawalId}/settle",
  summary: "Settle a withdrawal whose transaction succeeded without the intended transfer",
  description: "`paid`: the full amount has reached the destination, by its own transaction or " +
    "together with the one that `txid` names; it is confirmed. `not_paid`: nothing has; it " +
    "fails and is refunded. The verdict has to be what the chain shows, and is final. What " +
    "arrived in part is refused until the rest was sent.",
  anyOf: ["admin:payments"],
  body: z.strictObject({
    verdict: z.enum(["paid", "not_paid"]),
    reason: z.string().trim().min(1).max(500),
    txid: z.string().min(1).max(128).optional(),
  }),
  responses: { 200: { description: "Outcome of the withdrawal", schema: settledWithdrawal } },
  errors: ["record_not_found", "conflict", "wrong_state", "already_sent", "payment_used"],
  handler: async ({ body, ...request }, context) => {
    const { sql, chains, askTimeoutMs } = context;
    const { withdrawalId } = request.params;
    const { verdict, reason } = body;
    const payout = await readUnexpectedPayout(sql, withdrawalId);
    if (payout === null) return notFound;
    const { merchantId, network, settlementId, txid, height, quarantined } = payout;
    const chain = chains.get(network);
    if (chain === undefined) return unavailable(`${network} is not configured here.`);
    const deps = { sql, chain, stopped: whyStopped(context, network) };
    const claim = { verdict, txid: body.txid ?? null };
    const judged = await judgePayout(deps, payout, claim, askTimeoutMs);
    if (judged.kind !== "so") {
      const accountable = { ...request, merchantId };
      await recordRefusal(accountable, ACTION, withdrawalId, judged.kind, context);
    }
    switch (judged.kind) {
      case "unread":
        return unavailable("No node shows what the transaction did; ask again.");
      case "not_so":
        return conflict(judged.why);
      case "in_doubt":
        return cannotBelieveAs(judged);
      case "so":
        break;
      default: {
        const never: never = judged;
        return never;
      }
    }
    const { arrived, paidBy } = judged;
    const outcome = await askAsAdmin(request, merchantId, ACTION, withdrawalId, {
      type: "settle-withdrawal",
      at: request.now,
      withdrawalId,
      settlementId,
      network,
      verdict,
      reason,
      arrived,
      txid,
      height,
      paidBy,
      quarantined,
      ...endIds(context),
    }, context);
    if (outcome.kind === "answer") return outcome.answer;
    const { status, changed } = outcome.value;
    const record = { success: true as const, withdrawalId, verdict, status, changed, arrived };
    return ok(shown(settledWithdrawal, record));
  },
});
