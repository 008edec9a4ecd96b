import { logEvent } from "../../log/log_event.ts";
import {
  type BlockRef,
  type Chain,
  ChainUnavailable,
  type Checkpoint,
  NotOurChain,
} from "../../chains/chain.ts";
import type { FeeEstimate } from "../../chains/fees.ts";
import { add, type Amount, formatAmount, ZERO } from "../../ledger/money/amount.ts";
import type { OutgoingAsset } from "../../ledger/money/pair.ts";
import type { Commitments } from "../../ledger/treasury/hot_wallet.ts";
import type { QueuedRow } from "../../ledger/treasury/pull_queued.ts";
import { WOULD_FAIL } from "../../ledger/treasury/unlucky_sweeps.ts";
import type { Cursor } from "../../ledger/watcher/cursor.ts";
import { solidCheckpoint } from "./funds.ts";
import { ABOVE_CAP } from "./lane_turn.ts";
import { coinWalletOf, isDelegation, WalletLiquidity } from "./liquidity.ts";
import type { TimeBound } from "./part_bound.ts";
import { type Price, type PriceOf, priceOf, pricesAhead } from "./prices.ts";
import { halvesOf, sharedTransactions } from "./shared_sweeps.ts";
import { ANOTHER_TRY, type Pause, PAUSES, Silences, silentLast, type Waits } from "./waits.ts";

/** Deposit addresses that are looked at together. */
const AT_ONCE = 8;
/** The reason shown for a transfer whose token would not hand all of it over. */
const TOKEN_KEEPS = "the token would keep a part";
/** The reason shown while the nodes that answer may show money that has left. */
const NEWER_NODE = "waiting for a node that is up to date";

/** The reason shown for a transfer whose wallet holds too little of an asset. */
export function waitsFor(asset: OutgoingAsset): string {
  return `waiting for ${asset === "native" ? "the chain's coin" : asset}`;
}

/** The reason shown for a delegation that the hot wallet has no stake for. */
const WAITS_FOR_STAKE = "waiting for stake to delegate";

/** A transaction that can be signed now. */
export interface Payable {
  /** The transfers that it carries, in their order in it. */
  readonly rows: readonly [QueuedRow, ...QueuedRow[]];
  readonly fee: FeeEstimate;
  /** The most coin that it may take from the hot wallet, see `SignedRow.feeLimit`. */
  readonly feeLimit: Amount;
  /** The solid block that its envelope stands on. */
  readonly solid: BlockRef;
}

/** Input of a batch. */
export interface Batch {
  /** Oldest first. */
  readonly rows: readonly QueuedRow[];
  readonly commitments: Commitments;
  /** The own solid scan, read after the reservations: what they count as ended, it mostly has. */
  readonly cursor: Cursor | null;
  /** Sweeps that go alone, see {@linkcode sharedTransactions}. */
  readonly unlucky: ReadonlySet<string>;
  /** Takes every transfer that cannot be paid now. */
  readonly waits: Waits;
  /** Takes the currencies that nodes do not answer for. */
  readonly silent: Set<OutgoingAsset>;
  /** The time that nodes have for all of it; what is not answered for by then waits. Null: none is set. */
  readonly bound: TimeBound | null;
}

/**
 * Finds out what can be paid now, oldest first, and at which price. What goes wrong with one
 * transfer has that one wait, and no other.
 *
 * @throws {ChainUnavailable} when nodes answer for none of them
 */
