import type { BookCheck } from "./difference.ts";
import { within } from "./slices.ts";

/** Rules of balances: every account is the sum of its entries, and a pair sums to zero. */
export const BALANCE_CHECKS: readonly BookCheck[] = [
  {
    rule: "balances are the sums of their entries",
    scopes: ["full"],
    query: (sql) =>
      sql`
      WITH posted AS (
        SELECT e.merchant_id, e.currency, e.network, leg.account, sum(leg.amount) AS amount FROM book.entry e
        CROSS JOIN LATERAL (VALUES (e.to_account, e.amount), (e.from_account, -e.amount)) leg(account, amount)
        WHERE leg.account IN ('available', 'pending', 'reserved') GROUP BY 1, 2, 3, 4
      ), held AS (
        SELECT b.merchant_id, b.currency, b.network, a.account, a.amount FROM book.balance b
        CROSS JOIN LATERAL (VALUES ('available', b.available), ('pending', b.pending),
          ('reserved', b.reserved)) a(account, amount)
      )
      SELECT format('%s %s/%s %s', merchant_id, currency, network, account) AS subject,
        format('held %s, posted %s', trim_scale(coalesce(h.amount, 0)), trim_scale(coalesce(p.amount, 0))) AS detail
      FROM held h FULL JOIN posted p USING (merchant_id, currency, network, account)
      WHERE coalesce(h.amount, 0) <> coalesce(p.amount, 0)`,
  },
  {
    rule: "own balances are the sums of all entries",
    scopes: ["full"],
    query: (sql) =>
      sql`
      WITH posted AS (
        SELECT leg.account, e.currency, e.network, sum(leg.amount) AS balance FROM book.entry e
        CROSS JOIN LATERAL (VALUES (e.to_account, e.amount), (e.from_account, -e.amount)) leg(account, amount)
        WHERE leg.account NOT IN ('available', 'pending', 'reserved') GROUP BY 1, 2, 3
      )
      SELECT format('%s %s/%s', account, currency, network) AS subject,
        format('held %s, posted %s', trim_scale(coalesce(h.balance, 0)), trim_scale(coalesce(p.balance, 0))) AS detail
      FROM book.system_total h FULL JOIN posted p USING (account, currency, network)
      WHERE coalesce(h.balance, 0) <> coalesce(p.balance, 0)`,
  },
  {
    rule: "every pair sums to zero",
    scopes: ["quick", "full"],
    query: (sql) =>
      sql`
      SELECT format('%s/%s', currency, network) AS subject,
        format('all accounts together hold %s', trim_scale(sum(amount))) AS detail
      FROM (
        SELECT currency, network, available + pending + reserved AS amount FROM book.balance
        UNION ALL SELECT currency, network, balance FROM book.system_total) account
      GROUP BY currency, network HAVING sum(amount) <> 0`,
  },
  {
    rule: "statements add up to what is available",
    scopes: ["full"],
    by: "merchants",
    query: (sql, slice) =>
      sql`
      WITH line AS (
        SELECT merchant_id, currency, network, sum(effect) AS effect FROM book.transaction
        WHERE ${within(sql, "merchant_id", slice)} GROUP BY 1, 2, 3
      ), held AS (
        SELECT * FROM book.balance WHERE ${within(sql, "merchant_id", slice)}
      )
      SELECT format('%s %s/%s', merchant_id, currency, network) AS subject,
        format('lines add up to %s, available %s', trim_scale(coalesce(l.effect, 0)), trim_scale(coalesce(b.available, 0))) AS detail
      FROM line l FULL JOIN held b USING (merchant_id, currency, network)
      WHERE coalesce(l.effect, 0) <> coalesce(b.available, 0)`,
  },
  {
    rule: "reserved and pending are what open payments need",
    scopes: ["quick", "full"],
    query: (sql) =>
      sql`
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
      WHERE coalesce(h.amount, 0) <> coalesce(o.amount, 0)`,
  },
];
