/**
 * One turn of a lane: what becomes of each number (nonce) that is promised and that no solid block has used yet.
 * A pure decision, lowest nonce first, as nothing is in a block before what stands in front of it.
 *
 * @module
 */

import type { FeeEstimate } from "../../chains/fees.ts";
import type { LaneAsk } from "../../chains/lane.ts";
import type { PromisedNonce } from "../../ledger/lanes/open_nonces.ts";

/** A nonce that is promised, as its turn sees it. */
export interface OpenNonce extends Omit<PromisedNonce, "payer"> {
  /** The signer has refused its transfers for reasons of their own, they would fail, or they cannot be priced. */
  readonly isRefused: boolean;
}

/** The facts that a turn is decided by. */
export interface LaneView {
  /** The lowest first. */
  readonly open: readonly OpenNonce[];
  /** The chain's present terms; null: nothing is signed in this turn. */
  readonly ask: LaneAsk | null;
  /** Unseen for so long, a transaction is replaced, milliseconds. */
  readonly bumpAfterMs: number;
  /** Time for which a suspended merchant's nonce waits, milliseconds. */
  readonly suspendedMs: number;
  /** So many nonces may be unseen at once. */
  readonly mostUnseen: number;
  /** Nonces below it are in a block by the word of a node, which room goes by and nothing else; absent: none was asked. */
  readonly usedBelow?: number | undefined;
  /** True where that is above all that were ever promised: no more are until the scan has met what used them; default false. */
  readonly areBooksBehind?: boolean;
  /** Nonces below it are believed to be in a block, and are not replaced; default 0. */
  readonly believedBelow?: number;
  /** False while the newest blocks are not read: what they may show is not replaced. */
  readonly isHeadRead: boolean;
  /** True: nothing is signed but what an administrator has asked to take out of use; default false. */
  readonly cancelsOnly?: boolean;
}

/** The next thing to do with a nonce. */
export type LaneStep =
  /** Sign its transfers for the first time: this process or another died between promise and signature. */
  | { readonly do: "sign"; readonly nonce: OpenNonce }
  /** Sign another transaction of it with higher fees: the same transfers, or nothing at all. */
  | {
    readonly do: "replace";
    readonly nonce: OpenNonce;
    readonly purpose: "pay" | "cancel";
    readonly fee: FeeEstimate;
  }
  /** Sign a transfer of nothing with it, as nothing else takes it: what stands behind it must not wait. */
  | { readonly do: "fill"; readonly nonce: OpenNonce; readonly fee: FeeEstimate };

export interface LaneTurn {
  /** In the order in which they are done. */
  readonly steps: readonly LaneStep[];
  /** Nonces that may be promised besides. */
  readonly room: number;
  /** Reasons that open nonces wait for, by nonce; of those that wait for a block alone, none. */
  readonly waits: ReadonlyMap<number, string>;
}

/** The reason shown where the chain asks for more than the cap allows. */
export const ABOVE_CAP = "waiting: fees are above the cap";
/** The reason shown for a nonce whose merchant is suspended, until it is filled. */
const SUSPENDED = "waiting: its merchant is suspended";
/** Transactions that are replaced in one turn; a jump of fees concerns all of them. */
const MOST_REPLACED = 5;
/** Time for which the nonce of a suspended merchant's payout waits for the merchant to be active again, milliseconds. */
export const SUSPENDED_MS = 30_000;

/**
 * Decides a turn: first what has no signature (a nonce without one holds up all that follow), then what an
 * administrator wants out of use, then replacements (the lowest unseen one, and those that blocks pass
 * over; five at most). What a block shows is left alone.
 */
export function laneTurn(view: LaneView): LaneTurn {
  const { open, ask } = view;
  const waits = new Map<number, string>();
  const unsigned = open.filter(({ attempts }) => attempts.length === 0);
  const unseen = open.filter(({ attempts }) =>
    attempts.length > 0 && !attempts.some(({ isSeen }) => isSeen)
  );
  const isNext = ({ isCancelAsked }: OpenNonce) => isCancelAsked || view.cancelsOnly !== true;
  const first = ask === null ? [] : unsignedSteps(view, unsigned.filter(isNext), ask, waits);
  const replacements = ask === null ? [] : replaceSteps(unseen.filter(isNext), ask, view, waits);
  const room = view.areBooksBehind === true ? 0 : roomBehind(view, unseen, unsigned);
  return { steps: [...first, ...replacements], room, waits };
}

/** While nodes say that nonces are used, so many times those that may be unseen are promised until the scan shows it as well. */
const MOST_TIMES_UNSEEN = 16;

/**
 * Nonces that may be promised besides: nodes hold so many of one sender that are in no block. Those whose transfers the signer
 * refuses wait without a fee as long as nothing stands behind them: where they have taken up a lane altogether, one more is
 * promised, for which they are filled.
 */
function roomBehind(
  { mostUnseen, usedBelow = 0 }: LaneView,
  unseen: readonly OpenNonce[],
  unsigned: readonly OpenNonce[],
): number {
  const pending = unseen.filter(({ nonce }) => nonce >= usedBelow).length + unsigned.length;
  const believed = MOST_TIMES_UNSEEN * mostUnseen - unseen.length - unsigned.length;
  const room = Math.max(0, Math.min(mostUnseen - pending, believed));
  const isTakenUp = unseen.length === 0 && unsigned.length === mostUnseen &&
    unsigned.every(({ isRefused }) => isRefused);
  return isTakenUp ? 1 : room;
}

