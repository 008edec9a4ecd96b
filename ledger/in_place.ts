import type { Fragment } from "postgres";
import type { AnySql } from "./database/connect.ts";

/**
 * The end of a lateral look at table `x`: its row of the key `k`, in one place of the index that has the
 * columns of the key. The last of them is compared as a range of one value and taken in its order, which no
 * other index has. Compared by `=` alone, another one that shares a column, or all of a partial one, looks as
 * good to the planner where it knows nothing of the table, or knew it while it was small: each key then costs
 * as many rows as its merchant has.
 *
 * @param columns the index's first columns in their order, named alike in `x` and `k`; other conditions come before
 * @param newestBy the index's next column, of which the greatest is wanted
 */
export function inPlace(
  sql: AnySql,
  columns: readonly [string, ...string[]],
  newestBy?: string,
): Fragment {
  const equal = columns.slice(0, -1).map((column) => `x.${column} = k.${column} AND `).join("");
  const last = columns.at(-1);
  const order = newestBy === undefined ? `x.${last}` : `x.${last} DESC, x.${newestBy} DESC`;
  return sql.unsafe(
    `${equal}x.${last} >= k.${last} AND x.${last} <= k.${last} ORDER BY ${order} LIMIT 1`,
  );
}
