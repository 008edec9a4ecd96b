import postgres from "postgres";

/** How long a statement of {@linkcode writeApart} may wait for a row, as PostgreSQL writes it. */
export const ROW_WAIT = "50ms";

/** True if a statement waited in vain for a row that another transaction holds. */
function isLocked(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === "55P03";
}

/**
 * Writes items together; where a row that another transaction holds keeps them from it, in ever
 * smaller parts until what is held stands alone. Larger parts come first, so that nearly all are
 * written before the time is over.
 *
 * @param boundMs after this long nothing more is tried, milliseconds; one try is always made
 * @param write all of its items or none, with a `lock_timeout` such as {@linkcode ROW_WAIT}
 * @returns the items that were not written, in no order
 * @throws what `write` throws for any other reason
 */
export async function writeApart<Item>(
  items: readonly Item[],
  boundMs: number,
  write: (part: readonly Item[]) => Promise<void>,
): Promise<readonly Item[]> {
  const end = performance.now() + boundMs;
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
      if (!isLocked(error)) throw error;
      const half = Math.ceil(part.length / 2);
      if (part.length === 1) missed.push(...part);
      else parts.push(part.slice(0, half), part.slice(half));
    }
  }
  return missed;
}
