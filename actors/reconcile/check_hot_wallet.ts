/**
 * Checks that the hot wallet moved by our orders only: its tokens, and the chain's coin, of which fees
 * are taken too. What it held at one solid block, with what our own transactions brought and took since
 * then, is the least it must hold at a later one: less means that it was moved by another hand.
 * More is money from outside, which does no harm.
 *
 * A node does not say of which block a balance is. Usually it is one from the newest before to the
 * newest after it was asked, `low` to `high`. Taking our moves out of it, for each of these blocks,
 * says between which amounts the wallet would be, had we not moved it. If it is exactly the level stored
 * last, that level is carried on, which can neither hide nor invent anything. If the level is between
 * them, our transfers explain it, and nothing is stored: the next comparison begins at the same old
 * block, and what hid in them is reported as soon as a balance is exact.
 *
 * As nodes stand in for each other, the balance may also be of the block before `low` or after
 * `high`, so no deviation is believed of one reading. It is read again at a later block, when all from
 * `low - 1` to `high + 1` is known. What counts is the smaller deviation of both readings, each for the
 * block of these that makes it the smallest:
 *
 * - What both lack was taken. A theft is lacking in every later reading from the same stored level on: it is
 *   reported in the first comparison around which no own move is as large, and until then as not
 *   confirmed, or as above. A node that is a block off in every reading is never an alarm: the blocks
 *   around the first reading explain it, whatever was paid in each of them.
 * - What both have too much came from outside, and becomes part of the stored level.
 * - What is lacking otherwise is reported as not confirmed, and no level is stored.
 *
 * A first level, or one that an operator accepts, is taken at once if we moved nothing just before it,
 * and otherwise of two readings too: the least that they allow.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import {
  add,
  type Amount,
  formatAmount,
  max,
  min,
  subtract,
  ZERO,
} from "../../ledger/money/amount.ts";
import type { OutgoingAsset } from "../../ledger/money/pair.ts";
import type { Difference } from "../../ledger/reconcile/difference.ts";
import {
  storeWalletLevel,
  type WalletLevel,
  type WalletMoves,
} from "../../ledger/reconcile/holdings.ts";
import { type Reading, readWallet, type Unmoved, unmovedOf } from "./read_wallet.ts";
import { type ChainCheck, ScanBehind, untilPassed } from "./passed_block.ts";
import type { Compared } from "./report.ts";

/** By how many blocks a balance may be off those it was read between. */
const OFF = 1;

/** A reading that is not as expected, or one whose balance is to be the basis. */
interface Doubt {
  readonly reading: Reading;
  /** Finding, in words. */
  readonly seen: string;
}

/** Result of a second reading; null: there is nothing to report. */
type Settled =
  | { readonly kind: "difference"; readonly difference: Difference }
  | { readonly kind: "open"; readonly reason: string }
  | null;

/**
 * Compares the hot wallet with what it held when it was last found right.
 *
 * @param accept whether what it holds is taken for right whatever it is: an operator said so
 */
export async function checkHotWallet(check: ChainCheck, accept = false): Promise<Compared> {
  const readings: Reading[] = [];
  const unread: string[] = [];
  for (const asset of [...check.chain.capabilities.currencies, "native" as const]) {
    const answer = await readWallet(check, asset);
    if (answer.kind === "unread") unread.push(`${asset}: ${answer.reason}`);
    else readings.push(answer.reading);
  }
  const differences: Difference[] = [];
  const behind = await reasonNotPassed(check, readings);
  if (behind !== null) unread.push(behind);
  else {
    const doubts: Doubt[] = [];
    for (const reading of readings) {
      const doubt = await doubtOf(check, reading, accept);
      if (doubt !== null) doubts.push(doubt);
    }
    for (const settled of await readTwice(check, doubts, accept)) {
      if (settled?.kind === "difference") differences.push(settled.difference);
      else if (settled?.kind === "open") unread.push(settled.reason);
    }
  }
  return { differences, unchecked: unread.length === 0 ? null : unread.join("; ") };
}

/** Waits for the scan; null: it has passed all of them. */
async function reasonNotPassed(
  check: ChainCheck,
  readings: readonly Reading[],
): Promise<string | null> {
  if (readings.length === 0) return null;
  try {
    await untilPassed(check, Math.max(...readings.map(({ high }) => high)));
    return null;
  } catch (error) {
    if (!(error instanceof ScanBehind)) throw error;
    return error.message;
  }
}

/** The part that a first reading leaves to a second one; null: none, its level is stored if it is exact. */
async function doubtOf(
  check: ChainCheck,
  reading: Reading,
  accept: boolean,
): Promise<Doubt | null> {
  const { asset, balance, low, high, last } = reading;
  const found = last === null ? null : await unmovedOf(check, reading, last.height, low, high);
  if (last !== null && found !== null && isExact(found, last)) {
    await storeWalletLevel(check.sql, check.chain.network, asset, { height: high, balance });
    return null;
  }
  if (last === null || found === null || accept) {
    const around = await unmovedOf(check, reading, last?.height ?? high, low - OFF, high);
    const seen = `${formatAmount(balance)} at block ${high} is no basis while transfers go on`;
    if (around.least !== around.most) return { reading, seen };
    await storeBasis(check, asset, { height: high, balance });
    return null;
  }
  if (found.most < last.balance) return { reading, seen: lackOf(reading, last, found) };
  // our own transfers of these blocks explain it, up to which of them cannot be told
  if (found.least !== found.most) return null;
  const more = formatAmount(subtract(found.least, last.balance));
  return { reading, seen: `${more} more than expected at block ${high}` };
}