export async function prepareBatch(
  chain: Chain,
  { rows, commitments, cursor, unlucky, waits, silent, bound }: Batch,
): Promise<readonly Payable[]> {
  if (rows.length === 0) return [];
  const { endedHeight } = commitments;
  const signal = bound?.signal;
  const isOver = () => bound?.isOver === true;
  const solid = await chain.solid(signal);
  if (solid.height < Math.max(cursor?.height ?? -1, endedHeight ?? -1)) {
    for (const row of rows) waitForNode(row, waits, `it is at block ${solid.height}`);
    return [];
  }
  let checkpoint: Checkpoint | undefined;
  try {
    checkpoint = await solidCheckpoint(chain, cursor, endedHeight, signal);
  } catch (error) {
    if (!(error instanceof NotOurChain)) throw error;
    for (const row of rows) waitForNode(row, waits, error.message);
    return [];
  }
  const liquidity = new WalletLiquidity(chain, commitments, checkpoint, signal);
  const payable: Payable[] = [];
  const silences = new Silences();
  const price = (row: QueuedRow) => priceOf(chain, [row], signal);
  const addPayable = async (carried: Payable["rows"], { fee, cost, feeLimit }: Price) => {
    // the fee is one: the others take nothing but what they move
    for (const [place, row] of carried.entries()) {
      await liquidity.spend(row, place === 0 ? cost : ZERO);
    }
    payable.push({ rows: carried, fee, feeLimit, solid });
  };
  const prepareNext = async (left: QueuedRow[], priceOfNext: PriceOf) => {
    for (let row = silences.next(left); row !== undefined; row = silences.next(left)) {
      if (isOver()) return;
      try {
        const price = await priceIfPayable(row, liquidity, priceOfNext, waits);
        if (price === null) continue;
        silences.answered(row);
        await addPayable([row], price);
      } catch (error) {
        if (error instanceof NotOurChain) {
          for (const one of [row, ...left.splice(0)]) waitForNode(one, waits, error.message);
        } else if (error instanceof ChainUnavailable) {
          unanswered([row], error);
        } else {
          const reason = `it cannot be prepared: ${error instanceof Error ? error.message : error}`;
          waits.add(row, reason, PAUSES.own, "the others go on");
        }
      }
    }
  };
  // what was asked for when the time was over is not to blame, and makes way for the others the next time
  const unanswered = ([head, ...others]: Payable["rows"], error: ChainUnavailable) => {
    if (!isOver()) return silences.unanswered(head, error);
    for (const row of [head, ...others]) waits.add(row, ANOTHER_TRY, PAUSES.node, error.message);
  };
  // what one wallet pays for shares its money; deposit addresses have nothing to do with each other
  const transactions = sharedTransactions(
    silentLast(rows.filter((row) => coinWalletOf(row) === "hot")),
    chain.capabilities.sweepsAtOnce,
    unlucky,
  );
  const payouts = transactions.flatMap((one) => one.length === 1 ? one : []);
  await prepareNext([...payouts], pricesAhead(payouts, price));
  const sweeps = silentLast(rows.filter((row) => coinWalletOf(row) !== "hot"));
  await Promise.all(Array.from({ length: AT_ONCE }, () => prepareNext(sweeps, price)));
  const prepareShared = async (there: Payable["rows"]) => {
    const parts = [there];
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
      const found = await priceOfShared(chain, part, liquidity, waits, signal);
      // one that would fail would fail all: each finds out for itself
      if (found === "apart") await prepareNext([...part], price);
      else if (found instanceof ChainUnavailable) {
        const halves = halvesOf(part);
        parts.unshift(...halves);
        if (halves.length > 0) continue;
        // nor do others fit where one alone does not
        const left = [part, ...parts.splice(0)].flat();
        for (const row of left) waits.add(row, ABOVE_CAP, PAUSES.money, found.message);
      } else if (found !== null) await addPayable(part, found);
    }
  };
  for (const shared of transactions.filter((one) => one.length > 1)) {
    const head = silences.next([shared[0]]);
    if (head === undefined || isOver()) continue;
    try {
      const there = await whoseMoneyIsThere(shared, liquidity, waits);
      if (there === null) continue;
      await prepareShared(there);
      silences.answered(head);
    } catch (error) {
      if (error instanceof NotOurChain) {
        for (const one of shared) waitForNode(one, waits, error.message);
      } else if (error instanceof ChainUnavailable) {
        unanswered(shared, error);
      } else {
        const reason = `it cannot be prepared: ${error instanceof Error ? error.message : error}`;
        for (const one of shared) waits.add(one, reason, PAUSES.own, "each is tried by itself");
      }
    }
  }
  silences.addTo(waits);
  const { givenUp, last } = silences;
  const isGivenUp = givenUp.length > 0 && last !== null;
  if (!isGivenUp && !isOver()) return payable;
  for (const currency of givenUp) silent.add(currency);
  const done = new Set(payable.flatMap((one) => one.rows.map(({ id }) => id)));
  const left = rows.filter(({ id }) => !done.has(id) && !waits.has(id));
  for (const row of left) waits.leave(row);
  if (isGivenUp && payable.length === 0) throw last;
  if (left.length > 0) {
    const reason = isGivenUp ? last.message : "nodes are slow";
    logEvent("treasury.transfers_left", { count: left.length, reason });
  }
  return payable;
}

/** Has a transfer wait that only nodes answer for which are behind what was read here. */
function waitForNode(row: QueuedRow, waits: Waits, detail: string): void {
  waits.add(row, NEWER_NODE, PAUSES.node, detail);
}

