/**
 * Decides which sweeps share a transaction, where the hot wallet sends them.
 *
 * @module
 */

import type { QueuedRow } from "../../ledger/treasury/pull_queued.ts";
import { ABOVE_CAP } from "./lane_turn.ts";
import { ANOTHER_TRY } from "./waits.ts";

/** Beginning of reasons that say what comes by itself; any other may lie in the transfer. */
const WAITING = "waiting for ";

/**
 * Groups transfers by their transactions, in the order of their oldest ones. Sweeps of one currency that the hot
 * wallet pays for share one, as many as it can carry. As one that fails fails all of them, those whose last
 * try has not succeeded go alone, as does everything else. Those of one are in the order of their ids, in which their
 * nonce names them: a transaction that replaces it has authorisations by their places in the first one.
 *
 * @param most sweeps of one transaction
 * @param unlucky sweeps whose address had one before that did not succeed
 */
export function sharedTransactions(
  rows: readonly QueuedRow[],
  most: number,
  unlucky: ReadonlySet<string>,
): readonly (readonly [QueuedRow, ...QueuedRow[]])[] {
  const groups: [QueuedRow, ...QueuedRow[]][] = [];
  const open = new Map<string, [QueuedRow, ...QueuedRow[]]>();
  for (const row of rows) {
    const group = mayShare(row) && !unlucky.has(row.id) ? open.get(row.currency) : undefined;
    if (group !== undefined && group.length < most) {
      group.push(row);
      continue;
    }
    const begun: [QueuedRow, ...QueuedRow[]] = [row];
    groups.push(begun);
    if (mayShare(row) && !unlucky.has(row.id)) open.set(row.currency, begun);
  }
  for (const group of groups) group.sort((a, b) => a.id < b.id ? -1 : 1);
  return groups;
}

/** The transfers of a transaction in two parts, where it costs too much together; of one alone there are none. */
export function halvesOf(
  rows: readonly [QueuedRow, ...QueuedRow[]],
): readonly (readonly [QueuedRow, ...QueuedRow[]])[] {
  const half = Math.ceil(rows.length / 2);
  const [first, ...others] = rows.slice(0, half);
  const [middle, ...rest] = rows.slice(half);
  return first === undefined || middle === undefined ? [] : [[first, ...others], [middle, ...rest]];
}

/** True of a sweep of which nothing is known that another might suffer from. */
function mayShare({ kind, feePayer, attempts, reason }: QueuedRow): boolean {
  const isUnblamed = reason === null || reason === ABOVE_CAP ||
    reason.startsWith(WAITING) && reason !== ANOTHER_TRY;
  return kind === "sweep" && feePayer === "hot" && attempts === 0 && isUnblamed;
}
