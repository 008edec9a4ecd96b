import { type BookCheck, type Difference, MOST_DIFFERENCES } from "./difference.ts";

/** The house's balances are the sums of all merchants' entries. */
export const systemBalancesAndEntries: BookCheck = async (sql) =>
  await sql<Difference[]>`
    WITH posted AS (
      SELECT account, currency, network, sum(amount) AS balance FROM (
        SELECT to_account AS account, currency, network, amount FROM book.entry
        UNION ALL
        SELECT from_account, currency, network, -amount FROM book.entry) leg
      WHERE account NOT IN ('available', 'pending', 'reserved') GROUP BY 1, 2, 3
    )
    SELECT format('%s %s/%s', account, currency, network) AS subject,
      format('held %s, posted %s', trim_scale(coalesce(h.balance, 0)), trim_scale(coalesce(p.balance, 0))) AS detail
    FROM book.system_total h FULL JOIN posted p USING (account, currency, network)
    WHERE coalesce(h.balance, 0) <> coalesce(p.balance, 0)
    ORDER BY 1 LIMIT ${MOST_DIFFERENCES}`;
