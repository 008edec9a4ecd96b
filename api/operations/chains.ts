/**
 * Networks as this node reads them, and ranges of their blocks that are read again.
 *
 * @module
 */
import { z } from "zod";
import { rescanBlocks } from "../../actors/watcher/rescan_blocks.ts";
import { lagOf } from "../../actors/watcher/scan_memory.ts";
import { writeAudit } from "../../ledger/audit.ts";
import { isNetwork, type Network } from "../../ledger/money/pair.ts";
import { readCursor, readScannedRanges } from "../../ledger/watcher/cursor.ts";
import { listUnreadable } from "../../ledger/watcher/unreadable_blocks.ts";
import { hubAudit } from "../http/admin_command.ts";
import { ok } from "../http/answer.ts";
import { cannotBelieveAs, whyStopped } from "../http/checks.ts";
import type { ApiContext } from "../http/context.ts";
import { notFound, validationFailed } from "../http/errors.ts";
import { eg, exampleOf } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { adminRoute, READERS } from "../http/route.ts";
import { shown } from "../http/shown.ts";

const place = { height: z.int().min(0), time: f.timestamp };

const unreadBlock = z.object({
  height: eg(z.int().min(0), 1_201),
  view: eg(z.enum(["head", "solid", "again"]), "solid"),
  reason: eg(z.string(), "0 receipts for 3 transactions"),
  tries: eg(z.int().min(1), 2),
  since: f.timestamp,
  nextTryAt: f.later,
});

const nodeState = z.object({
  name: eg(z.string(), "api.trongrid.io"),
  state: eg(
    z.enum(["ready", "cooling-down", "quota-used-up", "wrong-chain"]).meta({
      description:
        "cooling-down: left alone after a failure; quota-used-up: no calls are left today; wrong-chain: of " +
        "another chain, or with another block in place of our newest solid one; asked again after a minute",
    }),
    "ready",
  ),
  coolDownSeconds: eg(z.number().min(0), 0),
  suspendedSeconds: eg(
    z.number().min(0).meta({
      description: "For how much of that it answers nothing, as it said itself",
    }),
    0,
  ),
  callsPerSecond: eg(
    z.int().min(1).nullable().meta({
      description: "Calls per second that it is sent at most now; null: without a bound",
    }),
    12,
  ),
  coolingCalls: eg(
    z.int().min(0).meta({
      description: "Single calls that it could not answer and is not asked now",
    }),
    0,
  ),
  unserved: eg(
    z.array(z.string()).meta({
      description: "Paths that it said it does not serve, such as a lite node",
    }),
    [],
  ),
  callsToday: eg(z.int().min(0), 41_260),
  dailyCalls: eg(z.int().min(1).nullable(), 100_000),
  failure: eg(z.string().nullable(), null),
});

const chainOfNetwork = z.object({
  network: f.network,
  solid: eg(
    z.object(place).nullable().meta({
      description: "Newest final block that was read; moves money",
    }),
    { height: 1_200, time: exampleOf(f.timestamp) },
  ),
  head: eg(
    z.object(place).nullable().meta({
      description: "Newest block that was seen; only informs",
    }),
    { height: 1_219, time: exampleOf(f.later) },
  ),
  chainSolid: eg(
    z.int().min(0).nullable().meta({
      description: "Newest final block of the chain; null: not reached since the start",
    }),
    1_202,
  ),
  lag: eg(
    z.int().min(0).nullable().meta({
      description:
        "Final blocks that are left to read; null: not known, as no node answers: none has said for half a minute how long the chain is",
    }),
    2,
  ),
  reachedSeconds: eg(
    z.number().min(0).nullable().meta({
      description:
        "Seconds since a node last said how long the chain is; null: none has since the start",
    }),
    1.5,
  ),
  catchUp: eg(
    z.object({ blocksPerSecond: z.number().min(0), left: z.int().min(0) }).nullable().meta({
      description: "Set while many blocks are left",
    }),
    null,
  ),
  stopped: eg(
    z.string().nullable().meta({
      description: "Why nothing more is read: what nodes say does not continue what was read",
    }),
    null,
  ),
  restSeconds: eg(
    z.number().min(0).meta({
      description: "Rest between two looks, so that the calls of nodes last the day",
    }),
    0,
  ),
  unread: z.array(unreadBlock).meta({
    description:
      "Blocks that no node gives whole; a solid one holds the scan, one of `again` was passed and is due once more",
  }),
  scanned: eg(
    z.array(z.object({ from: z.int().min(0), to: z.int().min(0) })).meta({
      description: "Final blocks that were read; more than one range: a gap, to be read again",
    }),
    [{ from: 1, to: 1_200 }],
  ),
  nodes: z.array(nodeState).meta({ description: "In the order they are asked" }),
}).meta({ id: "ChainOfNetwork" });

