/**
 * Prices of transactions before they are signed.
 *
 * @module
 */

import type { Chain } from "../../chains/chain.ts";
import type { FeeEstimate } from "../../chains/fees.ts";
import { type Amount, ZERO } from "../../ledger/money/amount.ts";
import type { QueuedRow } from "../../ledger/treasury/pull_queued.ts";
import { coinWalletOf, isDelegation, payerOf } from "./liquidity.ts";

/** Costs of a transaction. */
export interface Price {
  readonly fee: FeeEstimate;
  /** Coin that its wallet has to hold for it, besides what it moves. */
  readonly cost: Amount;
  /** See `SignedRow.feeLimit`. */
  readonly feeLimit: Amount;
  /** Coin of the deposit address that pays, read with its price; absent: the hot wallet pays. */
  readonly coin?: Amount;
}

/** Asks for the price of a transfer that goes alone. */
export type PriceOf = (row: QueuedRow) => Promise<Price>;

/** Asks nodes for the price of one transaction, with all transfers that it carries. */
export async function priceOf(
  chain: Chain,
  rows: readonly [QueuedRow, ...QueuedRow[]],
  signal?: AbortSignal,
): Promise<Price> {
  const [row] = rows;
  const { currency, amount, wallet } = row;
  const transfer = { from: payerOf(chain, wallet), to: row.destination, amount };
  if (coinWalletOf(row) !== "hot" && currency !== "native" && chain.gas !== undefined) {
    // a deposit address sends one thing at a time, so that what it has of its own counts
    const { fee, cost, coin } = await chain.gas.sweepCosts({ ...transfer, currency }, signal);
    return { fee: { ...fee, fee: cost }, cost, feeLimit: ZERO, coin };
  }
  const fee = await chain.estimateFee(
    rows.map((one) => ({
      from: payerOf(chain, one.wallet),
      to: one.destination,
      asset: one.currency,
      amount: one.amount,
      isDelegation: isDelegation(one),
    })),
    signal,
  );
  const cost = mostOf(fee);
  return { fee, cost, feeLimit: coinWalletOf(row) === "hot" ? cost : ZERO };
}

/** The most that a transaction may take. */
export function mostOf({ fee, limit, atMost = limit }: FeeEstimate): Amount {
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
