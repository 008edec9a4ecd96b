/**
 * Transfers that are on their address no more, written off by an operator.
 *
 * @module
 */

import { z } from "zod";
import { writeOff, type WriteOffOutcome } from "../../actors/sweeper/write_off.ts";
import { formatAmount } from "../../ledger/money/amount.ts";
import { findTarget } from "../../ledger/sweeps/due_targets.ts";
import { type Answer, ok } from "../http/answer.ts";
import { noteRefusal } from "../http/ask_as_admin.ts";
import { hubAudit } from "../http/audit_stamp.ts";
import { cannotBelieveAs, whyStopped } from "../http/chain_in_doubt.ts";
import { conflict, notFound, unavailable } from "../http/errors.ts";
import { currency, network, positiveAmount } from "../http/fields.ts";
import { staffRoute } from "../http/route.ts";
import { WRITTEN_OFF_EXAMPLE, writtenOff } from "./sweeps_schema.ts";

const ACTION = "sweep.write-off";

const newWriteOff = z.strictObject({
  network,
  address: z.string().min(1).max(128),
  currency,
  amount: positiveAmount.meta({ description: "What the transfers come to that are gone" }),
  reason: z.string().trim().min(1).max(500),
});

/** `POST /api/admin/sweeps/write-off`. */
export const writeOffTransfers = staffRoute({
  method: "POST",
  path: "/api/admin/sweeps/write-off",
  summary: "Write off what is gone from an address without a sweep of ours",
  description: "For an address that waits as `balance_differs`. The oldest transfers that its " +
    "balance does not hold are taken off the list of what is to be swept; nothing is booked, and " +
    "a top-up among them stays unconfirmed. The amount has to be what the chain shows to be " +
    "gone, and it is final.",
  access: { scope: "admin", anyOf: ["admin:treasury"] },
  rateCategory: "none",
  body: newWriteOff,
  responses: {
    200: {
      description: "They are written off",
      schema: writtenOff,
      example: WRITTEN_OFF_EXAMPLE,
    },
  },
  errors: ["record_not_found", "conflict"],
  handler: async ({ body, ...request }, context) => {
    const { sql, chains, askTimeoutMs } = context;
    const { address, amount, reason } = body;
    const accountable = { ...request, merchantId: null };
    const target = await findTarget(sql, body.network, address, body.currency);
    if (target === null) return notFound;
    const chain = chains.get(target.network);
    if (chain === undefined) return unavailable(`${target.network} is not configured here.`);
    const audit = hubAudit(accountable, ACTION, address, context, null, null);
    const deps = { sql, chain, stopped: whyStopped(context, target.network) };
    const outcome = await writeOff(deps, target, amount, reason, audit, askTimeoutMs);
    if (outcome.kind !== "written_off") {
      await noteRefusal(accountable, ACTION, address, outcome.kind, context);
    }
    return answerTo(outcome, body);
  },
});

function answerTo(outcome: WriteOffOutcome, body: z.output<typeof newWriteOff>): Answer {
  switch (outcome.kind) {
    case "written_off":
      return ok({
        success: true,
        network: body.network,
        address: body.address,
        currency: body.currency,
        amount: formatAmount(body.amount),
        transfers: outcome.transfers,
      });
    case "changed":
      return unavailable("Something happened to the address meanwhile; look at it and ask again.");
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
