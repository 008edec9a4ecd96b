/**
 * Sweeps that ended otherwise than intended, settled or written off by an administrator.
 *
 * @module
 */

import { z } from "zod";
import { type SettleOutcome, settleSweep } from "../../actors/sweeper/settle_sweep.ts";
import { writeOff, type WriteOffOutcome } from "../../actors/sweeper/write_off.ts";
import type { AskerEnded } from "../../actors/watcher/chain_in_doubt.ts";
import { findSweepAddress, SWEEP_REASONS } from "../../ledger/sweeps/sweep_addresses.ts";
import {
  readUnexpectedSweep,
  SWEEP_VERDICTS,
  type SweepVerdict,
} from "../../ledger/sweeps/verdicts.ts";
import { hubAudit, lookAgain, recordRefusal } from "../http/admin_command.ts";
import { type Answer, ok } from "../http/answer.ts";
import { cannotBelieveAs, whyStopped } from "../http/checks.ts";
import { conflict, notFound, unavailable } from "../http/errors.ts";
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { adminRoute } from "../http/route.ts";
import { shown } from "../http/shown.ts";

const reason = eg(z.enum(SWEEP_REASONS), "below_economics");

const unsweptAddress = z.object({
  address: f.address,
  currency: f.currency,
  merchantId: eg(z.string(), f.exampleId("mer")),
  kind: eg(z.enum(["issued", "session", "top_up"]), "issued"),
  reason: reason.meta({ description: "Why it is not swept, for programs" }),
  detail: eg(
    z.string().nullable().meta({ description: "The same for people" }),
    "3 is not more than 4.9",
  ),
  amount: eg(
    f.decimal.nullable().meta({ description: "Amount that waits there, as of the last look" }),
    "3",
  ),
  since: f.timestamp,
  lookAt: f.later.meta({ description: "When it is looked at again" }),
}).meta({ id: "UnsweptAddress" });

/** Amounts that are not swept, with the reason. */
export const sweepsSchema = z.object({
  counts: z.array(z.object({ reason, addresses: eg(z.int().min(1), 1) })).meta({
    description: "All addresses with something to sweep, by reason",
  }),
  addresses: z.array(unsweptAddress).meta({ description: "At most 20 of each reason" }),
}).meta({ id: "Sweeps" });

const settledSweep = z.object({
  success: z.literal(true),
  sweepId: eg(z.string(), f.exampleId("out")),
  verdict: eg(z.enum(SWEEP_VERDICTS), "moved"),
  arrived: eg(
    f.decimal.meta({ description: "Amount that its transaction brought to the hot wallet" }),
    "99",
  ),
  carried: eg(z.int().min(0).meta({ description: "Transfers that count as moved by it" }), 1),
  released: eg(z.int().min(0).meta({ description: "Transfers that wait for another sweep" }), 0),
});

const writtenOff = z.object({
  success: z.literal(true),
  network: f.network,
  address: f.address,
  currency: f.currency,
  amount: eg(f.decimal, "100"),
  transfers: eg(z.int().min(1).meta({ description: "How many are swept no more" }), 1),
});

const SETTLE = "sweep.settle";

export const settleUnexpectedSweep = adminRoute({
  at: "POST /api/admin/sweeps/{sweepId}/settle",
  summary: "Settle a sweep that succeeded without the intended transfer",
  description: "`moved`: something of it reached the hot wallet; it carries what fits into that. " +
    "`nothing_moved`: all of it is still there, and is swept anew. `lost`: it is in neither " +
    "place; what was to be moved stays open. The verdict has to be what the chain shows, and " +
    "is final.",
  anyOf: ["admin:treasury"],
  body: z.strictObject({
    verdict: z.enum(SWEEP_VERDICTS),
    reason: z.string().trim().min(1).max(500),
  }),
  responses: {
    200: { description: "Outcome of the transfers it was to move", schema: settledSweep },
  },
  errors: ["record_not_found", "conflict"],
  handler: async ({ body, ...request }, context) => {
    const { sql, chains, merchants, askTimeoutMs } = context;
    const { sweepId } = request.params;
    const accountable = { ...request, merchantId: null };
    const { verdict, reason } = body;
    const sweep = await readUnexpectedSweep(sql, sweepId);
    if (sweep === null) return notFound;
    const chain = chains.get(sweep.network);
    if (chain === undefined) return unavailable(`${sweep.network} is not configured here.`);
    const audit = hubAudit(accountable, SETTLE, sweepId, context, null, null);
    const { mayStillAsk, refusal } = lookAgain(request);
    const deps = { sql, chain, stopped: whyStopped(context, sweep.network), mayStillAsk };
    const outcome = await settleSweep(deps, sweep, verdict, reason, audit, askTimeoutMs);
    if (outcome.kind === "asker_ended") return refusal();
    if (outcome.kind === "settled") {
      for (const merchantId of outcome.notified) merchants.wake(merchantId);
    } else await recordRefusal(accountable, SETTLE, sweepId, outcome.kind, context);
    return answerToSettled(outcome, sweepId, verdict);
  },
});

function answerToSettled(
  outcome: Exclude<SettleOutcome, AskerEnded>,
  sweepId: string,
  verdict: SweepVerdict,
): Answer {
  switch (outcome.kind) {
    case "settled":
      return ok(shown(settledSweep, { ...outcome, success: true, sweepId, verdict }));
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

const WRITE_OFF = "sweep.write-off";

const newWriteOff = z.strictObject({
  network: f.network,
  address: z.string().min(1).max(128),
  currency: f.currency,
  amount: f.positiveAmount.meta({ description: "Sum of the transfers that are gone" }),
  reason: z.string().trim().min(1).max(500),
});

export const writeOffTransfers = adminRoute({
  at: "POST /api/admin/sweeps/write-off",
  summary: "Write off what is gone from an address without a sweep of ours",
  description: "For an address that waits as `balance_differs`. The oldest transfers that its " +
    "balance does not hold are taken off the list of what is to be swept; nothing is booked, and " +
    "a top-up among them stays unconfirmed. The amount has to be what the chain shows to be " +
    "gone, and it is final.",
  anyOf: ["admin:treasury"],
  body: newWriteOff,
  responses: { 200: { description: "They are written off", schema: writtenOff } },
  errors: ["record_not_found", "conflict"],
  handler: async ({ body, ...request }, context) => {
    const { sql, chains, askTimeoutMs } = context;
    const { amount, reason, network } = body;
    const address = chains.get(network)?.address(body.address) ?? body.address;
    const accountable = { ...request, merchantId: null };
    const target = await findSweepAddress(sql, network, address, body.currency);
    if (target === null) return notFound;
    const chain = chains.get(target.network);
    if (chain === undefined) return unavailable(`${target.network} is not configured here.`);
    const audit = hubAudit(accountable, WRITE_OFF, address, context, null, null);
    const { mayStillAsk, refusal } = lookAgain(request);
    const deps = { sql, chain, stopped: whyStopped(context, target.network), mayStillAsk };
    const outcome = await writeOff(deps, target, amount, reason, audit, askTimeoutMs);
    if (outcome.kind === "asker_ended") return refusal();
    if (outcome.kind !== "written_off") {
      await recordRefusal(accountable, WRITE_OFF, address, outcome.kind, context);
    }
    return answerToWrittenOff(outcome, { ...body, address });
  },
});

function answerToWrittenOff(
  outcome: Exclude<WriteOffOutcome, AskerEnded>,
  body: z.output<typeof newWriteOff>,
): Answer {
  switch (outcome.kind) {
    case "written_off":
      return ok(shown(writtenOff, { ...body, success: true, transfers: outcome.transfers }));
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
