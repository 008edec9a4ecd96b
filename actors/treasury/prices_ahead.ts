/** Prices that are asked for at the same time. */
const AT_ONCE = 8;

/**
 * Prices of rows in their order, with the next ones asked for ahead: one after the other, a node that
 * is 100 ms away would hold a wallet to ten transfers a second. Nothing is asked ahead of a row that
 * is not asked for itself, so that a queue that waits for money costs no calls.
 *
 * @param price asks for one; a failure is told when its row's turn comes
 */
export function pricesAhead<Row extends { readonly id: string }, Price>(
  rows: readonly Row[],
  price: (row: Row) => Promise<Price>,
): (row: Row) => Promise<Price> {
  const asked = new Map<string, Promise<Price>>();
  const places = new Map(rows.map(({ id }, place) => [id, place]));
  return (row) => {
    const place = places.get(row.id) ?? 0;
    for (const next of rows.slice(place, place + AT_ONCE)) {
      if (asked.has(next.id)) continue;
      const answer = price(next);
      // its turn to be awaited comes later, or never
      answer.catch(() => {});
      asked.set(next.id, answer);
    }
    return asked.get(row.id) ?? price(row);
  };
}
