import { isRowLocked } from "./database_errors.ts";

/** Bound of the wait of a statement of {@linkcode writeApart} for a row, as PostgreSQL writes it. */
export const ROW_WAIT = "50ms";
/** After this long nothing more is tried apart, milliseconds. */
const APART_MS = 3_000;

/**
 * Writes items together; where a row that another transaction locks prevents it, in ever
 * smaller parts until what is locked, or refused, stands alone. Larger parts come first, so that nearly all are
 * written before the time is over; one try is always made.
 *
 * @param write all of its items or none, with a `lock_timeout` such as {@linkcode ROW_WAIT}
 * @param isApart the errors after which its items are tried apart; default: of a row that is locked
 * @returns the items that were not written, in no order
 * @throws any other error of `write`
 */
export async function writeApart<Item>(
  items: readonly Item[],
  write: (part: readonly Item[]) => Promise<void>,
  isApart: (error: unknown) => boolean = isRowLocked,
): Promise<readonly Item[]> {
  const end = performance.now() + APART_MS;
  const missed: Item[] = [];
  const parts = [items];
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    if (part.length === 0) continue;
    if (part !== items && performance.now() > end) {
      missed.push(...part);
      continue;
    }
    try {
      await write(part);
    } catch (error) {
      if (!isApart(error)) throw error;
      const half = Math.ceil(part.length / 2);
      if (part.length === 1) missed.push(...part);
      else parts.push(part.slice(0, half), part.slice(half));
    }
  }
  return missed;
}
