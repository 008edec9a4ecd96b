/**
 * Networks as this node reads them.
 *
 * @module
 */

import { z } from "zod";
import { lagOf } from "../../actors/watcher/scan_memory.ts";
import type { NodeState } from "../../chains/node_state.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { type Cursor, readCursor } from "../../ledger/watcher/cursor.ts";
import { readScannedRanges } from "../../ledger/watcher/scanned_ranges.ts";
import { listUnreadable, type UnreadableBlock } from "../../ledger/watcher/unreadable_blocks.ts";
import { ok } from "../http/answer.ts";
import type { ApiContext } from "../http/context.ts";
import { EXAMPLE, shownNetwork, timestamp } from "../http/formats.ts";
import { staffRoute } from "../http/route.ts";

const place = z.object({ height: z.int().min(0), time: timestamp });

/** Answer of the chains. */
const chainsSchema = z.object({
  networks: z.array(
    z.object({
      network: shownNetwork,
      solid: place.nullable().meta({
        description: "Newest final block that was read; moves money",
      }),
      head: place.nullable().meta({ description: "Newest block that was seen; only informs" }),
      chainSolid: z.int().min(0).nullable().meta({
        description: "Newest final block of the chain; null: not reached since the start",
      }),
      lag: z.int().min(0).nullable().meta({ description: "Final blocks that are left to read" }),
      catchUp: z.object({
        blocksPerSecond: z.number().min(0),
        left: z.int().min(0),
      }).nullable().meta({ description: "Set while many blocks are left" }),
      stopped: z.string().nullable().meta({
        description: "Why nothing more is read: what nodes say does not continue what was read",
      }),
      restSeconds: z.number().min(0).meta({
        description: "Rest between two looks, so that the calls of nodes last the day",
      }),
      unread: z.array(z.object({
        height: z.int().min(0),
        view: z.enum(["head", "solid", "again"]),
        reason: z.string(),
        tries: z.int().min(1),
        since: timestamp,
        nextTryAt: timestamp,
      })).meta({
        description:
          "Blocks that no node gives whole; a solid one holds the scan, one of `again` was passed and is due once more",
      }),
      scanned: z.array(z.object({ from: z.int().min(0), to: z.int().min(0) })).meta({
        description: "Final blocks that were read; more than one range: a gap, to be read again",
      }),
      nodes: z.array(z.object({
        name: z.string(),
        state: z.enum(["ready", "cooling-down", "quota-used-up", "wrong-chain"]).meta({
          description:
            "cooling-down: left alone after a failure; quota-used-up: no calls are left today; wrong-chain: of " +
            "another chain, or with another block in place of our newest solid one; asked again after a minute",
        }),
        coolDownSeconds: z.number().min(0),
        suspendedSeconds: z.number().min(0).meta({
          description: "For how much of that it answers nothing, as it said itself",
        }),
        callsPerSecond: z.int().min(1).nullable().meta({
          description: "Calls per second that it is sent at most now; null: without a bound",
        }),
        coolingCalls: z.int().min(0).meta({
          description: "Single calls that it could not answer and is not asked now",
        }),
        unserved: z.array(z.string()).meta({
          description: "Paths that it said it does not serve, such as a lite node",
        }),
        callsToday: z.int().min(0),
        dailyCalls: z.int().min(1).nullable(),
        failure: z.string().nullable(),
      })).meta({ description: "In the order they are asked" }),
    }).meta({ id: "ChainOfNetwork" }),
  ),
});

const CHAINS_EXAMPLE = {
  networks: [{
    network: "TRX",
    solid: { height: 1_200, time: EXAMPLE.time },
    head: { height: 1_219, time: EXAMPLE.later },
    chainSolid: 1_202,
    lag: 2,
    catchUp: null,
    stopped: null,
    restSeconds: 0,
    unread: [{
      height: 1_201,
      view: "solid",
      reason: "0 receipts for 3 transactions",
      tries: 2,
      since: EXAMPLE.time,
      nextTryAt: EXAMPLE.later,
    }],
    scanned: [{ from: 1, to: 1_200 }],
    nodes: [{
      name: "api.trongrid.io",
      state: "ready",
      coolDownSeconds: 0,
      suspendedSeconds: 0,
      callsPerSecond: 12,
      coolingCalls: 0,
      unserved: [],
      callsToday: 41_260,
      dailyCalls: 100_000,
      failure: null,
    }],
  }],
};

/** `GET /api/admin/chains`. */
export const getChains = staffRoute({
  method: "GET",
  path: "/api/admin/chains",
  summary: "How far each network is read, what holds it up, and how its nodes fare",
  access: { scope: "admin", anyOf: ["admin:read", "admin:write"] },
  rateCategory: "none",
  responses: {
    200: {
      description: "One entry per configured network",
      schema: chainsSchema,
      example: CHAINS_EXAMPLE,
    },
  },
  handler: async (_request, context) => {
    const networks = await Promise.all(
      [...context.chains.keys()].map((network) => networkView(network, context)),
    );
    return ok({ networks });
  },
});

async function networkView(network: Network, { sql, scanOf }: ApiContext) {
  const [solid, head, unread, ranges] = await Promise.all([
    readCursor(sql, network, "solid"),
    readCursor(sql, network, "head"),
    listUnreadable(sql, network),
    readScannedRanges(sql, network),
  ]);
  const scan = scanOf?.(network) ?? { status: null, nodes: [] };
  const { status } = scan;
  return {
    network,
    solid: placeView(solid),
    head: placeView(head),
    chainSolid: status?.chainSolid ?? null,
    lag: status === null ? null : lagOf(status),
    catchUp: status === null || status.catchUp === null ? null : {
      blocksPerSecond: Math.round(status.catchUp.perSecond),
      left: status.catchUp.left,
    },
    stopped: status?.stopped ?? null,
    restSeconds: (status?.restMs ?? 0) / 1_000,
    unread: unread.map(unreadView),
    scanned: ranges.map(({ first, last }) => ({ from: first, to: last })),
    nodes: scan.nodes.map(nodeView),
  };
}

function placeView(cursor: Cursor | null) {
  if (cursor === null) return null;
  return { height: cursor.height, time: new Date(cursor.time).toISOString() };
}

function unreadView({ height, view, reason, tries, since, nextTryAt }: UnreadableBlock) {
  return {
    height,
    view,
    reason,
    tries,
    since: new Date(since).toISOString(),
    nextTryAt: new Date(nextTryAt).toISOString(),
  };
}

function nodeView({ name, state, callsToday, dailyCalls, failure, ...node }: NodeState) {
  return {
    name,
    state,
    coolDownSeconds: node.coolDownMs / 1_000,
    suspendedSeconds: node.suspendedMs / 1_000,
    callsPerSecond: node.callsPerSecond,
    coolingCalls: node.coolingCalls,
    unserved: node.unserved,
    callsToday,
    dailyCalls,
    failure,
  };
}
