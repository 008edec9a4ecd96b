/**
 * Balances of the hot wallet as nodes show them, and what they come to without its own moves.
 *
 * @module
 */

import { ChainUnavailable } from "../../chains/chain.ts";
import { add, type Amount, max, min, negate, subtract, ZERO } from "../../ledger/money/amount.ts";
import type { OutgoingAsset } from "../../ledger/money/pair.ts";
import {
  readWalletLevel,
  readWalletMoves,
  type WalletLevel,
  type WalletMoves,
} from "../../ledger/reconcile/holdings.ts";
import { type ChainCheck, NODE_MS, PAUSE_MS, TRIES } from "./passed_block.ts";

/** Tries for a reading that no block comes into; the narrowest one counts otherwise. */
const MOMENTS = 5;

/** Balance of an asset, read while the newest solid block went from `low` to `high`. */
export interface Reading {
  readonly asset: OutgoingAsset;
  readonly balance: Amount;
  readonly low: number;
  readonly high: number;
  /** The level it is compared with, which is not of a later block; null: there is none yet. */
  readonly last: WalletLevel | null;
}

/** A reading, or why there is none. */
export type ReadingAnswer =
  | { readonly kind: "read"; readonly reading: Reading }
  | { readonly kind: "unread"; readonly reason: string };

/**
 * Reads an asset; one that no node tells must not hide what is found of the others.
 *
 * @param first the reading before this one, which a later block has to follow; null: there is none
 */
export async function readWallet(
  check: ChainCheck,
  asset: OutgoingAsset,
  first: Reading | null = null,
): Promise<ReadingAnswer> {
  try {
    // before the chain is asked: beside another comparison a later level may be kept at any time
    const last = first?.last ?? await readWalletLevel(check.sql, check.chain.network, asset);
    return await readAsset(check, asset, last, first);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    return { kind: "unread", reason: error.message };
  }
}

/** Reads what it holds, of one block if there is a moment for it, otherwise of as few as possible. */
async function readAsset(
  check: ChainCheck,
  asset: OutgoingAsset,
  last: WalletLevel | null,
  first: Reading | null,
): Promise<ReadingAnswer> {
  const { chain, pause } = check;
  const earliest = first === null ? last?.height ?? 0 : first.high + 1;
  let best: Reading | null = null;
  let newest = 0;
  let moments = 0;
  for (let tries = 0; tries < TRIES && moments < MOMENTS; tries++) {
    if (tries > 0) await pause(PAUSE_MS);
    const low = await newestOf(check);
    newest = Math.max(newest, low);
    if (low < earliest) continue;
    const balance = await chain.balanceOf(chain.hotWallet, asset, AbortSignal.timeout(NODE_MS));
    const high = await newestOf(check);
    // a node that lags stood in for another one: the balance may be of a block before all of these
    if (high < low) continue;
    moments++;
    if (best === null || high - low <= best.high - best.low) {
      best = { asset, balance, low, high, last };
    }
    if (low === high) break;
  }
  if (best !== null) return { kind: "read", reading: best };
  return { kind: "unread", reason: whyUnread(newest, last, first) };
}

function whyUnread(newest: number, last: WalletLevel | null, first: Reading | null): string {
  if (first !== null && newest <= first.high) return `no block came after block ${first.high}`;
  return last !== null && newest < last.height
    ? `its nodes are at block ${newest}, before block ${last.height} that was compared already`
    : "its nodes do not agree on the newest block";
}

async function newestOf({ chain }: ChainCheck): Promise<number> {
  return (await chain.solid(AbortSignal.timeout(NODE_MS))).height;
}

/** Balance that a wallet would have if it had not moved by own transactions since a block. */
export interface Unmoved {
  /** If the balance is of the block that makes this the least. */
  readonly least: Amount;
  readonly most: Amount;
  /** Sum that own transactions moved from that block up to the last one it may be of. */
  readonly moved: Amount;
  /** They, by block. */
  readonly moves: readonly WalletMoves[];
}

/**
 * Takes our own moves out of a balance. The scan has passed all of these blocks.
 *
 * @param since the block from which on moves are taken out
 * @param from the first block that the balance may be of
 * @param to the last one, not before `since`
 */
export async function unmovedOf(
  { sql, chain }: ChainCheck,
  { asset, balance }: Reading,
  since: number,
  from: number,
  to: number,
): Promise<Unmoved> {
  const range = { after: Math.min(since, from), low: from, high: to };
  const moves = await readWalletMoves(sql, chain.network, asset, chain.hotWallet, range);
  // at `from`: what was done up to there, or not yet done of what `since` has
  let moved = from < since
    ? negate(sumOf(moves.filter(({ height }) => height <= since)))
    : sumOf(moves.filter(({ height }) => height <= from));
  let lowest = moved;
  let highest = moved;
  for (const one of moves.filter(({ height }) => height > from)) {
    moved = add(moved, netOf(one));
    lowest = min(lowest, moved);
    highest = max(highest, moved);
  }
  return { least: subtract(balance, highest), most: subtract(balance, lowest), moved, moves };
}

function netOf({ came, went, fees }: WalletMoves): Amount {
  return subtract(subtract(came, went), fees);
}

function sumOf(moves: readonly WalletMoves[]): Amount {
  return moves.reduce((sum, one) => add(sum, netOf(one)), ZERO);
}