export const getChains = adminRoute({
  at: "GET /api/admin/chains",
  summary: "How far each network is read, what holds it up, and how its nodes fare",
  anyOf: READERS,
  responses: {
    200: {
      description: "One entry per configured network",
      schema: z.object({ networks: z.array(chainOfNetwork) }),
    },
  },
  handler: async (_request, context) => {
    const networks = await Promise.all(
      [...context.chains.keys()].map((network) => networkView(network, context)),
    );
    return ok({ networks });
  },
});

/** Silence of all nodes after which nothing is known of the chain's end; a scan looks every few seconds. */
const SILENT_MS = 30_000;

async function networkView(network: Network, { sql, scanOf }: ApiContext) {
  const [solid, head, unread, ranges] = await Promise.all([
    readCursor(sql, network, "solid"),
    readCursor(sql, network, "head"),
    listUnreadable(sql, network),
    readScannedRanges(sql, network),
  ]);
  const scan = scanOf?.(network) ?? { status: null, nodes: [] };
  const { status } = scan;
  const silentMs = status === null || status.reachedAt === 0
    ? null
    : Math.max(0, performance.now() - status.reachedAt);
  // a long catch-up asks for blocks alone, of nodes that answer
  const answers = scan.nodes.some(({ state, failure }) => state === "ready" && failure === null);
  const isKnown = silentMs !== null &&
    (answers || silentMs <= SILENT_MS + (status?.restMs ?? 0));
  return shown(chainOfNetwork, {
    network,
    solid,
    head,
    chainSolid: status?.chainSolid ?? null,
    lag: status === null || !isKnown ? null : lagOf(status),
    reachedSeconds: silentMs === null ? null : Math.round(silentMs / 100) / 10,
    catchUp: status === null || status.catchUp === null ? null : {
      blocksPerSecond: Math.round(status.catchUp.perSecond),
      left: status.catchUp.left,
    },
    stopped: status?.stopped ?? null,
    restSeconds: (status?.restMs ?? 0) / 1_000,
    unread,
    scanned: ranges.map(({ first, last }) => ({ from: first, to: last })),
    nodes: scan.nodes.map((node) => ({
      ...node,
      coolDownSeconds: node.coolDownMs / 1_000,
      suspendedSeconds: node.suspendedMs / 1_000,
    })),
  });
}

const rescanResult = z.object({
  network: f.network,
  from: eg(z.int(), 1_000),
  to: eg(z.int(), 1_999),
  blocks: eg(
    z.int().min(0).meta({ description: "Read from the first one on; fewer: ask again" }),
    1_000,
  ),
  merchants: eg(z.int().min(0).meta({ description: "Merchants with payments in them" }), 3),
});

/** Blocks of one request. */
const MOST_BLOCKS = 1_000;
/** Bound of one request; what was read until then stays written. */
const RESCAN_MS = 60_000;

const height = z.int().min(1).max(Number.MAX_SAFE_INTEGER);

export const rescanChain = adminRoute({
  at: "POST /api/admin/chains/{network}/rescan",
  summary: `Read solid blocks again and book what was missed; at most ${MOST_BLOCKS} at once`,
  anyOf: ["admin:treasury"],
  body: z.strictObject({ from: height, to: height }),
  responses: { 200: { description: "Blocks that were read", schema: rescanResult } },
  errors: ["record_not_found", "validation_failed"],
  handler: async ({ body, ...request }, context) => {
    const { sql, merchants, chains } = context;
    const network = request.params.network;
    const chain = isNetwork(network) ? chains.get(network) : undefined;
    if (chain === undefined || !isNetwork(network)) return notFound;
    const { from, to } = body;
    if (to < from) {
      return validationFailed("to", "The range ends before it starts", "reversed_range");
    }
    if (to - from >= MOST_BLOCKS) {
      return validationFailed("to", `At most ${MOST_BLOCKS} blocks at once`, "too_big");
    }
    const cursor = await readCursor(sql, network, "solid");
    if (cursor === null || to > cursor.height) {
      const passed = cursor?.height ?? 0;
      return validationFailed("to", `The scan itself has only passed block ${passed}`, "too_big");
    }
    // what is done changes nothing that is known, so the intention is all there is to keep
    const audit = hubAudit(request, "chain.rescan", network, context, null, { from, to });
    await writeAudit(sql, audit);
    // what a large transfer needs it gets when its block is read again by the treasury
    const above = context.treasury(network).policy?.second?.above;
    const outcome = await rescanBlocks(
      {
        sql,
        chain,
        network,
        stopped: whyStopped(context, network),
        proofs: above === undefined ? null : { above, testimonies: new Map() },
        wake: (merchantId) => merchants.wake(merchantId),
      },
      from,
      to,
      AbortSignal.timeout(RESCAN_MS),
    );
    if (outcome.kind === "in_doubt") {
      return cannotBelieveAs(outcome, `${outcome.blocks} blocks were read again and no more`);
    }
    return ok(shown(rescanResult, { ...outcome, network, from, to }));
  },
});
