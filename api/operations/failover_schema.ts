/**
 * Bodies and answers of the routes that serve operators after a change of the database's history.
 *
 * @module
 */

import { z } from "zod";
import { shownNetwork } from "../http/formats.ts";

const moment = z.string().meta({ format: "date-time" });

const holdNetwork = z.object({
  network: shownNetwork,
  fromHeight: z.int().nullable().meta({ description: "Solid block that this history had read" }),
  readHeight: z.int().nullable(),
  readTime: moment.nullable(),
  headHeight: z.int().nullable(),
  untilTime: moment.nullable().meta({
    description: "Block time that the scan has to pass; null: the chain was not reached yet",
  }),
  comparedAt: moment.nullable(),
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
  foundAt: moment,
  endedAt: moment.nullable(),
  networks: z.array(holdNetwork),
});

const spend = z.object({
  network: shownNetwork,
  txid: z.string(),
  height: z.int(),
  time: moment,
  wallet: z.string().meta({ description: "`hot`, or the derivation index of a deposit address" }),
  from: z.string(),
  to: z.string(),
  currency: z.string(),
  amount: z.string(),
  status: z.enum(["open", "listed", "cold"]).meta({
    description: "Open ones stop signing; `listed`: a sweep, `cold`: a transfer to the cold wallet",
  }),
  candidates: z.array(z.object({
    withdrawalId: z.string(),
    merchantId: z.string(),
    referenceId: z.string().nullable(),
    state: z.enum(["queued", "signed", "approval"]).meta({
      description:
        "`queued`: it can be matched; `signed`: it is queued again when its bytes have " +
        "expired; `approval`: it waits for an administrator",
    }),
    expiresAt: moment.nullable().meta({
      description: "Until when signed bytes may come to a block",
    }),
  })).meta({ description: "Withdrawals of these terms that would be paid as well" }),
});

const loss = z.object({
  failoverId: z.string(),
  merchantId: z.string(),
  kind: z.string(),
  recordId: z.string(),
  referenceId: z.string().nullable(),
  network: shownNetwork.nullable(),
  currency: z.string().nullable(),
  amount: z.string().nullable(),
  destination: z.string().nullable(),
  acknowledgedAt: moment,
});

/** Everything that `deno task admin failover` shows. */
export const failoverView = z.object({
  stops: z.array(z.object({ network: shownNetwork, reason: z.string() })),
  holds: z.array(hold),
  unknownSpends: z.array(spend),
  lostRecords: z.array(loss),
});

/** Example in the reference. */
export const FAILOVER_EXAMPLE = {
  stops: [{
    network: "TRX",
    reason: "the database has another history, and what was signed before is not compared yet",
  }],
  holds: [{
    id: "fov_01a20582-e17d-7732-90a1-1651e71ba509",
    cause: "history" as const,
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
  }],
  unknownSpends: [],
  lostRecords: [],
};

/** Answer to a verdict. */
export const failoverDone = z.object({
  success: z.literal(true),
  withdrawalId: z.string().optional(),
});
