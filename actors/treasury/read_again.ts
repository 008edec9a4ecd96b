/**
 * Reads blocks again that the scan has read without knowing an own transaction in them: the bytes of a
 * lost commit that the signer gave once more, a transfer that was met before its attempt was known, or
 * one whose row another transaction held. Nothing is dead before, and what is in them ends as in any
 * other block.
 *
 * A block that no node gives holds up only what is in it: it is left alone for a pause that grows with
 * each try, and reported as any other unread block is.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import type { Sql } from "postgres";
import type { Chain } from "../../chains/chain.ts";
import { closeKnownSpends, readSpendsOfAttempts } from "../../ledger/failover/unknown_spends.ts";
import { readRereads, storeReread } from "../../ledger/treasury/expired_attempts.ts";
import { ZERO } from "../../ledger/money/amount.ts";
import type { Cursor } from "../../ledger/watcher/cursor.ts";
import { type EndDoubt, endKey, type EndProofs } from "../../ledger/watcher/end_proofs.ts";
import {
  closeLateOutcomes,
  dropMissingEnd,
  readLargeEnds,
  readMissingEnds,
  takeLateOutcomes,
} from "../../ledger/watcher/late_outcomes.ts";
import {
  dropClosedAgain,
  dropUnreadable,
  listUnreadable,
  storeUnreadable,
} from "../../ledger/watcher/unreadable_blocks.ts";
import { rescanUpToFailure } from "../watcher/rescan_blocks.ts";
import { tellEndDoubts } from "../watcher/end_doubts.ts";
import { askAboutEnds, deniedEnds, type EndOpinion } from "./end_opinion.ts";
import type { SecondOpinionPolicy } from "./second_opinion.ts";
import { ALARM_TRIES, pauseAfter } from "../watcher/unreadable_blocks.ts";

/** Blocks of one turn; the next turn continues. */
const TURN = 500;
/** Attempts, or blocks with transfers, that one turn looks after. */
const AT_ONCE = 200;
/** Blocks of one turn that are read again for ends whose rows were held. */
const LATE = 20;
/** Bound of the reading of one turn, milliseconds. */
const READ_MS = 30_000;
/** Blocks that cannot be read in one turn before it ends: each may cost nodes' whole time-out. */
const MOST_FAILURES = 3;
/** The failures that transfers and late ends may use up, so that a try is left for expired attempts. */
const FAILURES_OF_SPENDS = 2;

/** Dependencies of reading again. */
export interface ReadAgainDeps {
  readonly sql: Sql;
  readonly chain: Chain;
  /** Reason for which the scan does not go on; null while it does. */
  readonly stopped: string | null;
  /** Second nodes, which have to agree that a large transfer has moved nothing; null, or absent: one node's word is enough. */
  readonly second?: SecondOpinionPolicy | null;
  /** Unix milliseconds; default `Date.now`. */
  readonly now?: () => number;
  readonly wake: (merchantId: string) => void;
}

/** State of one turn. */
interface Turn {
  readonly signal: AbortSignal;
  failures: number;
  /** Failed tries before this turn, by height. */
  readonly tries: ReadonlyMap<number, number>;
}

/**
 * One poll. Where nothing is due it costs five short queries.
 *
 * @param solid the solid cursor, read just now
 */
export async function readAgain(deps: ReadAgainDeps, solid: Cursor): Promise<void> {
  const { sql, chain: { network }, stopped } = deps;
  // nothing that nodes say counts now, which is no fault of single blocks
  if (stopped !== null) return;
  const unread = (await listUnreadable(sql, network)).filter(({ view }) => view === "again");
  const turn: Turn = {
    signal: AbortSignal.timeout(READ_MS),
    failures: 0,
    tries: new Map(unread.map(({ height, tries }) => [height, tries])),
  };
  await readSpends(deps, turn, solid);
  await readLate(deps, turn, solid);
  await readExpired(deps, turn, solid);
  if (unread.length > 0) await dropClosedAgain(sql, network);
}

/** Ends attempts by the blocks in which the scan met them without knowing them. */
async function readSpends(deps: ReadAgainDeps, turn: Turn, solid: Cursor): Promise<void> {
  const { sql, chain: { network } } = deps;
  const due = await readSpendsOfAttempts(sql, network, AT_ONCE);
  if (due.length === 0) return;
  for (const height of new Set(due.map((spend) => spend.height))) {
    if (turn.failures >= FAILURES_OF_SPENDS || turn.signal.aborted) break;
    if (height <= solid.height) await read(deps, turn, height, height);
  }
  for (const txid of await closeKnownSpends(sql, network)) {
    logEvent("treasury.spend_known", { network, txid });
  }
}

/** Ends attempts by the blocks that the scan has passed while their rows were held. */
async function readLate(deps: ReadAgainDeps, turn: Turn, solid: Cursor): Promise<void> {
  const { sql, chain: { network } } = deps;
  const heights = await takeLateOutcomes(sql, network, LATE);
  const opinions = await askSecondNodes(deps, turn, heights);
  const testimonies = new Map(
    [...opinions].flatMap(([key, one]) =>
      one.kind === "agreed" ? [[key.slice(0, key.lastIndexOf("/")), one.testimony]] : []
    ),
  );
  const doubts = new Map(
    [...opinions].flatMap(([key, one]) => one.kind === "waits" ? [[key, one.doubt]] : []),
  );
  const reread: number[] = [];
  for (const height of heights) {
    if (turn.failures >= FAILURES_OF_SPENDS || turn.signal.aborted) break;
    // the cursor of the node that listed it may not have moved yet
    if (height > solid.height) continue;
    const through = await read(deps, turn, height, height, { testimonies, doubts });
    if (through >= height) reread.push(height);
  }
  await dropMissing(deps, turn, reread);
  if (opinions.size > 0) await tellMissing(deps, reread, opinions);
  for (const outgoingId of await closeLateOutcomes(sql, network)) {
    logEvent("treasury.end_written", { network, outgoingId });
  }
}

