import type { FaultKind } from "../../devchain/faults.ts";
import { delay } from "../../ledger/database/delay.ts";
import { eventually } from "../faults/support/client.ts";
import type { Progress } from "./chain_customers.ts";
import { type SoakWorld, SOLID_LAG } from "./chain_world.ts";

const BROADCAST = "/wallet/broadcasttransaction";
const READS = ["*", "/wallet/*", "/walletsolidity/*", "/walletsolidity/getblock"] as const;
/** Longer than our transactions live on a development chain: what is in flight expires. */
const LEAP_MS = 40_000;
const LEAPS = 3;

interface Fault {
  readonly path: string;
  readonly kind: FaultKind;
  readonly probability: number;
  readonly late?: boolean;
  readonly forget?: boolean;
  readonly perSecond?: number;
  readonly suspendSeconds?: number;
  readonly behind?: number;
}

/** Counts of what was done to the service and its node, by kind. */
export type Done = Map<string, number>;

/**
 * Makes the node fail and reorganise, until the signal says that all work is done. Kinds,
 * probabilities and pauses are drawn; what is in force is replaced every now and then.
 */
export async function makeTrouble(
  { chain, draws }: SoakWorld,
  signal: AbortSignal,
  done: Done,
): Promise<void> {
  const draw = draws("trouble");
  let leaps = 0;
  await send("/dev/config", { seed: Math.floor(draw() * 1_000_000) });
  while (!signal.aborted) {
    const what = draw();
    if (what < 0.55) {
      const faults = Array.from({ length: 1 + Math.floor(draw() * 3) }, () => drawFault(draw));
      if (await send("/dev/config", { faults })) {
        for (const { kind } of faults) count(done, kind);
      }
    } else if (what < 0.75) {
      const drop = draw() < 0.3;
      const depth = 1 + Math.floor(draw() * (SOLID_LAG - 1));
      if (await send("/dev/reorg", { depth, drop })) {
        count(done, drop ? "reorganisation, dropped" : "reorganisation");
      }
    } else if (what < 0.8) {
      if (await send("/dev/config", { faults: [{ path: "*", kind: "error-500" }] })) {
        count(done, "node silent for a while");
      }
      await delay(1_000 + draw() * 2_000);
      await send("/dev/config", { faults: [] });
    } else if (what < 0.83 && leaps < LEAPS) {
      leaps++;
      if (await send("/dev/mine", { blocks: 2, intervalMs: LEAP_MS })) count(done, "time leap");
    } else await send("/dev/config", { faults: [] });
    await delay(200 + draw() * 1_000);
  }
  await eventually("a calm node", () => send("/dev/config", { faults: [] }));

  /** The node may be dead at this moment, or refuse: then this trouble is not made. */
  async function send(path: string, body: unknown): Promise<boolean> {
    try {
      await chain.control(path, body);
      return true;
    } catch {
      return false;
    }
  }
}

/** Kills, each when a certain part of the work is done. */
export async function kill(
  world: SoakWorld,
  progress: Progress,
  signal: AbortSignal,
  done: Done,
): Promise<void> {
  const { options, service, chain } = world;
  const draw = world.draws("kills");
  const all = options.deposits + options.payouts;
  const due = [
    ...momentsOf("service killed", options.kills, draw),
    ...momentsOf("chain's node killed", options.chainKills, draw),
    ...momentsOf("PostgreSQL killed", options.databaseKills, draw),
  ].sort((a, b) => a.at - b.at);
  for (const { what, at } of due) {
    while (progress.paid + progress.asked < at * all) {
      if (signal.aborted) return;
      await delay(20);
    }
    if (what === "service killed") {
      await service.kill9();
      await service.start();
    } else if (what === "PostgreSQL killed") await service.killDatabase();
    else await chain.killAndStart(500 + draw() * 2_000);
    count(done, what);
  }
}

/** Shares of the work, spread evenly and then moved at random. */
function momentsOf(what: string, times: number, draw: () => number) {
  return Array.from({ length: times }, (_, n) => ({ what, at: (n + draw()) / times * 0.97 }));
}

function drawFault(draw: () => number): Fault {
  const read = READS[Math.floor(draw() * READS.length)] as string;
  const probability = 0.05 + draw() * 0.4;
  const late = draw() < 0.5;
  const kinds: readonly Fault[] = [
    { path: read, kind: "error-500", probability, late },
    { path: read, kind: "busy-429", probability: probability / 2, late },
    { path: "*", kind: "limit-per-second", probability: 1, perSecond: 60, suspendSeconds: 2 },
    { path: read, kind: "lite-node", probability: probability / 2 },
    { path: read, kind: "closed-api", probability: probability / 2 },
    { path: read, kind: "call-exception", probability },
    { path: "/walletsolidity/*", kind: "two-nodes", probability: 1, behind: 2 },
    { path: read, kind: "timeout", probability: probability / 20, late },
    { path: "*", kind: "lagging-receipts", probability, late },
    { path: BROADCAST, kind: "error-500", probability, late },
    { path: BROADCAST, kind: "timeout", probability: probability / 10, late },
    { path: BROADCAST, kind: "lost-broadcast", probability: Math.min(1, probability * 2) },
    { path: BROADCAST, kind: "silent-accept", probability },
    { path: BROADCAST, kind: "duplicate", probability, forget: late },
    { path: BROADCAST, kind: "revert", probability: probability / 10 },
    { path: BROADCAST, kind: "out-of-energy", probability: probability / 10 },
  ];
  return kinds[Math.floor(draw() * kinds.length)] as Fault;
}

function count(done: Done, what: string): void {
  done.set(what, (done.get(what) ?? 0) + 1);
}
