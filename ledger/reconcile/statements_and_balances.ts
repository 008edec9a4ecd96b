import { type BookCheck, type Difference, MOST_DIFFERENCES } from "./difference.ts";

/** The lines of a statement add up to what is available. */
export const statementsAndBalances: BookCheck = async (sql) =>
  await sql<Difference[]>`
    WITH line AS (
      SELECT merchant_id, currency, network, sum(effect) AS effect FROM book.transaction
      GROUP BY 1, 2, 3
    )
    SELECT format('%s %s/%s', merchant_id, currency, network) AS subject,
      format('lines add up to %s, available %s', trim_scale(coalesce(l.effect, 0)), trim_scale(coalesce(b.available, 0))) AS detail
    FROM line l FULL JOIN book.balance b USING (merchant_id, currency, network)
    WHERE coalesce(l.effect, 0) <> coalesce(b.available, 0)
    ORDER BY 1 LIMIT ${MOST_DIFFERENCES}`;