function isExact({ least, most }: Unmoved, { balance }: WalletLevel): boolean {
  return least === balance && most === balance;
}

/** Looks again at all that is in doubt, at later blocks. */
async function readTwice(
  check: ChainCheck,
  doubts: readonly Doubt[],
  accept: boolean,
): Promise<readonly Settled[]> {
  const settled: Settled[] = [];
  const pairs: { readonly doubt: Doubt; readonly second: Reading }[] = [];
  for (const doubt of doubts) {
    const answer = await readWallet(check, doubt.reading.asset, doubt.reading);
    if (answer.kind === "read") pairs.push({ doubt, second: answer.reading });
    else settled.push(openOf(doubt, answer.reason));
  }
  const behind = await reasonNotPassed(check, pairs.map(({ second }) => second));
  for (const { doubt, second } of pairs) {
    if (behind !== null) settled.push(openOf(doubt, behind));
    else if (doubt.reading.last === null || accept) await storeLeast(check, doubt.reading, second);
    else settled.push(await settle(check, doubt, second, doubt.reading.last));
  }
  return settled;
}

/** Judges two readings together; all blocks up to the one after the first reading are known. */
async function settle(
  check: ChainCheck,
  doubt: Doubt,
  second: Reading,
  last: WalletLevel,
): Promise<Settled> {
  const { network } = check.chain;
  const { low, high, asset, balance } = second;
  const found = await unmovedOf(check, second, last.height, low, high);
  if (isExact(found, last)) {
    await storeWalletLevel(check.sql, network, asset, { height: high, balance });
    return null;
  }
  const [one, two] = await bothAround(check, last.height, doubt.reading, second);
  const lacking = subtract(last.balance, max(one.most, two.most));
  if (lacking > ZERO) {
    const difference = differenceOf(check.chain, second, last, two.moves, lacking);
    return { kind: "difference", difference };
  }
  const more = subtract(min(one.least, two.least), last.balance);
  if (more > ZERO) {
    const least = max(ZERO, add(add(last.balance, more), two.moved));
    await storeWalletLevel(check.sql, network, asset, { height: high, balance: least });
    logFunded(network, asset, more);
    return null;
  }
  const first = await unmovedOf(
    check,
    doubt.reading,
    last.height,
    doubt.reading.low,
    doubt.reading.high,
  );
  const isShort = found.most < last.balance;
  if (!isShort && first.most >= last.balance) return null;
  if (!isShort) return openOf(doubt, `${formatAmount(balance)} held at block ${high}`);
  return openOf(doubt, `${lackOf(second, last, found)}, and either look may be a block off`);
}

/** Stores the least that two readings allow, whichever blocks they are of. */
async function storeLeast(check: ChainCheck, first: Reading, second: Reading): Promise<void> {
  const [one, two] = await bothAround(check, first.last?.height ?? first.high, first, second);
  const balance = max(ZERO, add(min(one.least, two.least), two.moved));
  await storeBasis(check, first.asset, { height: second.high, balance });
}

/** Both readings, for all blocks that they may be of. */
async function bothAround(
  check: ChainCheck,
  since: number,
  first: Reading,
  second: Reading,
): Promise<readonly [Unmoved, Unmoved]> {
  return [
    await unmovedOf(check, first, since, first.low - OFF, first.high + OFF),
    // the block after it may not be known yet: what it explains is explained for the first one too
    await unmovedOf(check, second, since, second.low - OFF, second.high),
  ];
}

async function storeBasis(
  { sql, chain: { network } }: ChainCheck,
  asset: OutgoingAsset,
  level: WalletLevel,
): Promise<void> {
  await storeWalletLevel(sql, network, asset, level);
  logEvent("reconcile.wallet_begun", {
    network,
    asset,
    height: level.height,
  });
}

function openOf({ reading, seen }: Doubt, reason: string): Settled {
  return { kind: "open", reason: `${reading.asset}: ${seen}; not confirmed: ${reason}` };
}

function lackOf({ balance, high }: Reading, last: WalletLevel, { most }: Unmoved): string {
  const lacking = subtract(last.balance, most);
  return `${formatAmount(lacking)} less than expected at block ${high} ` +
    `(${formatAmount(balance)} held, ${formatAmount(add(balance, lacking))} expected)`;
}

function differenceOf(
  { network, hotWallet }: ChainCheck["chain"],
  { asset, balance, high }: Reading,
  last: WalletLevel,
  moves: readonly WalletMoves[],
  lacking: Amount,
): Difference {
  const sum = (part: "came" | "went" | "fees") =>
    formatAmount(moves.reduce((all, one) => add(all, one[part]), ZERO));
  return {
    subject: `${hotWallet} ${asset}/${network}`,
    detail: `${formatAmount(lacking)} left it without an order of the service ` +
      `between block ${last.height} (${formatAmount(last.balance)}) and block ${high} ` +
      `(${formatAmount(balance)}): ${sum("came")} came and ${sum("went")} went by our transfers` +
      (asset === "native" ? `, ${sum("fees")} were taken as fees` : ""),
  };
}

function logFunded(network: string, asset: OutgoingAsset, amount: Amount): void {
  logEvent("reconcile.wallet_filled", {
    network,
    asset,
    amount: formatAmount(amount),
  });
}
