import { type BookCheck, type Difference, MOST_DIFFERENCES } from "./difference.ts";

/** Counts and sums that are kept per 250 rows of a list are those of the rows. */
export const listsAndCounts: BookCheck = async (sql) =>
  await sql<Difference[]>`
    WITH counted AS (
      SELECT merchant_id, list, (seq - 1) / 250 AS block, currency, network, status, type,
        count(*) AS count, sum(effect) AS effect
      FROM (
        SELECT merchant_id, 'withdrawal' AS list, seq, currency, network, status, '' AS type, 0::numeric AS effect
        FROM book.withdrawal WHERE seq IS NOT NULL
        UNION ALL SELECT merchant_id, 'deposit', seq, currency, network, status, '', 0 FROM book.deposit
        UNION ALL SELECT merchant_id, 'settlement', seq, currency, network, status, '', 0 FROM book.settlement
        UNION ALL SELECT merchant_id, 'charge', seq, currency, network, '', type, amount FROM book.charge
        UNION ALL SELECT merchant_id, 'transaction', seq, currency, network, status, type, effect FROM book.transaction) r
      GROUP BY 1, 2, 3, 4, 5, 6, 7
    )
    SELECT format('%s of %s, block %s, %s/%s %s%s', list, merchant_id, block, currency, network, status, type) AS subject,
      format('kept %s rows worth %s, found %s worth %s', coalesce(k.count, 0), trim_scale(coalesce(k.effect, 0)),
        coalesce(c.count, 0), trim_scale(coalesce(c.effect, 0))) AS detail
    FROM counted c FULL JOIN book.list_block k USING (merchant_id, list, block, currency, network, status, type)
    WHERE coalesce(c.count, 0) <> coalesce(k.count, 0) OR coalesce(c.effect, 0) <> coalesce(k.effect, 0)
    ORDER BY 1 LIMIT ${MOST_DIFFERENCES}`;

/** Chunks of lists are the sums of their blocks. */
export const chunksAndBlocks: BookCheck = async (sql) =>
  await sql<Difference[]>`
    WITH summed AS (
      SELECT b.merchant_id, b.list, b.block / 256 AS chunk, b.currency, b.network, b.status, b.type,
        sum(b.count) AS count, sum(b.effect) AS effect
      FROM book.list_block b JOIN book.list_summed s USING (merchant_id, list)
      WHERE b.block / 256 < s.chunks GROUP BY 1, 2, 3, 4, 5, 6, 7
    )
    SELECT format('%s of %s, chunk %s, %s/%s %s%s', list, merchant_id, chunk, currency, network, status, type) AS subject,
      format('kept %s rows worth %s, found %s worth %s', coalesce(k.count, 0), trim_scale(coalesce(k.effect, 0)),
        coalesce(c.count, 0), trim_scale(coalesce(c.effect, 0))) AS detail
    FROM summed c FULL JOIN book.list_chunk k USING (merchant_id, list, chunk, currency, network, status, type)
    WHERE coalesce(c.count, 0) <> coalesce(k.count, 0) OR coalesce(c.effect, 0) <> coalesce(k.effect, 0)
    ORDER BY 1 LIMIT ${MOST_DIFFERENCES}`;