/** The price of a transfer that its wallet can pay now; `null`: it waits with its reason. */
async function priceIfPayable(
  row: QueuedRow,
  liquidity: WalletLiquidity,
  price: PriceOf,
  waits: Waits,
): Promise<Price | null> {
  const wait = (reason: string, pause: Pause, detail: string) => {
    waits.add(row, reason, pause, detail);
    return null;
  };
  const { currency, amount, wallet } = row;
  const forMoney = wallet === "hot" ? PAUSES.money : PAUSES.address;
  if (row.kind === "delegation") {
    const stake = await liquidity.delegatable();
    const detail = `${formatAmount(stake)} of ${formatAmount(amount)}`;
    if (stake < amount) return wait(WAITS_FOR_STAKE, PAUSES.address, detail);
  }
  if (!isDelegation(row)) {
    const left = await liquidity.left(wallet, currency);
    if (left < amount) {
      const detail = `${formatAmount(left)} of ${formatAmount(amount)}`;
      return wait(waitsFor(currency), forMoney, detail);
    }
  }
  try {
    const found = await price(row);
    const { arrives = amount } = found.fee;
    if (arrives !== amount) {
      return wait(TOKEN_KEEPS, PAUSES.own, `${formatAmount(arrives)} would arrive`);
    }
    const moved = currency === "native" && !isDelegation(row) ? amount : ZERO;
    const needed = add(found.cost, moved);
    const coinWallet = coinWalletOf(row);
    const coin = await liquidity.left(coinWallet, "native");
    if (coin >= needed) return found;
    const detail = `${formatAmount(coin)} of ${formatAmount(needed)}`;
    return wait(waitsFor("native"), coinWallet === "hot" ? PAUSES.money : PAUSES.address, detail);
  } catch (error) {
    if (!(error instanceof ChainUnavailable) || error instanceof NotOurChain) throw error;
    if (error.category === "reverted") {
      return wait(WOULD_FAIL, PAUSES.own, error.message);
    }
    // what one transfer would cost is no reason to hold up the others
    if (error.category === "above-cap") return wait(ABOVE_CAP, PAUSES.money, error.message);
    if (error.category === "malformed") {
      return wait("waiting for its price", PAUSES.own, error.message);
    }
    throw error;
  }
}

/**
 * Those of the sweeps of a transaction whose addresses have what they move; null: none. The others wait, each that no
 * node answers for as such: its address is to blame, and none that would have shared a transaction with it.
 */
async function whoseMoneyIsThere(
  shared: Payable["rows"],
  liquidity: WalletLiquidity,
  waits: Waits,
): Promise<Payable["rows"] | null> {
  const there: QueuedRow[] = [];
  let silence: ChainUnavailable | null = null;
  for (const row of shared) {
    try {
      const left = await liquidity.left(row.wallet, row.currency);
      if (left >= row.amount) there.push(row);
      else {
        const detail = `${formatAmount(left)} of ${formatAmount(row.amount)}`;
        waits.add(row, waitsFor(row.currency), PAUSES.address, detail);
      }
    } catch (error) {
      if (!(error instanceof ChainUnavailable) || error instanceof NotOurChain) throw error;
      silence = error;
      waits.add(row, ANOTHER_TRY, PAUSES.node, error.message);
    }
  }
  const [first, ...others] = there;
  // where no address is answered for, its nodes are to blame
  if (first === undefined && silence !== null) throw silence;
  return first === undefined ? null : [first, ...others];
}

/**
 * The price of sweeps that share a transaction; `apart`: not all of them would succeed. An error: they are above the cap
 * together. Null: they wait for coin.
 */
async function priceOfShared(
  chain: Chain,
  shared: Payable["rows"],
  liquidity: WalletLiquidity,
  waits: Waits,
  signal: AbortSignal | undefined,
): Promise<Price | "apart" | ChainUnavailable | null> {
  let price: Price;
  try {
    price = await priceOf(chain, shared, signal);
  } catch (error) {
    if (!(error instanceof ChainUnavailable) || error instanceof NotOurChain) throw error;
    // one of them is to blame: each finds out for itself
    if (error.category === "reverted" || error.category === "malformed") return "apart";
    if (error.category !== "above-cap") throw error;
    return error;
  }
  const { fee: { arrives }, cost } = price;
  const sum = shared.reduce((total, { amount }) => add(total, amount), ZERO);
  if (arrives !== undefined && arrives !== sum) return "apart";
  const coin = await liquidity.left("hot", "native");
  if (coin >= cost) return price;
  const detail = `${formatAmount(coin)} of ${formatAmount(cost)}`;
  for (const row of shared) waits.add(row, waitsFor("native"), PAUSES.money, detail);
  return null;
}
