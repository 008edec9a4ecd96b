/**
 * Inbox rows that were quarantined, as operators see them.
 *
 * @module
 */

import { z } from "zod";
import { judgeDiscard } from "../../actors/watcher/judge_discard.ts";
import {
  acknowledgeQuarantined,
  listQuarantine,
  QUARANTINE_KINDS,
  type QuarantineOutcome,
  retryQuarantined,
} from "../../ledger/quarantine.ts";
import { readAwaitedProof } from "../../ledger/watcher/deposit_proofs.ts";
import { discardAwaitedProof } from "../../ledger/watcher/contested_transfers.ts";
import { recordRefusal, settingsAudit } from "../http/admin_command.ts";
import { type Answer, ok } from "../http/answer.ts";
import { conflict, notFound, unavailable } from "../http/errors.ts";
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { listed, pageOf, pages } from "../http/list.ts";
import { adminRoute, READERS } from "../http/route.ts";
import { shown } from "../http/shown.ts";

const quarantinedRow = z.object({
  merchantId: f.id("mer"),
  network: f.network,
  txid: eg(z.string().meta({ description: "Of a margin: the payment that earned it" }), f.TX_HASH),
  logIndex: eg(z.int(), -1),
  phase: eg(z.string(), "outcome"),
  reason: eg(
    z.string().meta({
      description:
        "Begins with bug, unreadable, unexpected, unclaimed, claimed, unproven, misdirected or renamed",
    }),
    "unexpected: the transaction succeeded without the transfer",
  ),
  data: eg(
    z.record(z.string(), z.unknown()).meta({ description: "The chain's report, as it was read" }),
    { withdrawalId: f.exampleId("wd"), result: "unexpected" },
  ),
  createdAt: f.timestamp,
}).meta({ id: "QuarantinedRow" });

const PATH = "/api/admin/inbox";
const WRITE = ["admin:treasury"] as const;

const quarantineKey = {
  merchantId: z.string().min(1).max(100),
  network: f.network,
  txid: z.string().min(1).max(100),
  logIndex: z.int().min(-1).max(1_000_000),
  phase: z.enum(["seen", "solid", "vanished", "submitted", "outcome", "margin", "swept"]),
};
const reason = z.string().trim().min(1).max(200);
const DECIDED = {
  200: { description: "Done", schema: z.object({ success: z.literal(true) }) },
};

export const getQuarantine = adminRoute({
  at: `GET ${PATH}`,
  summary: "List what the chain said and a merchant's books could not take, oldest first",
  anyOf: READERS,
  query: z.object({
    ...pages(),
    kind: z.enum(QUARANTINE_KINDS).optional(),
    network: f.network.optional(),
    merchantId: quarantineKey.merchantId.optional(),
  }),
  responses: {
    200: {
      description: "One page of rows that were quarantined",
      schema: pageOf("rows", quarantinedRow),
    },
  },
  handler: async ({ query }, { sql }) => {
    const found = await listQuarantine(sql, query, query);
    return listed("rows", found, query, (row) => shown(quarantinedRow, row));
  },
});

export const retryInboxRow = adminRoute({
  at: `POST ${PATH}/retry`,
  summary: "Give a row back to its merchant that a fault of the service quarantined",
  anyOf: WRITE,
  body: z.strictObject(quarantineKey),
  responses: DECIDED,
  errors: ["record_not_found", "conflict"],
  handler: async ({ body, ...request }, context) => {
    const audit = settingsAudit(request, "inbox.retry", subjectOf(body), context);
    const line = { ...audit, merchantId: body.merchantId };
    const outcome = await retryQuarantined(context.sql, body, line);
    if (outcome === "done") context.merchants.wake(body.merchantId);
    return answerTo(outcome, "It waits for something else and is given back by that.");
  },
});

export const acknowledgeInboxRow = adminRoute({
  at: `POST ${PATH}/acknowledge`,
  summary:
    "Take a row off the list that was dealt with by hand; never one that is still to be booked",
  anyOf: WRITE,
  body: z.strictObject({ ...quarantineKey, reason }),
  responses: DECIDED,
  errors: ["record_not_found", "conflict"],
  handler: async ({ body, ...request }, context) => {
    const { reason, ...row } = body;
    const audit = settingsAudit(request, "inbox.acknowledge", subjectOf(row), context);
    const line = { ...audit, merchantId: row.merchantId };
    const outcome = await acknowledgeQuarantined(context.sql, row, reason, line);
    return answerTo(outcome, "It brings money or waits for something; it cannot be waved away.");
  },
});

/** A row as the audit names it. */
function subjectOf(
  row: { readonly [field in "network" | "txid" | "logIndex" | "phase"]: unknown },
) {
  return `${row.network}/${row.txid}/${row.logIndex}/${row.phase}`;
}

function answerTo(outcome: QuarantineOutcome, why: string): Answer {
  switch (outcome) {
    case "done":
      return ok({ success: true });
    case "not_found":
      return notFound;
    case "not_so":
      return conflict(why);
    case "needs_verdict":
      return conflict(
        "Its merchant's money is held until somebody says what the transaction did: " +
          "deno task admin withdrawals settle <withdrawal> paid|not_paid --reason TEXT",
      );
    default: {
      const never: never = outcome;
      return never;
    }
  }
}

const ACTION = "inbox.discard";

export const discardInboxRow = adminRoute({
  at: "POST /api/admin/inbox/discard",
  summary: "Discard a large transfer that a second node disputes, as there is no such transfer",
  description:
    "Refused unless the configured nodes and a second one have the same block without it. " +
    "Its deposit fails. Whatever reads the transfer once more has it wait for its proof again.",
  anyOf: ["admin:treasury"],
  body: z.strictObject({ ...quarantineKey, phase: z.literal("solid"), reason }),
  responses: DECIDED,
  errors: ["record_not_found", "conflict"],
  handler: async ({ body, ...request }, context) => {
    const { reason, ...row } = body;
    const { sql, chains, treasury, askTimeoutMs } = context;
    const { network, merchantId } = row;
    const transfer = await readAwaitedProof(sql, row);
    if (transfer === null) return notFound;
    if (!transfer.isContested) {
      return conflict("No second node disputes it: it waits for its proof.");
    }
    const chain = chains.get(network);
    if (chain === undefined) return unavailable(`${network} is not configured here.`);
    const nodes = treasury(network).policy?.second?.nodes ?? [];
    const judged = await judgeDiscard({ chain, nodes }, transfer, request.now, askTimeoutMs);
    if (judged.kind !== "absent") {
      await recordRefusal({ ...request, merchantId }, ACTION, subjectOf(row), judged.kind, context);
    }
    if (judged.kind === "not_so") return conflict(judged.why);
    if (judged.kind === "unread") return unavailable(judged.why);
    // nodes had their time, in which a key may be revoked
    const refusal = await request.refusalByNow();
    if (refusal !== null) return refusal;
    const audit = settingsAudit(request, ACTION, subjectOf(row), context);
    const line = { ...audit, merchantId };
    if (!await discardAwaitedProof(sql, network, transfer, judged.evidence, reason, line)) {
      return conflict("It was proven or read differently meanwhile; look at it again.");
    }
    context.merchants.wake(merchantId);
    return ok({ success: true });
  },
});
