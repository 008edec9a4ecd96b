import { type BookCheck, type Difference, MOST_DIFFERENCES } from "./difference.ts";

/** What is reserved is for payouts under way, and what is pending for deposits that are. */
export const openPaymentsAndBalances: BookCheck = async (sql) =>
  await sql<Difference[]>`
    WITH open AS (
      SELECT merchant_id, currency, network, 'reserved' AS account, sum(amount) AS amount
      FROM book.withdrawal WHERE status IN ('PENDING', 'PENDING_APPROVAL') GROUP BY 1, 2, 3
      UNION ALL
      SELECT merchant_id, currency, network, 'pending', sum(amount)
      FROM book.deposit WHERE status = 'PENDING' GROUP BY 1, 2, 3
    ), held AS (
      SELECT b.merchant_id, b.currency, b.network, a.account, a.amount FROM book.balance b
      CROSS JOIN LATERAL (VALUES ('pending', b.pending), ('reserved', b.reserved)) a(account, amount)
    )
    SELECT format('%s %s/%s %s', merchant_id, currency, network, account) AS subject,
      format('held %s, open payments %s', trim_scale(coalesce(h.amount, 0)), trim_scale(coalesce(o.amount, 0))) AS detail
    FROM held h FULL JOIN open o USING (merchant_id, currency, network, account)
    WHERE coalesce(h.amount, 0) <> coalesce(o.amount, 0)
    ORDER BY 1 LIMIT ${MOST_DIFFERENCES}`;
