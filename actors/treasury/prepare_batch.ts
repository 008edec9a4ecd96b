import { logEvent } from "../../log/log_event.ts";
import {
  type Chain,
  ChainUnavailable,
  type Checkpoint,
  type Envelope,
  NotOurChain,
} from "../../chains/chain.ts";
import type { FeeEstimate } from "../../chains/fees.ts";
import { add, type Amount, formatAmount, ZERO } from "../../ledger/money/amount.ts";
import type { OutgoingAsset } from "../../ledger/money/pair.ts";
import type { Commitments } from "../../ledger/treasury/hot_wallet.ts";
import type { QueuedRow } from "../../ledger/treasury/signing.ts";
import type { Cursor } from "../../ledger/watcher/cursor.ts";
import { solidCheckpoint } from "./funds.ts";
import { coinWalletOf, isDelegation, payerOf, WalletLiquidity } from "./liquidity.ts";
import { type Pause, PAUSES, Silences, silentLast, type Waits } from "./waits.ts";

/** Deposit addresses that are looked at together. */
const AT_ONCE = 8;
/** The reason shown while the nodes that answer may show money that has left. */
const NEWER_NODE = "waiting for a node that is up to date";
/** The reason shown for a transfer whose token would not hand all of it over. */
const TOKEN_KEEPS = "the token would keep a part";

/** The reason shown for a transfer whose wallet holds too little of an asset. */
export function waitsFor(asset: OutgoingAsset): string {
  return `waiting for ${asset === "native" ? "the chain's coin" : asset}`;
}

/** The reason shown for a delegation that the hot wallet has no stake for. */
const WAITS_FOR_STAKE = "waiting for stake to delegate";

/** A transfer that can be signed now. */
export interface Payable {
  readonly row: QueuedRow;
  readonly envelope: Envelope;
  /** See `SignedRow.feeLimit`. */
  readonly feeLimit: Amount;
  /** Height of the solid block that the envelope refers to. */
  readonly near: number;
}

/** Input of a batch. */
export interface Batch {
  /** Oldest first. */
  readonly rows: readonly QueuedRow[];
  readonly commitments: Commitments;
  /** The own solid scan, read after the reservations: what they count as ended, it mostly has. */
  readonly cursor: Cursor | null;
  /** Takes every transfer that cannot be paid now. */
  readonly waits: Waits;
  /** Takes the currencies that nodes do not answer for. */
  readonly silent: Set<OutgoingAsset>;
}

/**
 * Finds out what can be paid now, oldest first, and makes the envelopes. What goes wrong with one
 * transfer has that one wait, and no other.
 *
 * @throws {ChainUnavailable} when nodes answer for none of them
 */
