import type { BookCheck } from "./difference.ts";
import { bucketsWithin, rowsWithin, within } from "./slices.ts";

/** Rules of what is stored in sums: counts of lists and of events, margins of a day. */
export const LIST_CHECKS: readonly BookCheck[] = [
  {
    rule: "kept counts and sums are those of the lists",
    scopes: ["full"],
    by: "rows",
    query: (sql, slice) =>
      sql`
      WITH last AS (
        SELECT a.merchant_id, l.list, l.seq FROM book.account a
        CROSS JOIN LATERAL (VALUES ('withdrawal', a.withdrawal_seq), ('deposit', a.deposit_seq),
          ('settlement', a.settlement_seq), ('transaction', a.transaction_seq), ('charge', a.charge_seq)) l(list, seq)
      ), counted AS (
        SELECT merchant_id, list, (r.seq - 1) / 250 AS bucket, currency, network, status, type,
          count(*) AS count, sum(effect) AS effect
        FROM (
          SELECT merchant_id, 'withdrawal' AS list, seq, currency, network, status, '' AS type, 0::numeric AS effect
          FROM book.withdrawal WHERE seq IS NOT NULL AND ${rowsWithin(sql, slice)}
          UNION ALL SELECT merchant_id, 'deposit', seq, currency, network, status, '', 0 FROM book.deposit
          WHERE ${rowsWithin(sql, slice)}
          UNION ALL SELECT merchant_id, 'settlement', seq, currency, network, status, '', 0 FROM book.settlement
          WHERE ${rowsWithin(sql, slice)}
          UNION ALL SELECT merchant_id, 'charge', seq, currency, network, '', type, amount FROM book.charge
          WHERE ${rowsWithin(sql, slice)}
          UNION ALL SELECT merchant_id, 'transaction', seq, currency, network, status, type, effect FROM book.transaction
          WHERE ${rowsWithin(sql, slice)}) r
        JOIN last USING (merchant_id, list) WHERE r.seq <= last.seq / 250 * 250
        GROUP BY 1, 2, 3, 4, 5, 6, 7
      ), kept AS (
        SELECT * FROM book.list_bucket WHERE ${bucketsWithin(sql, slice)}
      )
      SELECT format('%s of %s, bucket %s, %s/%s %s%s', list, merchant_id, bucket, currency, network, status, type) AS subject,
        format('kept %s rows worth %s, found %s worth %s', coalesce(k.count, 0), trim_scale(coalesce(k.effect, 0)),
          coalesce(c.count, 0), trim_scale(coalesce(c.effect, 0))) AS detail
      FROM counted c FULL JOIN kept k USING (merchant_id, list, bucket, currency, network, status, type)
      WHERE coalesce(c.count, 0) <> coalesce(k.count, 0) OR coalesce(c.effect, 0) <> coalesce(k.effect, 0)`,
  },
  {
    rule: "sums of large buckets are those of their buckets",
    scopes: ["full"],
    by: "merchants",
    query: (sql, slice) =>
      sql`
      WITH summed AS (
        SELECT b.merchant_id, b.list, b.bucket / 256 AS large_bucket, b.currency, b.network, b.status, b.type,
          sum(b.count) AS count, sum(b.effect) AS effect
        FROM book.list_bucket b JOIN book.list_summed s USING (merchant_id, list)
        WHERE b.bucket / 256 < s.large_buckets AND ${within(sql, "b.merchant_id", slice)}
        GROUP BY 1, 2, 3, 4, 5, 6, 7
      ), kept AS (
        SELECT * FROM book.list_large_bucket WHERE ${within(sql, "merchant_id", slice)}
      )
      SELECT format('%s of %s, large bucket %s, %s/%s %s%s', list, merchant_id, large_bucket, currency, network, status, type) AS subject,
        format('kept %s rows worth %s, found %s worth %s', coalesce(k.count, 0), trim_scale(coalesce(k.effect, 0)),
          coalesce(c.count, 0), trim_scale(coalesce(c.effect, 0))) AS detail
      FROM summed c FULL JOIN kept k USING (merchant_id, list, large_bucket, currency, network, status, type)
      WHERE coalesce(c.count, 0) <> coalesce(k.count, 0) OR coalesce(c.effect, 0) <> coalesce(k.effect, 0)`,
  },
  {
    rule: "kept counts of events are those of the events",
    scopes: ["full"],
    by: "merchants",
    query: (sql, slice) =>
      sql`
      WITH counted AS (
        SELECT merchant_id, book.event_bucket(id) AS bucket, status, type, count(*) AS n
        FROM book.outbox WHERE status <> 'PENDING' AND ${
        within(sql, "merchant_id", slice)
      } GROUP BY 1, 2, 3, 4),
      kept AS (
        SELECT merchant_id, bucket, status, type, sum(count) AS n FROM (
          SELECT * FROM book.event_count UNION ALL SELECT * FROM book.event_delta) k
        WHERE ${within(sql, "merchant_id", slice)} GROUP BY 1, 2, 3, 4 HAVING sum(count) <> 0)
      SELECT format('events of %s, %s, %s %s', merchant_id, bucket, status, type) AS subject,
        format('kept %s, found %s', coalesce(k.n, 0), coalesce(c.n, 0)) AS detail
      FROM counted c FULL JOIN kept k USING (merchant_id, bucket, status, type)
      WHERE coalesce(c.n, 0) <> coalesce(k.n, 0)`,
  },
  {
    rule: "lists are numbered without gaps",
    scopes: ["full"],
    by: "merchants",
    query: (sql, slice) =>
      sql`
      WITH found AS (
        SELECT merchant_id, 'withdrawal' AS list, max(seq) AS last, count(seq) AS count FROM book.withdrawal
        WHERE ${within(sql, "merchant_id", slice)} GROUP BY 1
        UNION ALL SELECT merchant_id, 'deposit', max(seq), count(*) FROM book.deposit
        WHERE ${within(sql, "merchant_id", slice)} GROUP BY 1
        UNION ALL SELECT merchant_id, 'settlement', max(seq), count(*) FROM book.settlement
        WHERE ${within(sql, "merchant_id", slice)} GROUP BY 1
        UNION ALL SELECT merchant_id, 'transaction', max(seq), count(*) FROM book.transaction
        WHERE ${within(sql, "merchant_id", slice)} GROUP BY 1
        UNION ALL SELECT merchant_id, 'charge', max(seq), count(*) FROM book.charge
        WHERE ${within(sql, "merchant_id", slice)} GROUP BY 1
      ), kept AS (
        SELECT a.merchant_id, c.list, c.last FROM book.account a
        CROSS JOIN LATERAL (VALUES ('withdrawal', a.withdrawal_seq), ('deposit', a.deposit_seq),
          ('settlement', a.settlement_seq), ('transaction', a.transaction_seq), ('charge', a.charge_seq)) c(list, last)
        WHERE ${within(sql, "a.merchant_id", slice)}
      )
      SELECT format('%s of %s', list, merchant_id) AS subject,
        format('counter %s, last row %s, %s rows', k.last, coalesce(f.last, 0), coalesce(f.count, 0)) AS detail
      FROM kept k FULL JOIN found f USING (merchant_id, list)
      WHERE coalesce(k.last, 0) <> coalesce(f.last, 0) OR coalesce(f.last, 0) <> coalesce(f.count, 0)`,
  },
  {
    rule: "margins per day are those of the margins",
    scopes: ["full"],
    by: "merchants",
    query: (sql, slice) =>
      sql`
      WITH counted AS (
        SELECT merchant_id, beneficiary, (created_at AT TIME ZONE 'UTC')::date AS day, currency, network,
          count(*) FILTER (WHERE fee > 0) AS events, sum(volume) AS volume, sum(fee) AS fee,
          sum(earned) AS earned, sum(reversed) AS reversed
        FROM book.margin WHERE ${within(sql, "merchant_id", slice)} GROUP BY 1, 2, 3, 4, 5
      ), kept AS (
        SELECT * FROM book.margin_day WHERE ${within(sql, "merchant_id", slice)}
      )
      SELECT format('%s for %s on %s, %s/%s', merchant_id, beneficiary, day, currency, network) AS subject,
        format('kept %s - %s, found %s - %s', trim_scale(k.earned), trim_scale(k.reversed),
          trim_scale(c.earned), trim_scale(c.reversed)) AS detail
      FROM counted c FULL JOIN kept k USING (merchant_id, beneficiary, day, currency, network)
      WHERE (c.events, c.volume, c.fee, c.earned, c.reversed)
        IS DISTINCT FROM (k.events, k.volume, k.fee, k.earned, k.reversed)`,
  },
];
