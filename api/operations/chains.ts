/**
 * How far each network is read, what holds it up, and how its nodes fare.
 *
 * @module
 */

import { lagOf } from "../../actors/watcher/watcher_status.ts";
import type { NodeState } from "../../chains/chain.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { type Cursor, readCursor } from "../../ledger/watcher/cursor.ts";
import { readScannedRanges } from "../../ledger/watcher/scanned_ranges.ts";
import { listUnread, type UnreadBlock } from "../../ledger/watcher/unread_blocks.ts";
import { ok } from "../http/answer.ts";
import type { ApiContext } from "../http/context.ts";
import { staffRoute } from "../http/route.ts";
import { CHAINS_EXAMPLE, chainsSchema } from "./chains_schema.ts";

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
    listUnread(sql, network),
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

function unreadView({ height, view, reason, tries, since, nextTryAt }: UnreadBlock) {
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
    restingSeconds: node.restingMs / 1_000,
    suspendedSeconds: node.suspendedMs / 1_000,
    callsPerSecond: node.callsPerSecond,
    restingCalls: node.restingCalls,
    unserved: node.unserved,
    callsToday,
    dailyCalls,
    failure,
  };
}
