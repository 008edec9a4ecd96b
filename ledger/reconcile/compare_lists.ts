import { type BookCheck, type Difference, MOST_DIFFERENCES } from "./difference.ts";

/** Counts of events that have ended, with what was not added to them yet, are those of the events. */
export const eventsAndCounts: BookCheck = async (sql) =>
  await sql<Difference[]>`
    WITH counted AS (
      SELECT merchant_id, book.stretch_of(id) AS stretch, status, type, count(*) AS n
      FROM book.outbox WHERE status <> 'PENDING' GROUP BY 1, 2, 3, 4),
    kept AS (
      SELECT merchant_id, stretch, status, type, sum(count) AS n FROM (
        SELECT * FROM book.event_count UNION ALL SELECT * FROM book.event_delta) k
      GROUP BY 1, 2, 3, 4 HAVING sum(count) <> 0)
    SELECT format('events of %s, %s, %s %s', merchant_id, stretch, status, type) AS subject,
      format('kept %s, found %s', coalesce(k.n, 0), coalesce(c.n, 0)) AS detail
    FROM counted c FULL JOIN kept k USING (merchant_id, stretch, status, type)
    WHERE coalesce(c.n, 0) <> coalesce(k.n, 0)
    ORDER BY 1 LIMIT ${MOST_DIFFERENCES}`;

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

/** Rows of a list are numbered without gaps, up to the account's counter. */
export const listsAndNumbers: BookCheck = async (sql) =>
  await sql<Difference[]>`
    WITH found AS (
      SELECT merchant_id, 'withdrawal' AS list, max(seq) AS last, count(seq) AS count FROM book.withdrawal GROUP BY 1
      UNION ALL SELECT merchant_id, 'deposit', max(seq), count(*) FROM book.deposit GROUP BY 1
      UNION ALL SELECT merchant_id, 'settlement', max(seq), count(*) FROM book.settlement GROUP BY 1
      UNION ALL SELECT merchant_id, 'transaction', max(seq), count(*) FROM book.transaction GROUP BY 1
      UNION ALL SELECT merchant_id, 'charge', max(seq), count(*) FROM book.charge GROUP BY 1
    ), kept AS (
      SELECT a.merchant_id, c.list, c.last FROM book.account a
      CROSS JOIN LATERAL (VALUES ('withdrawal', a.withdrawal_seq), ('deposit', a.deposit_seq),
        ('settlement', a.settlement_seq), ('transaction', a.transaction_seq), ('charge', a.charge_seq)) c(list, last)
    )
    SELECT format('%s of %s', list, merchant_id) AS subject,
      format('counter %s, last row %s, %s rows', k.last, coalesce(f.last, 0), coalesce(f.count, 0)) AS detail
    FROM kept k FULL JOIN found f USING (merchant_id, list)
    WHERE coalesce(k.last, 0) <> coalesce(f.last, 0) OR coalesce(f.last, 0) <> coalesce(f.count, 0)
    ORDER BY 1 LIMIT ${MOST_DIFFERENCES}`;
