/**
 * Payouts that succeeded without the intended transfer, settled by an operator.
 *
 * @module
 */

import { z } from "zod";
import { judgePayout } from "../../actors/treasury/judge_payout.ts";
import { formatAmount } from "../../ledger/money/amount.ts";
import { readUnexpectedPayout } from "../../ledger/treasury/unexpected_payouts.ts";
import { askAsAdmin, recordRefusal } from "../http/admin_command.ts";
import { ok } from "../http/answer.ts";
import { cannotBelieveAs, whyStopped } from "../http/checks.ts";
import { conflict, notFound, unavailable } from "../http/errors.ts";
import { decimal, exampleId } from "../http/formats.ts";
import { staffRoute } from "../http/route.ts";

/** Answer to a verdict on a withdrawal. */
const settledWithdrawal = z.object({
  success: z.literal(true),
  withdrawalId: z.string(),
  verdict: z.enum(["paid", "not_paid"]),
  status: z.enum(["CONFIRMED", "FAILED"]),
  changed: z.boolean().meta({ description: "False where the same verdict was given before" }),
  arrived: decimal.meta({ description: "What the chain shows to have reached the destination" }),
});

/** Example in the reference. */
const SETTLED_WITHDRAWAL_EXAMPLE = {
  success: true,
  withdrawalId: exampleId("wd"),
  verdict: "not_paid",
  status: "FAILED",
  changed: true,
  arrived: "0",
};

const ACTION = "withdrawal.settle";

/** `POST /api/admin/withdrawals/{withdrawalId}/settle`. */
export const settleUnexpectedWithdrawal = staffRoute({
  method: "POST",
  path: "/api/admin/withdrawals/{withdrawalId}/settle",
  summary: "Settle a withdrawal whose transaction succeeded without the intended transfer",
  description: "`paid`: the full amount has reached the destination, by its own transaction or " +
    "together with the one that `txid` names; it is confirmed. `not_paid`: nothing has; it " +
    "fails and is refunded. The verdict has to be what the chain shows, and is final. What " +
    "arrived in part is refused until the rest was sent.",
  access: { scope: "admin", anyOf: ["admin:payments"] },
  rateCategory: "none",
  body: z.strictObject({
    verdict: z.enum(["paid", "not_paid"]),
    reason: z.string().trim().min(1).max(500),
    txid: z.string().min(1).max(128).optional(),
  }),
  responses: {
    200: {
      description: "What became of the withdrawal",
      schema: settledWithdrawal,
      example: SETTLED_WITHDRAWAL_EXAMPLE,
    },
  },
  errors: [
    "record_not_found",
    "conflict",
    "wrong_state",
    "already_sent",
    "payment_used",
  ],
  handler: async ({ body, ...request }, context) => {
    const { sql, chains, askTimeoutMs, newId } = context;
    const withdrawalId = request.params.withdrawalId ?? "";
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
      chargeIds: [newId("chg"), newId("chg")],
      eventIds: [newId("evt"), newId("evt")],
    }, context);
    if (outcome.kind === "answer") return outcome.answer;
    const { status, changed } = outcome.value;
    return ok({
      success: true,
      withdrawalId,
      verdict,
      status,
      changed,
      arrived: formatAmount(arrived),
    });
  },
});
