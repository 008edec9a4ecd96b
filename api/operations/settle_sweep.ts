/**
 * Sweeps that succeeded without the intended transfer, settled by an operator.
 *
 * @module
 */

import { z } from "zod";
import { type SettleOutcome, settleSweep } from "../../actors/sweeper/settle_sweep.ts";
import { formatAmount } from "../../ledger/money/amount.ts";
import {
  readUnexpectedSweep,
  SWEEP_VERDICTS,
  type SweepVerdict,
} from "../../ledger/sweeps/write_verdict.ts";
import { type Answer, ok } from "../http/answer.ts";
import { noteRefusal } from "../http/ask_as_admin.ts";
import { hubAudit } from "../http/audit_stamp.ts";
import { cannotBelieveAs, whyStopped } from "../http/chain_in_doubt.ts";
import { conflict, notFound, unavailable } from "../http/errors.ts";
import { staffRoute } from "../http/route.ts";
import { SETTLED_SWEEP_EXAMPLE, settledSweep } from "./sweeps_schema.ts";

const ACTION = "sweep.settle";

/** `POST /api/admin/sweeps/{sweepId}/settle`. */
export const settleUnexpectedSweep = staffRoute({
  method: "POST",
  path: "/api/admin/sweeps/{sweepId}/settle",
  summary: "Settle a sweep that succeeded without the intended transfer",
  description: "`moved`: something of it reached the hot wallet; it carries what fits into that. " +
    "`nothing_moved`: all of it is still there, and is swept anew. `lost`: it is in neither " +
    "place; what was to be moved stays open. The verdict has to be what the chain shows, and " +
    "is final.",
  access: { scope: "admin", anyOf: ["admin:treasury"] },
  rateCategory: "none",
  body: z.strictObject({
    verdict: z.enum(SWEEP_VERDICTS),
    reason: z.string().trim().min(1).max(500),
  }),
  responses: {
    200: {
      description: "What became of the transfers it was to move",
      schema: settledSweep,
      example: SETTLED_SWEEP_EXAMPLE,
    },
  },
  errors: ["record_not_found", "conflict"],
  handler: async ({ body, ...request }, context) => {
    const { sql, chains, merchants, askTimeoutMs } = context;
    const sweepId = request.params.sweepId ?? "";
    const accountable = { ...request, merchantId: null };
    const { verdict, reason } = body;
    const sweep = await readUnexpectedSweep(sql, sweepId);
    if (sweep === null) return notFound;
    const chain = chains.get(sweep.network);
    if (chain === undefined) return unavailable(`${sweep.network} is not configured here.`);
    const audit = hubAudit(accountable, ACTION, sweepId, context, null, null);
    const deps = { sql, chain, stopped: whyStopped(context, sweep.network) };
    const outcome = await settleSweep(deps, sweep, verdict, reason, audit, askTimeoutMs);
    if (outcome.kind === "settled") {
      for (const merchantId of outcome.told) merchants.wake(merchantId);
    } else await noteRefusal(accountable, ACTION, sweepId, outcome.kind, context);
    return answerTo(outcome, sweepId, verdict);
  },
});

function answerTo(outcome: SettleOutcome, sweepId: string, verdict: SweepVerdict): Answer {
  switch (outcome.kind) {
    case "settled": {
      const { carried, released } = outcome;
      const arrived = formatAmount(outcome.arrived);
      return ok({ success: true, sweepId, verdict, arrived, carried, released });
    }
    case "settled_before":
      return conflict("It was settled before.");
    case "unread":
      return unavailable("No node shows what the transaction did; ask again.");
    case "not_so":
      return conflict(outcome.why);
    case "in_doubt":
      return cannotBelieveAs(outcome);
    default: {
      const never: never = outcome;
      return never;
    }
  }
}
