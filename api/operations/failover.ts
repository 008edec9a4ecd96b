/**
 * A history of the database that was lost, and what it may have signed.
 *
 * @module
 */

import { z } from "zod";
import { ADDRESS_GAP, listLost } from "../../ledger/failover/history.ts";
import {
  declareFailover,
  endHolds,
  listHolds,
  readSigningStop,
} from "../../ledger/failover/holds.ts";
import { listUndecided } from "../../ledger/failover/unknown_spends.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { hubAudit, recordRefusal } from "../http/admin_command.ts";
import { ok } from "../http/answer.ts";
import { conflict } from "../http/errors.ts";
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { adminRoute } from "../http/route.ts";
import { shown } from "../http/shown.ts";

const holdNetwork = z.object({
  network: f.network,
  fromHeight: z.int().nullable().meta({ description: "Solid block that this history had read" }),
  readHeight: z.int().nullable(),
  readTime: f.moment.nullable(),
  headHeight: z.int().nullable(),
  untilTime: f.moment.nullable().meta({
    description:
      "About the block time that the scan has to pass; null: the chain was not reached yet",
  }),
  comparedAt: f.moment.nullable(),
  gapFirst: z.int().meta({ description: "Derivation indexes that were jumped over" }),
  gapLast: z.int(),
  gapWatched: z.boolean(),
});

const hold = z.object({
  id: z.string(),
  cause: z.enum(["history", "declared"]),
  before: z.string().nullable().meta({ description: "Cluster and timeline" }),
  after: z.string().nullable(),
  reason: z.string(),
  actor: z.string(),
  foundAt: f.moment,
  endedAt: f.moment.nullable(),
  networks: z.array(holdNetwork),
});

const spend = z.object({
  network: f.network,
  txid: z.string(),
  height: z.int(),
  time: f.moment,
  wallet: z.string().meta({ description: "`hot`, or the derivation index of a deposit address" }),
  from: z.string(),
  to: z.string(),
  currency: z.string(),
  amount: z.string().brand("amount"),
  status: z.enum(["open", "listed", "cold", "unproven"]).meta({
    description:
      "Open ones stop signing; `listed`: a sweep, `cold`: a transfer to the cold wallet, `unproven`: " +
      "a node calls its transaction the hot wallet's, and no signature shows that yet",
  }),
  candidates: z.array(z.object({
    withdrawalId: z.string(),
    merchantId: z.string(),
    referenceId: z.string().nullable(),
    state: z.enum(["queued", "signed", "approval"]).meta({
      description:
        "`queued`: it can be matched; `signed`: it is queued again when its bytes have " +
        "expired, or taken out of use where they never do; `approval`: it waits for an administrator",
    }),
    expiresAt: f.moment.nullable().meta({
      description: "Until when signed bytes may come to a block; null where they never expire",
    }),
  })).meta({ description: "Withdrawals of these terms that would be paid as well" }),
});

const loss = z.object({
  failoverId: z.string(),
  merchantId: z.string(),
  kind: z.string(),
  recordId: z.string(),
  referenceId: z.string().nullable(),
  network: f.network.nullable(),
  currency: z.string().nullable(),
  amount: z.string().brand("amount").nullable(),
  destination: z.string().nullable(),
  acknowledgedAt: f.moment,
});

/** Everything that `deno task admin failover` shows. */
const failoverView = z.object({
  stops: eg(z.array(z.object({ network: f.network, reason: z.string() })), [{
    network: "TRX",
    reason: "the database has another history, and what was signed before is not compared yet",
  }]),
  holds: eg(z.array(hold), [{
    id: "fov_01a20582-e17d-7732-90a1-1651e71ba509",
    cause: "history",
    before: "7439612340987654321/1",
    after: "7439612340987654321/2",
    reason: "the database continues another history",
    actor: "engine",
    foundAt: "2026-11-22T10:00:00.000Z",
    endedAt: null,
    networks: [{
      network: "TRX",
      fromHeight: 66_000_000,
      readHeight: 66_000_020,
      readTime: "2026-11-22T10:01:00.000Z",
      headHeight: 66_000_020,
      untilTime: "2026-11-22T10:05:00.000Z",
      comparedAt: null,
      gapFirst: 4_200,
      gapLast: 5_199,
      gapWatched: true,
    }],
  }]),
  unknownSpends: eg(z.array(spend), []),
  lostRecords: eg(z.array(loss), []),
});

export const failoverDone = z.object({
  success: z.literal(true),
  withdrawalId: eg(z.string().optional(), undefined),
});

const HOLDS = 20;

const reason = z.string().trim().min(1).max(500);

export const getFailover = adminRoute({
  at: "GET /api/admin/failover",
  summary:
    "Payouts that wait since the database's history has changed, and the rows that were lost",
  anyOf: ["admin:read"],
  responses: { 200: { description: "How it stands", schema: failoverView } },
  handler: async (_request, { sql, chains }) => {
    const stops: { network: Network; reason: string }[] = [];
    for (const network of chains.keys()) {
      const stop = await readSigningStop(sql, network);
      if (stop !== null) stops.push({ network, reason: stop });
    }
    const [holds, unknownSpends, lostRecords] = await Promise.all([
      listHolds(sql, HOLDS),
      listUndecided(sql),
      listLost(sql),
    ]);
    return ok(shown(failoverView, { stops, holds, unknownSpends, lostRecords }));
  },
});

export const declareHistory = adminRoute({
  at: "POST /api/admin/failover/declare",
  summary: "Say that an older copy of the database was restored where nothing shows it",
  description: "Holds payouts until everything that may have been signed since the copy was made " +
    "is in a block that was read, or can be in none, and jumps over address numbers " +
    "(`FAILOVER_ADDRESS_GAP`).",
  anyOf: ["admin:treasury"],
  body: z.strictObject({ reason }),
  responses: { 200: { description: "Payouts are held", schema: failoverDone } },
  handler: async ({ body, ...request }, context) => {
    const failoverId = context.newId("fov");
    const audit = hubAudit(request, "failover.declare", failoverId, context, null, {
      reason: body.reason,
    });
    const gap = context.addressGap ?? ADDRESS_GAP;
    await declareFailover(context.sql, failoverId, gap, body.reason, audit);
    return ok({ success: true });
  },
});

const REFUSED = {
  none_open: "Nothing is held",
  open_spends: "Transfers left wallets that nobody has decided on",
  not_compared: "Transactions signed before may still come to a block",
};

export const endFailover = adminRoute({
  at: "POST /api/admin/failover/end",
  summary: "End a hold that waits only for networks that are served no longer",
  anyOf: ["admin:treasury"],
  body: z.strictObject({ reason }),
  responses: { 200: { description: "It is over", schema: failoverDone } },
  errors: ["conflict"],
  handler: async ({ body, ...request }, context) => {
    const audit = hubAudit(request, "failover.end", "failover", context, null, {
      reason: body.reason,
    });
    const refused = await endHolds(context.sql, [...context.chains.keys()], body.reason, audit);
    if (refused === null) return ok({ success: true });
    await recordRefusal(request, "failover.end", "failover", refused, context);
    return conflict(REFUSED[refused]);
  },
});
