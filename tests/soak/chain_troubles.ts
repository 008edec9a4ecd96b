import { delay } from "../../ledger/database/delay.ts";
import { eventually } from "../faults/support/client.ts";
import { type Fault, kindOf, type SoakKind } from "./chain_kinds.ts";
import { type SoakWorld, SOLID_LAG } from "./chain_world.ts";

/** Longer than our transactions live on a development chain where they expire: what is in flight expires. */
const LEAP_MS = 40_000;
const LEAPS = 3;
/** Base fees of blocks that are drawn, gwei: more than was offered before, and more than the cap allows. */
const FEES = ["3", "8", "20", "5000"] as const;

/** The longest calm after a trouble, milliseconds. */
const CALM_MS = 5_000;

/** Counts of what was done to the service and its node, by kind. */
export type Done = Map<string, number>;

/**
 * Makes the node fail and reorganise, until the signal says that all work is done. Kinds,
 * probabilities and pauses are drawn; what is in force is replaced every now and then.
 */
export async function makeTrouble(
  { chain, draws, service, options: { network } }: SoakWorld,
  signal: AbortSignal,
  done: Done,
): Promise<void> {
  const draw = draws("trouble");
  const kind = kindOf(network);
  const { expires } = kind.family;
  let leaps = 0;
  await send("/dev/config", { seed: Math.floor(draw() * 1_000_000) });
  while (!signal.aborted) {
    const what = draw();
    if (what < 0.55) {
      const faults = Array.from(
        { length: 1 + Math.floor(draw() * 3) },
        () => drawFault(kind, draw),
      );
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
    } else if (what < 0.83 && expires && leaps < LEAPS) {
      leaps++;
      if (await send("/dev/mine", { blocks: 2, intervalMs: LEAP_MS })) count(done, "time leap");
    } else if (what < 0.88 && !expires) {
      const gwei = FEES[Math.floor(draw() * FEES.length)] ?? null;
      if (await send("/dev/basefee", { gwei })) count(done, `base fee of ${gwei} gwei`);
      await delay(1_000 + draw() * 5_000);
      await send("/dev/basefee", { gwei: kind.family.baseFee });
    } else if (what < 0.94 && !expires) {
      if (await evict()) count(done, "evicted");
    } else await send("/dev/config", { faults: [] });
    await delay(200 + draw() * 1_000);
    // a node that fails all the time rests most of it: nothing comes far enough to meet the next trouble
    await send("/dev/config", { faults: [] });
    await delay(draw() * CALM_MS);
  }
  await eventually("a calm node", () => send("/dev/config", { faults: [] }));
  if (!expires) {
    await eventually("usual fees", () => send("/dev/basefee", { gwei: kind.family.baseFee }));
  }

  /** Drops one that the service has sent and that still waits. */
  async function evict(): Promise<boolean> {
    const sent = await service.sql<{ txid: string }[]>`
      SELECT txid FROM book.attempt
      WHERE network = ${network} AND outcome IS NULL AND seen_height IS NULL ORDER BY nonce DESC LIMIT 12`
      .catch(() => []);
    for (const { txid } of sent) if (await send("/dev/evict", { txid })) return true;
    return false;
  }

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

function drawFault({ reads, faults }: SoakKind, draw: () => number): Fault {
  const read = reads[Math.floor(draw() * reads.length)] ?? "*";
  const kinds = faults(read, { probability: 0.05 + draw() * 0.4, isEither: draw() < 0.5 });
  return kinds[Math.floor(draw() * kinds.length)] as Fault;
}

/** Counts one more of a kind. */
export function count(done: Done, what: string): void {
  done.set(what, (done.get(what) ?? 0) + 1);
}
