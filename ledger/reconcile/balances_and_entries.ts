import { type BookCheck, type Difference, MOST_DIFFERENCES } from "./difference.ts";

/** A merchant's balances are the sums of its entries. */
export const balancesAndEntries: BookCheck = async (sql) =>
  await sql<Difference[]>`
    WITH posted AS (
      SELECT merchant_id, currency, network, account, sum(amount) AS amount FROM (
        SELECT merchant_id, currency, network, to_account AS account, amount FROM book.entry
        UNION ALL
        SELECT merchant_id, currency, network, from_account, -amount FROM book.entry) leg
      WHERE account IN ('available', 'pending', 'reserved') GROUP BY 1, 2, 3, 4
    ), held AS (
      SELECT b.merchant_id, b.currency, b.network, a.account, a.amount FROM book.balance b
      CROSS JOIN LATERAL (VALUES ('available', b.available), ('pending', b.pending),
        ('reserved', b.reserved)) a(account, amount)
    )
    SELECT format('%s %s/%s %s', merchant_id, currency, network, account) AS subject,
      format('held %s, posted %s', trim_scale(coalesce(h.amount, 0)), trim_scale(coalesce(p.amount, 0))) AS detail
    FROM held h FULL JOIN posted p USING (merchant_id, currency, network, account)
    WHERE coalesce(h.amount, 0) <> coalesce(p.amount, 0)
    ORDER BY 1 LIMIT ${MOST_DIFFERENCES}`;