export async function prepareBatch(
  chain: Chain,
  { rows, commitments, cursor, waits, silent }: Batch,
): Promise<readonly Payable[]> {
  if (rows.length === 0) return [];
  const { endedHeight } = commitments;
  const solid = await chain.solid();
  if (solid.height < Math.max(cursor?.height ?? -1, endedHeight ?? -1)) {
    for (const row of rows) waitForNode(row, waits, `it is at block ${solid.height}`);
    return [];
  }
  let checkpoint: Checkpoint | undefined;
  try {
    checkpoint = await solidCheckpoint(chain, cursor, endedHeight);
  } catch (error) {
    if (!(error instanceof NotOurChain)) throw error;
    for (const row of rows) waitForNode(row, waits, error.message);
    return [];
  }
  const liquidity = new WalletLiquidity(chain, commitments, checkpoint);
  const payable: Payable[] = [];
  const silences = new Silences();
  const price = (row: QueuedRow) => priceOf(chain, row);
  const prepareNext = async (left: QueuedRow[], priceOfNext: PriceOf) => {
    for (let row = silences.next(left); row !== undefined; row = silences.next(left)) {
      try {
        const price = await priceIfPayable(row, liquidity, priceOfNext, waits);
        if (price === null) continue;
        silences.answered(row);
        const { fee, cost, feeLimit } = price;
        const envelope = chain.envelope(solid, fee, null);
        await liquidity.spend(row, cost);
        payable.push({ row, envelope, feeLimit, near: solid.height });
      } catch (error) {
        if (error instanceof NotOurChain) {
          for (const one of [row, ...left.splice(0)]) waitForNode(one, waits, error.message);
        } else if (error instanceof ChainUnavailable) {
          silences.unanswered(row, error);
        } else {
          const reason = `it cannot be prepared: ${error instanceof Error ? error.message : error}`;
          waits.add(row, reason, PAUSES.own, "the others go on");
        }
      }
    }
  };
  // what one wallet pays for shares its money; deposit addresses have nothing to do with each other
  const payouts = silentLast(rows.filter((row) => coinWalletOf(row) === "hot"));
  await prepareNext([...payouts], pricesAhead(payouts, price));
  const sweeps = silentLast(rows.filter((row) => coinWalletOf(row) !== "hot"));
  await Promise.all(Array.from({ length: AT_ONCE }, () => prepareNext(sweeps, price)));
  silences.addTo(waits);
  if (silences.givenUp.length > 0 && silences.last !== null) {
    for (const currency of silences.givenUp) silent.add(currency);
    const done = new Set(payable.map(({ row }) => row.id));
    const left = rows.filter(({ id }) => !done.has(id) && !waits.has(id));
    for (const row of left) waits.leave(row);
    if (payable.length === 0) throw silences.last;
    logEvent("treasury.transfers_left", {
      count: left.length,
      reason: silences.last.message,
    });
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
      return wait("the transfer would fail", PAUSES.own, error.message);
    }
    // what one transfer would cost is no reason to hold up the others
    if (error.category === "malformed") {
      return wait("waiting for its price", PAUSES.own, error.message);
    }
    throw error;
  }
}

/** Costs of a row's transaction. */
interface Price {
  readonly fee: FeeEstimate;
  /** Coin that its wallet has to hold for it, besides what it moves. */
  readonly cost: Amount;
  /** See `SignedRow.feeLimit`. */
  readonly feeLimit: Amount;
}

type PriceOf = (row: QueuedRow) => Promise<Price>;

async function priceOf(chain: Chain, row: QueuedRow): Promise<Price> {
  const { currency, amount, wallet } = row;
  const transfer = { from: payerOf(chain, wallet), to: row.destination, amount };
  if (coinWalletOf(row) !== "hot" && currency !== "native" && chain.gas !== undefined) {
    // a deposit address sends one thing at a time, so that its own energy and bytes count
    const { fee, cost } = await chain.gas.sweepCosts({ ...transfer, currency });
    return { fee: { ...fee, fee: cost }, cost, feeLimit: ZERO };
  }
  const movement = { ...transfer, asset: currency, isDelegation: isDelegation(row) };
  const fee = await chain.estimateFee([movement]);
  const cost = mostOf(fee);
  return { fee, cost, feeLimit: coinWalletOf(row) === "hot" ? cost : ZERO };
}

/** The most that a transaction may take. */
function mostOf({ fee, limit, atMost = limit }: FeeEstimate): Amount {
  return fee > atMost ? fee : atMost;
}

/** Prices that are asked for at the same time. */
const PRICES_AHEAD = 8;

/**
 * Prices of rows in their order, with the next ones asked for ahead: one after the other, a node that
 * is 100 ms away would hold a wallet to ten transfers a second. Nothing is asked ahead of a row that
 * is not asked for itself, so that a queue that waits for money costs no calls.
 *
 * @param price asks for one; a failure is thrown when its row's turn comes
 */
export function pricesAhead<Row extends { readonly id: string }, Price>(
  rows: readonly Row[],
  price: (row: Row) => Promise<Price>,
): (row: Row) => Promise<Price> {
  const asked = new Map<string, Promise<Price>>();
  const places = new Map(rows.map(({ id }, place) => [id, place]));
  return (row) => {
    const place = places.get(row.id) ?? 0;
    for (const next of rows.slice(place, place + PRICES_AHEAD)) {
      if (asked.has(next.id)) continue;
      const answer = price(next);
      // its turn to be awaited comes later, or never
      answer.catch(() => {});
      asked.set(next.id, answer);
    }
    return asked.get(row.id) ?? price(row);
  };
}
