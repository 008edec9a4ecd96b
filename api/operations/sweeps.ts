/**
 * Sweeps that ended otherwise than intended, settled or written off by an administrator.
 *
 * @module
 */

import { z } from "zod";
import { type SettleOutcome, settleSweep } from "../../actors/sweeper/settle_sweep.ts";
import { writeOff, type WriteOffOutcome } from "../../actors/sweeper/write_off.ts";
import { formatAmount } from "../../ledger/money/amount.ts";
import { findSweepAddress, SWEEP_REASONS } from "../../ledger/sweeps/targets.ts";
import {
  readUnexpectedSweep,
  SWEEP_VERDICTS,
  type SweepVerdict,
} from "../../ledger/sweeps/verdicts.ts";
import { hubAudit, recordRefusal } from "../http/admin_command.ts";
import { type Answer, ok } from "../http/answer.ts";
import { cannotBelieveAs, whyStopped } from "../http/checks.ts";
import { conflict, notFound, unavailable } from "../http/errors.ts";
import { currency, network, positiveAmount } from "../http/fields.ts";
import {
  address,
  decimal,
  EXAMPLE,
  exampleId,
  shownCurrency,
  shownNetwork,
  timestamp,
} from "../http/formats.ts";
import { staffRoute } from "../http/route.ts";

const reason = z.enum(SWEEP_REASONS);

/** Amounts that are not swept, with the reason. */
export const sweepsSchema = z.object({
  counts: z.array(z.object({ reason, addresses: z.int().min(1) })).meta({
    description: "All addresses with something to sweep, by reason",
  }),
  addresses: z.array(
    z.object({
      address,
      currency: shownCurrency,
      merchantId: z.string(),
      kind: z.enum(["issued", "session", "top_up"]),
      reason: reason.meta({ description: "Why it is not swept, for programs" }),
      detail: z.string().nullable().meta({ description: "The same for people" }),
      amount: decimal.nullable().meta({ description: "What waits there, as of the last look" }),
      since: timestamp,
      lookAt: timestamp.meta({ description: "When it is looked at again" }),
    }).meta({ id: "UnsweptAddress" }),
  ).meta({ description: "At most 20 of each reason" }),
}).meta({ id: "Sweeps" });

export const SWEEPS_EXAMPLE = {
  counts: [{ reason: "below_economics", addresses: 1 }],
  addresses: [{
    address: EXAMPLE.address,
    currency: "USDT",
    merchantId: exampleId("mer"),
    kind: "issued",
    reason: "below_economics",
    detail: "3 is not more than 4.9",
    amount: "3",
    since: EXAMPLE.time,
    lookAt: EXAMPLE.later,
  }],
};

/** Answer to a verdict on a sweep. */
const settledSweep = z.object({
  success: z.literal(true),
  sweepId: z.string(),
  verdict: z.enum(SWEEP_VERDICTS),
  arrived: decimal.meta({ description: "What its transaction brought to the hot wallet" }),
  carried: z.int().min(0).meta({ description: "Transfers that count as moved by it" }),
  released: z.int().min(0).meta({ description: "Transfers that wait for another sweep" }),
});

const SETTLED_SWEEP_EXAMPLE = {
  success: true,
  sweepId: exampleId("out"),
  verdict: "moved",
  arrived: "99",
  carried: 1,
  released: 0,
};

/** Answer to a write-off. */
const writtenOff = z.object({
  success: z.literal(true),
  network: shownNetwork,
  address,
  currency: shownCurrency,
  amount: decimal,
  transfers: z.int().min(1).meta({ description: "How many are swept no more" }),
});

const WRITTEN_OFF_EXAMPLE = {
  success: true,
  network: "TRX",
  address: EXAMPLE.address,
  currency: "USDT",
  amount: "100",
  transfers: 1,
};

const SETTLE = "sweep.settle";

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
    const audit = hubAudit(accountable, SETTLE, sweepId, context, null, null);
    const deps = { sql, chain, stopped: whyStopped(context, sweep.network) };
    const outcome = await settleSweep(deps, sweep, verdict, reason, audit, askTimeoutMs);
    if (outcome.kind === "settled") {
      for (const merchantId of outcome.told) merchants.wake(merchantId);
    } else await recordRefusal(accountable, SETTLE, sweepId, outcome.kind, context);
    return answerToSettled(outcome, sweepId, verdict);
  },
});

function answerToSettled(outcome: SettleOutcome, sweepId: string, verdict: SweepVerdict): Answer {
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

const WRITE_OFF = "sweep.write-off";

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
    const target = await findSweepAddress(sql, body.network, address, body.currency);
    if (target === null) return notFound;
    const chain = chains.get(target.network);
    if (chain === undefined) return unavailable(`${target.network} is not configured here.`);
    const audit = hubAudit(accountable, WRITE_OFF, address, context, null, null);
    const deps = { sql, chain, stopped: whyStopped(context, target.network) };
    const outcome = await writeOff(deps, target, amount, reason, audit, askTimeoutMs);
    if (outcome.kind !== "written_off") {
      await recordRefusal(accountable, WRITE_OFF, address, outcome.kind, context);
    }
    return answerToWrittenOff(outcome, body);
  },
});

function answerToWrittenOff(outcome: WriteOffOutcome, body: z.output<typeof newWriteOff>): Answer {
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
