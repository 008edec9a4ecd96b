/**
 * Whether the hot wallet moved by our orders only: its tokens, and the chain's coin, of which fees are
 * burned too. What it held at one solid block, with what our own transactions brought and took since
 * then, is the least it must hold at a later one: less means that somebody else moves it. More is
 * money from outside, which is nobody's harm.
 *
 * A node does not say of which block a balance is: it lies between the newest before and the newest
 * after it was asked, `low` and `high`. Let `N(x)` be what our transactions did after `low` up to
 * block `x`. A balance that is right is at least `kept + moves up to low + N(x)` for the one `x` it is
 * of, hence at least that with the smallest `N(x)` of all of them: this is the rule. It may miss what
 * was taken up to the spread of `N`, so such a balance is never kept: the next comparison begins at
 * the same old block, and no spread adds to another. Where `N` is the same for all of them (one block,
 * or no transaction of ours), the rule is exact, and what was held is kept as the next basis.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import { ChainUnavailable } from "../../chains/chain.ts";
import { add, type Amount, formatAmount, max, min, subtract, ZERO } from "../../ledger/amount.ts";
import type { OutgoingAsset } from "../../ledger/pair.ts";
import type { Difference } from "../../ledger/reconcile/difference.ts";
import {
  keepWalletLevel,
  readWalletLevel,
  readWalletMoves,
  type WalletLevel,
  type WalletMoves,
} from "../../ledger/reconcile/wallet_level.ts";
import {
  type ChainCheck,
  NODE_MS,
  PAUSE_MS,
  ScanBehind,
  TRIES,
  untilPassed,
} from "./passed_block.ts";

const log = getLogger(["engine", "reconcile"]);

/** How often a look is tried that no block comes into; the narrowest one counts otherwise. */
const MOMENTS = 5;

/** What comparing the hot wallet came to. */
export interface HotWalletResult {
  readonly differences: readonly Difference[];
  /** What of it could not be compared, and why; null: all of it was. */
  readonly unchecked: string | null;
}

/** What it holds of an asset, at one of the solid blocks from `low` to `high`. */
interface Look {
  readonly asset: OutgoingAsset;
  readonly balance: Amount;
  readonly low: number;
  readonly high: number;
  /** The level it is compared with, which is not of a later block; null: there is none yet. */
  readonly last: WalletLevel | null;
}

/**
 * Compares the hot wallet with what it held when it was last found right.
 *
 * @param accept whether what it holds is taken for right whatever it is: an operator said so
 */
export async function checkHotWallet(check: ChainCheck, accept = false): Promise<HotWalletResult> {
  const looks: Look[] = [];
  const unread: string[] = [];
  for (const asset of [...check.chain.capabilities.currencies, "native" as const]) {
    const look = await tryToLook(check, asset);
    if (look.kind === "unread") unread.push(`${asset}: ${look.reason}`);
    else looks.push(look.look);
  }
  const differences: Difference[] = [];
  try {
    if (looks.length > 0) await untilPassed(check, Math.max(...looks.map(({ high }) => high)));
    for (const look of looks) {
      const difference = await compare(check, look, accept);
      if (difference !== null) differences.push(difference);
    }
  } catch (error) {
    if (!(error instanceof ScanBehind)) throw error;
    unread.push(error.message);
  }
  return { differences, unchecked: unread.length === 0 ? null : unread.join("; ") };
}

type LookAnswer =
  | { readonly kind: "read"; readonly look: Look }
  | { readonly kind: "unread"; readonly reason: string };

/** Reads an asset; one that no node tells must not hide what is found of the others. */
async function tryToLook(check: ChainCheck, asset: OutgoingAsset): Promise<LookAnswer> {
  try {
    return await lookAt(check, asset);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    return { kind: "unread", reason: error.message };
  }
}

