import { type BookCheck, type Difference, MOST_DIFFERENCES } from "./difference.ts";

/** Counts and sums that are kept per 1,000 rows of a list are those of the rows. */
export const listsAndCounts: BookCheck = async (sql) =>
  await sql<Difference[]>`
    WITH counted AS (
      SELECT merchant_id, list, (seq - 1) / 1000 AS block, currency, network, status,
        count(*) AS count, sum(effect) AS effect
      FROM (
        SELECT merchant_id, 'withdrawal' AS list, seq, currency, network, status, 0::numeric AS effect
        FROM book.withdrawal WHERE seq IS NOT NULL
        UNION ALL SELECT merchant_id, 'deposit', seq, currency, network, status, 0 FROM book.deposit
        UNION ALL SELECT merchant_id, 'settlement', seq, currency, network, status, 0 FROM book.settlement
        UNION ALL SELECT merchant_id, 'transaction', seq, currency, network, status, effect FROM book.transaction) r
      GROUP BY 1, 2, 3, 4, 5, 6
    )
    SELECT format('%s of %s, block %s, %s/%s %s', list, merchant_id, block, currency, network, status) AS subject,
      format('kept %s rows worth %s, found %s worth %s', coalesce(k.count, 0), trim_scale(coalesce(k.effect, 0)),
        coalesce(c.count, 0), trim_scale(coalesce(c.effect, 0))) AS detail
    FROM counted c FULL JOIN book.list_block k USING (merchant_id, list, block, currency, network, status)
    WHERE coalesce(c.count, 0) <> coalesce(k.count, 0) OR coalesce(c.effect, 0) <> coalesce(k.effect, 0)
    ORDER BY 1 LIMIT ${MOST_DIFFERENCES}`;
