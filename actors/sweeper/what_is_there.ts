/**
 * Finds the recorded transfers to an address that are still there, where it holds less than they come to.
 *
 * Sweeps take everything, and so does all else that can empty an address: a sweep that an older copy
 * of the database does not know, the issuer, another user of the keys. What is gone is therefore what
 * came first, and what is there came last. So transfers are gone through from the newest on, each
 * taking its place in the balance, until one does not fit: it and everything older may be gone, and
 * nothing of it is listed, also where it would fit into what is left. An older transfer that an
 * unknown sweep has moved never takes the place of a newer one that way.
 *
 * That holds only where nothing newer is there unnoticed: the scan must have passed the balance.
 * Those that a sweep may not list take their place all the same, and so do young ones, which a node
 * that lags may not show yet; what is moved without being listed is attached to the sweep later.
 *
 * Whichever are listed, together they are no more than is moved: so much has reached the hot wallet.
 *
 * @module
 */

import { add, type Amount, subtract, ZERO } from "../../ledger/money/amount.ts";
import type { OpenItem } from "../../ledger/sweeps/sweep_facts.ts";

/** Sums of transfers. */
export function sumOf(items: readonly OpenItem[]): Amount {
  return items.reduce((sum, { amount }) => add(sum, amount), ZERO);
}

/**
 * Splits transfers where an amount ends.
 *
 * @param open newest first
 * @param amount what there is of them
 */
export function splitAt(open: readonly OpenItem[], amount: Amount): {
  readonly there: readonly OpenItem[];
  readonly gone: readonly OpenItem[];
} {
  let left = amount;
  for (const [index, item] of open.entries()) {
    if (item.amount > left) return { there: open.slice(0, index), gone: open.slice(index) };
    left = subtract(left, item.amount);
  }
  return { there: open, gone: [] };
}

/** Those that may be listed now although more is noted than is there. */
export function listableOf(
  items: readonly OpenItem[],
  now: number,
  graceMs: number,
): readonly OpenItem[] {
  return items.filter((item) => item.listable && now - item.foundAt >= graceMs);
}

/** A final sweep that moved more than it lists. */
export interface Spare {
  readonly spare: Amount;
  /** Its block. */
  readonly height: number;
}

/**
 * Transfers that a sweep has moved without listing them. Where more are open than fit into what it
 * moved, those that are still on the address are not among them.
 *
 * @param open newest first
 * @param balance what the address holds in blocks that the scan has passed; null: not known
 */
export function carriedBy(
  { spare, height }: Spare,
  open: readonly OpenItem[],
  balance: Amount | null,
  now: number,
  graceMs: number,
): readonly OpenItem[] {
  const earlier = open.filter((item) => item.height < height);
  if (sumOf(earlier) <= spare) return earlier.filter((item) => item.listable);
  if (balance === null) return [];
  const gone = splitAt(open, balance).gone.filter((item) => item.height < height);
  return listableOf(splitAt(gone, spare).there, now, graceMs);
}
