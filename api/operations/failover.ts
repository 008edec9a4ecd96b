/**
 * A change of the database's history, as operators see it: what payouts wait for, what was lost, and
 * what left wallets of ours unknown to the books.
 *
 * @module
 */

import { z } from "zod";
import { readSigningStop } from "../../ledger/failover/signing_stop.ts";
import { listHolds, listLost, listUndecided } from "../../ledger/failover/list_failovers.ts";
import { declareFailover, endHolds } from "../../ledger/failover/verdicts.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { ok } from "../http/answer.ts";
import { noteRefusal } from "../http/ask_as_admin.ts";
import { hubAudit } from "../http/audit_stamp.ts";
import { conflict } from "../http/errors.ts";
import { staffRoute } from "../http/route.ts";
import { FAILOVER_EXAMPLE, failoverDone, failoverView } from "./failover_schema.ts";

/** Holds that are shown. */
const HOLDS = 20;
/** Derivation indexes that a declared change jumps over where nothing else is set. */
const DEFAULT_GAP = 1_000;

const reason = z.string().trim().min(1).max(500);

/** `GET /api/admin/failover`. */
export const getFailover = staffRoute({
  method: "GET",
  path: "/api/admin/failover",
  summary: "What payouts wait for since the database's history has changed, and what was lost",
  access: { scope: "admin", anyOf: ["admin:read"] },
  rateCategory: "none",
  responses: {
    200: { description: "How it stands", schema: failoverView, example: FAILOVER_EXAMPLE },
  },
  handler: async (_request, { sql, chains }) => {
    const stops: { network: Network; reason: string }[] = [];
    for (const network of chains.keys()) {
      const stop = await readSigningStop(sql, network);
      if (stop !== null) stops.push({ network, reason: stop });
    }
    const [holds, spends, lost] = await Promise.all([
      listHolds(sql, HOLDS),
      listUndecided(sql),
      listLost(sql),
    ]);
    return ok({
      stops,
      holds: holds.map((hold) => ({
        ...hold,
        foundAt: hold.foundAt.toISOString(),
        endedAt: textOf(hold.endedAt),
        networks: hold.networks.map((one) => ({
          ...one,
          readTime: textOf(one.readTime),
          untilTime: textOf(one.untilTime),
          comparedAt: textOf(one.comparedAt),
        })),
      })),
      unknownSpends: spends.map((spend) => ({
        ...spend,
        time: spend.time.toISOString(),
        candidates: spend.candidates.map((one) => ({ ...one, expiresAt: textOf(one.expiresAt) })),
      })),
      lostRecords: lost.map((row) => ({
        ...row,
        acknowledgedAt: row.acknowledgedAt.toISOString(),
      })),
    });
  },
});

function textOf(moment: Date | null): string | null {
  return moment?.toISOString() ?? null;
}

/** `POST /api/admin/failover/declare`. */
export const declareHistory = staffRoute({
  method: "POST",
  path: "/api/admin/failover/declare",
  summary: "Say that an older copy of the database was restored where nothing shows it",
  description: "Holds payouts until everything that may have been signed since the copy was made " +
    "is in a block that was read, or can be in none, and jumps over address numbers " +
    "(`FAILOVER_ADDRESS_GAP`).",
  access: { scope: "admin", anyOf: ["admin:treasury"] },
  rateCategory: "none",
  body: z.strictObject({ reason }),
  responses: {
    200: { description: "Payouts are held", schema: failoverDone, example: { success: true } },
  },
  handler: async ({ body, ...request }, context) => {
    const failoverId = context.newId("fov");
    const accountable = { ...request, merchantId: null };
    const audit = hubAudit(accountable, "failover.declare", failoverId, context, null, {
      reason: body.reason,
    });
    const gap = context.addressGap ?? DEFAULT_GAP;
    await declareFailover(context.sql, failoverId, gap, body.reason, audit);
    return ok({ success: true });
  },
});

const REFUSED = {
  none_open: "Nothing is held",
  open_spends: "Transfers left wallets that nobody has decided on",
  not_compared: "What was signed before may still come to a block",
};

/** `POST /api/admin/failover/end`. */
export const endFailover = staffRoute({
  method: "POST",
  path: "/api/admin/failover/end",
  summary: "End a hold that waits only for networks that are served no longer",
  access: { scope: "admin", anyOf: ["admin:treasury"] },
  rateCategory: "none",
  body: z.strictObject({ reason }),
  responses: {
    200: { description: "It is over", schema: failoverDone, example: { success: true } },
  },
  errors: ["conflict"],
  handler: async ({ body, ...request }, context) => {
    const accountable = { ...request, merchantId: null };
    const audit = hubAudit(accountable, "failover.end", "failover", context, null, {
      reason: body.reason,
    });
    const refused = await endHolds(context.sql, [...context.chains.keys()], body.reason, audit);
    if (refused === null) return ok({ success: true });
    await noteRefusal(accountable, "failover.end", "failover", refused, context);
    return conflict(REFUSED[refused]);
  },
});