/** Reads what it holds, of one block if there is a moment for it, otherwise of as few as possible. */
async function lookAt(check: ChainCheck, asset: OutgoingAsset): Promise<LookAnswer> {
  const { sql, chain, pause } = check;
  // before the chain is asked: beside another comparison a later level may be kept at any time
  const last = await readWalletLevel(sql, chain.network, asset);
  let best: Look | null = null;
  let newest = 0;
  let moments = 0;
  for (let tries = 0; tries < TRIES && moments < MOMENTS; tries++) {
    if (tries > 0) await pause(PAUSE_MS);
    const low = await newestOf(check);
    const balance = await chain.balanceOf(chain.hotWallet, asset, AbortSignal.timeout(NODE_MS));
    const high = await newestOf(check);
    newest = Math.max(newest, low);
    // a node that lags stood in for another one: the balance may be of a block before all of these
    if (high < low || low < (last?.height ?? 0)) continue;
    moments++;
    if (best === null || high - low <= best.high - best.low) {
      best = { asset, balance, low, high, last };
    }
    if (low === high) break;
  }
  if (best !== null) return { kind: "read", look: best };
  const reason = last !== null && newest < last.height
    ? `its nodes are at block ${newest}, before block ${last.height} that was compared already`
    : "its nodes do not agree on the newest block";
  return { kind: "unread", reason };
}

async function newestOf({ chain }: ChainCheck): Promise<number> {
  return (await chain.solid(AbortSignal.timeout(NODE_MS))).height;
}

/** Compares what was read, and keeps it where it is right and exact. */
async function compare(
  { sql, chain }: ChainCheck,
  look: Look,
  accept: boolean,
): Promise<Difference | null> {
  const { network, hotWallet } = chain;
  const { asset, balance, low, high, last } = look;
  const range = { after: last?.height ?? low, low, high };
  const moves = await readWalletMoves(sql, network, asset, hotWallet, range);
  const until = sumOf(moves.filter(({ height }) => height <= low));
  const { least, most, end } = spreadOf(moves.filter(({ height }) => height > low));
  if (last === null || accept) {
    // the least it can hold after block `high`, whichever block the balance is of
    const basis = max(ZERO, add(balance, subtract(end, most)));
    await keepWalletLevel(sql, network, asset, { height: high, balance: basis });
    log.info("{network}: the {asset} of the hot wallet is compared from block {height} on", {
      network,
      asset,
      height: high,
    });
    return null;
  }
  const expected = add(last.balance, until);
  const smallest = add(expected, least);
  if (balance < smallest) return differenceOf(chain, look, last, moves, smallest);
  if (least !== most) return null;
  await keepWalletLevel(sql, network, asset, { height: high, balance });
  if (balance > expected) tellFunded(network, asset, subtract(balance, expected));
  return null;
}

function netOf({ came, went, fees }: WalletMoves): Amount {
  return subtract(subtract(came, went), fees);
}

function sumOf(moves: readonly WalletMoves[]): Amount {
  return moves.reduce((sum, one) => add(sum, netOf(one)), ZERO);
}

/** The smallest, the largest and the last of the sums of moves, from none of them to all of them. */
function spreadOf(moves: readonly WalletMoves[]) {
  let least = ZERO;
  let most = ZERO;
  let end = ZERO;
  for (const one of moves) {
    end = add(end, netOf(one));
    least = min(least, end);
    most = max(most, end);
  }
  return { least, most, end };
}

function differenceOf(
  { network, hotWallet }: ChainCheck["chain"],
  { asset, balance, high }: Look,
  last: WalletLevel,
  moves: readonly WalletMoves[],
  smallest: Amount,
): Difference {
  const sum = (part: "came" | "went" | "fees") =>
    formatAmount(moves.reduce((all, one) => add(all, one[part]), ZERO));
  return {
    subject: `${hotWallet} ${asset}/${network}`,
    detail: `${formatAmount(subtract(smallest, balance))} left it without an order of ours ` +
      `between block ${last.height} (${formatAmount(last.balance)}) and block ${high} ` +
      `(${formatAmount(balance)}): ${sum("came")} came and ${sum("went")} went by our transfers` +
      (asset === "native" ? `, ${sum("fees")} were taken as fees` : ""),
  };
}

function tellFunded(network: string, asset: OutgoingAsset, amount: Amount): void {
  log.info("{network}: {amount} {asset} came to the hot wallet from outside", {
    network,
    asset,
    amount: formatAmount(amount),
  });
}