/** Steps of nonces that nothing is signed with: what is to be filled before what is to be signed. */
function unsignedSteps(
  { open, suspendedMs, mostUnseen }: LaneView,
  unsigned: readonly OpenNonce[],
  ask: LaneAsk,
  waits: Map<number, string>,
): readonly LaneStep[] {
  // what has a signature, or gets one now, must not stand behind one that gets none; nor must what was promised as nothing
  // else had room, whether or not it is refused as well by now
  const extra = unsigned[mostUnseen];
  const last =
    open.findLast((nonce) => nonce.attempts.length > 0 || isSignable(nonce) || nonce === extra)
      ?.nonce ?? -1;
  const steps: LaneStep[] = [];
  for (const nonce of unsigned) {
    const next = unsignedStep(nonce, nonce.nonce < last, ask, suspendedMs);
    if (typeof next === "string") waits.set(nonce.nonce, next);
    else steps.push(next);
  }
  return steps.sort((a, b) => Number(a.do === "sign") - Number(b.do === "sign"));
}

/** True where a turn may sign something with a nonce. */
export function needsTerms(
  { nonce, attempts, isCancelAsked }: Pick<OpenNonce, "nonce" | "attempts" | "isCancelAsked">,
  bumpAfterMs: number,
  believedBelow: number,
): boolean {
  const [newest] = attempts;
  if (newest === undefined || isCancelAsked) return true;
  return nonce >= believedBelow && !attempts.some(({ isSeen }) => isSeen) &&
    newest.ageMs >= bumpAfterMs;
}

/** True where nothing keeps a nonce's transfers from being signed with it. */
function isSignable({ intents, isCancelAsked, isRefused }: OpenNonce): boolean {
  return !isCancelAsked && !isRefused &&
    intents.every(({ status, isActive }) => status === "queued" && isActive);
}

/** The replacements of a turn, at most {@linkcode MOST_REPLACED}. */
function replaceSteps(
  unseen: readonly OpenNonce[],
  ask: LaneAsk,
  { open, bumpAfterMs, isHeadRead, believedBelow = 0 }: LaneView,
  waits: Map<number, string>,
): readonly Extract<LaneStep, { readonly do: "replace" }>[] {
  const steps: Extract<LaneStep, { readonly do: "replace" }>[] = [];
  const lowest = unseen.find(({ nonce }) => nonce >= believedBelow);
  for (const nonce of unseen) {
    if (steps.length === MOST_REPLACED) break;
    const purpose = purposeOf(nonce);
    const isAsked = purpose === "cancel" && nonce.attempts[0]?.purpose === "pay";
    const isDue = isHeadRead && nonce.nonce >= believedBelow &&
      isStuck(nonce, nonce === lowest, ask, bumpAfterMs);
    if (!isAsked && !isDue) continue;
    const bytes = nonce.attempts.map((attempt) => attempt.bytes);
    const fee = purpose === "cancel" ? ask.cancelling(bytes) : ask.replacing(bytes);
    if (fee !== null) {
      steps.push({ do: "replace", nonce, purpose, fee });
      continue;
    }
    // what several share is above the cap long before what stands behind it is: they are planned again
    const isInTheWay = purpose === "pay" && nonce.intents.length > 1 && nonce !== open.at(-1) &&
      ask.isPassedOver(bytes[0] ?? "");
    const cancel = isInTheWay ? ask.cancelling(bytes) : null;
    if (cancel === null) waits.set(nonce.nonce, ABOVE_CAP);
    else steps.push({ do: "replace", nonce, purpose: "cancel", fee: cancel });
  }
  return steps;
}

/**
 * The step of a nonce that nothing is signed with; a text: what it waits for.
 *
 * @param hasBehind a signature, or one that is to be made, waits for it
 */
function unsignedStep(
  nonce: OpenNonce,
  hasBehind: boolean,
  ask: LaneAsk,
  suspendedMs: number,
): LaneStep | string {
  const { intents, isCancelAsked, isRefused, ageMs } = nonce;
  // its transfers share one transaction: one that is given up takes it from all of them
  const isWhole = intents.every(({ status }) => status === "queued");
  if (isWhole && !isCancelAsked) {
    const areActive = intents.every(({ isActive }) => isActive);
    // what was refused is asked for again: a cap of the day ends, and a cancel would cost a fee
    if (areActive && !(isRefused && hasBehind)) return { do: "sign", nonce };
    if (!areActive && ageMs < suspendedMs) return SUSPENDED;
  }
  const fee = ask.cancelling([]);
  return fee === null ? ABOVE_CAP : { do: "fill", nonce, fee };
}

/** The purpose of a nonce's next transaction; what is taken out of use stays so. */
function purposeOf({ attempts, isCancelAsked }: OpenNonce): "pay" | "cancel" {
  return isCancelAsked ? "cancel" : attempts[0]?.purpose ?? "pay";
}

/** True where blocks have had their time to take it, and have not, or will not. */
function isStuck(
  { attempts }: OpenNonce,
  isLowest: boolean,
  ask: LaneAsk,
  bumpAfterMs: number,
): boolean {
  const [newest] = attempts;
  if (newest === undefined || newest.ageMs < bumpAfterMs) return false;
  return isLowest || ask.isPassedOver(newest.bytes);
}
