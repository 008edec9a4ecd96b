import { type BookCheck, type Difference, MOST_DIFFERENCES } from "./difference.ts";

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