/**
 * Takes ends off the list whose blocks were read again without them, where a second node has none there either: neither one
 * node's word that a transaction has ended nor one's silence about it decides.
 */
async function dropMissing(
  { sql, chain: { network }, second = null }: ReadAgainDeps,
  { signal }: Turn,
  heights: readonly number[],
): Promise<void> {
  if (second === null) return;
  const missing = await readMissingEnds(sql, network, heights);
  for (const end of await deniedEnds(second.nodes, missing, signal)) {
    for (const outgoingId of await dropMissingEnd(sql, network, end)) {
      logEvent("treasury.end_denied", { network, outgoingId, height: end.height });
    }
  }
}

/** Opinions of second nodes on the large ends in blocks, by {@linkcode endKey}. */
async function askSecondNodes(
  { sql, chain: { network }, second = null, now = Date.now }: ReadAgainDeps,
  { signal }: Turn,
  heights: readonly number[],
): Promise<ReadonlyMap<string, EndOpinion>> {
  if (second === null || heights.length === 0) return new Map();
  const ends = await readLargeEnds(sql, network, second.above);
  const due = ends.filter(({ height }) => heights.includes(height));
  return await askAboutEnds(second.nodes, due, signal, now);
}

/** Tells what large ends wait for that blocks do not show any more; of those that they show, reading them has told it. */
async function tellMissing(
  { sql, chain: { network }, second = null }: ReadAgainDeps,
  heights: readonly number[],
  opinions: ReadonlyMap<string, EndOpinion>,
): Promise<void> {
  const missing = new Set((await readMissingEnds(sql, network, heights)).map(endKey));
  if (missing.size === 0) return;
  const ends = await readLargeEnds(sql, network, second?.above ?? ZERO);
  const doubts = ends.flatMap((end) => {
    const key = endKey(end);
    const opinion = missing.has(key) ? opinions.get(key) : undefined;
    return opinion === undefined ? [] : [{ ...end, ...doubtOf(opinion) }];
  });
  await tellEndDoubts(sql, network, doubts);
}

/** Doubt about an end that our reading of its block does not show. */
function doubtOf(opinion: EndOpinion): EndDoubt {
  if (opinion.kind === "waits") return opinion.doubt;
  const { node } = opinion.testimony;
  return { reason: `${node} has the transaction there, our scan has not`, isAlarming: true };
}

/** Reads the blocks again that expired attempts may be in: one run of them in a turn. */
async function readExpired(deps: ReadAgainDeps, turn: Turn, solid: Cursor): Promise<void> {
  const { sql, chain: { network } } = deps;
  let duties = await readRereads(sql, network, solid.previousTick, AT_ONCE);
  for (let first = duties[0]; first !== undefined; first = duties[0]) {
    if (turn.failures >= MOST_FAILURES || turn.signal.aborted) return;
    const { from } = first;
    const to = Math.min(solid.height, from + TURN - 1);
    const through = to < from ? to : await read(deps, turn, from, to);
    if (through >= from) {
      const begun = duties.filter((duty) => duty.from >= from);
      await storeReread(sql, begun, through, solid.history);
    }
    if (through === to) return;
    // what waits for the same block waits with it, what begins after it does not
    duties = duties.filter((duty) => duty.from < from || duty.from > through + 1);
  }
}

/** Reads blocks again. @returns the last one that was read, from the first one on without a gap */
async function read(
  deps: ReadAgainDeps,
  turn: Turn,
  from: number,
  to: number,
  second: Omit<EndProofs, "above"> = { testimonies: new Map() },
): Promise<number> {
  const { sql, chain, stopped, wake } = deps;
  const { network } = chain;
  const above = deps.second?.above;
  const proofs = above === undefined ? null : { ...second, above };
  const scan = { sql, chain, network, stopped, proofs, wake };
  const outcome = await rescanUpToFailure(scan, from, to, turn.signal);
  const { through } = outcome;
  if (turn.tries.size > 0 && through >= from) {
    await dropUnreadable(sql, network, "again", { first: from, last: through });
  }
  // a turn that has run out of time says nothing about the next block, and heights at the end that the
  // chain passed by are proven by the block after them
  const isRead = outcome.kind === "read" && outcome.failure === null;
  if (through >= from && (isRead || turn.signal.aborted)) return through;
  turn.failures++;
  const reason = outcome.kind === "in_doubt"
    ? outcome.reason
    : outcome.failure?.reason ?? "no node has it";
  const height = through + 1;
  const pause = pauseAfter(turn.tries.get(height) ?? 0);
  const { tries } = await storeUnreadable(sql, { network, view: "again", height, reason }, pause);
  const told = { network, height, reason, tries };
  if (tries === 1) {
    logEvent("treasury.block_waits", told);
  } else if (tries === ALARM_TRIES) {
    logEvent("treasury.block_unreadable", told);
  }
  return through;
}
