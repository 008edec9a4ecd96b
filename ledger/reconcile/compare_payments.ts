import type { Fragment } from "postgres";
import type { AnySql } from "../database/connect.ts";
import { LOST_ACCOUNT } from "../own_accounts.ts";
import type { BookCheck } from "./difference.ts";

/** Payments that a quick comparison reads, the newest ones: as many however many there are. */
const NEWEST = 10_000;

function newest(sql: AnySql, table: Fragment): Fragment {
  return sql`(SELECT * FROM ${table} ORDER BY id DESC LIMIT ${NEWEST})`;
}

/**
 * Withdrawals that contradict their payout: what waits for approval or was cancelled before has no
 * payout, what is pending has a living one, what was refunded can never be paid, and what is
 * confirmed was paid by it (or by another transaction, when it was given up for that). One that
 * succeeded without the intended transfer has a verdict within the hour.
 */
function payoutsOf(sql: AnySql, withdrawals: Fragment): Fragment {
  return sql`
    SELECT format('%s of %s', w.id, w.merchant_id) AS subject,
      format('%s, %s %s/%s to %s; payout %s, %s %s/%s to %s', w.status, trim_scale(w.amount), w.currency, w.network,
        w.destination, coalesce(o.status, 'none'), trim_scale(o.amount), o.currency, o.network, o.destination) AS detail
    FROM ${withdrawals} w
    LEFT JOIN book.outgoing o ON o.id = w.outgoing_id AND o.merchant_id = w.merchant_id
    WHERE (w.status, coalesce(o.status, 'none')) NOT IN (
        ('PENDING_APPROVAL', 'none'), ('CANCELLED', 'none'),
        ('PENDING', 'queued'), ('PENDING', 'signed'), ('PENDING', 'final'), ('PENDING', 'dead'),
        ('FAILED', 'void'), ('FAILED', 'final'), ('CONFIRMED', 'final'), ('CONFIRMED', 'signed'), ('CONFIRMED', 'void'))
      -- an administrator has to say what it did: see settle_withdrawal.ts
      OR (w.status = 'PENDING' AND o.status = 'final' AND o.updated_at < now() - interval '1 hour')
      OR (w.status = 'FAILED' AND o.status = 'final' AND NOT EXISTS (
        SELECT FROM book.ingested i WHERE i.event_id = 'verdict:' || w.id AND i.body_hash = 'not_paid'))
      OR (o.id IS NOT NULL AND (o.amount, o.currency, o.network, o.destination, o.payment_id)
        IS DISTINCT FROM (w.amount, w.currency, w.network, w.destination, w.id))`;
}

/** Rules of payments: they agree with the chain's transfers and with what was signed for them. */
export const PAYMENT_CHECKS: readonly BookCheck[] = [
  {
    rule: "withdrawals and their payouts tell the same story",
    scopes: ["full"],
    query: (sql) => payoutsOf(sql, sql`book.withdrawal`),
  },
  {
    rule: "the newest withdrawals and their payouts tell the same story",
    scopes: ["quick"],
    query: (sql) => payoutsOf(sql, newest(sql, sql`book.withdrawal`)),
  },
  {
    rule: "lines of the statement are those of their payments",
    scopes: ["full"],
    query: (sql) =>
      sql`
      WITH payment AS (
        SELECT merchant_id, transaction_seq AS seq, id, currency, network,
          CASE WHEN settlement_id IS NULL THEN 'WITHDRAWAL' ELSE 'SETTLEMENT' END AS type,
          CASE status WHEN 'PENDING_APPROVAL' THEN 'PENDING' ELSE status END AS status
        FROM book.withdrawal
        UNION ALL
        SELECT merchant_id, transaction_seq, id, currency, network, 'DEPOSIT', status FROM book.deposit
      ), moved AS (
        SELECT merchant_id AS mover, payment_id, sum(CASE 'available' WHEN to_account THEN amount WHEN from_account THEN -amount END) AS effect
        FROM book.entry WHERE 'available' IN (to_account, from_account) GROUP BY 1, 2
      )
      SELECT format('line %s of %s', seq, merchant_id) AS subject,
        format('%s %s of %s, %s %s/%s; payment %s %s %s, %s %s/%s', t.type, t.status, t.payment_id, trim_scale(t.effect),
          t.currency, t.network, p.type, p.status, p.id, trim_scale(coalesce(m.effect, 0)), p.currency, p.network) AS detail
      FROM book.transaction t FULL JOIN payment p USING (merchant_id, seq)
      LEFT JOIN moved m ON m.mover = t.merchant_id AND m.payment_id = t.payment_id
      -- a share of another merchant's fees has a line, and no other record
      WHERE t.effect IS DISTINCT FROM coalesce(m.effect, 0)
        OR CASE WHEN p.id IS NULL
          THEN (t.payment_id LIKE '%/%', t.type, t.status) IS DISTINCT FROM (true, 'DEPOSIT', 'CONFIRMED')
          ELSE (t.payment_id, t.type, t.status, t.currency, t.network) IS DISTINCT FROM (p.id, p.type, p.status, p.currency, p.network)
          END`,
  },
  {
    rule: "charges are what was posted for them",
    scopes: ["full"],
    query: (sql) =>
      sql`
      WITH posted AS (
        SELECT merchant_id, payment_id, currency, network, CASE
            WHEN leg = 'commission' THEN CASE WHEN payment_id LIKE 'wd%' THEN 'WITHDRAWAL_COMMISSION' ELSE 'DEPOSIT_COMMISSION' END
            WHEN leg = 'network_fee' THEN 'NETWORK_FEE'
            WHEN leg = 'activation_fee' THEN 'ADDRESS_ACTIVATION'
            WHEN leg = 'direct_deposit_fee' THEN 'DIRECT_DEPOSIT'
            ELSE 'REVERSAL' END AS type,
          sum(CASE WHEN leg LIKE '%_refund' THEN -amount ELSE amount END) AS amount
        FROM book.entry
        WHERE leg IN ('commission', 'network_fee', 'activation_fee', 'direct_deposit_fee', 'commission_refund', 'network_fee_refund')
        GROUP BY 1, 2, 3, 4, 5
      ), charged AS (
        SELECT merchant_id, payment_id, currency, network, type, sum(amount) AS amount FROM book.charge GROUP BY 1, 2, 3, 4, 5
      )
      SELECT format('%s of %s, %s', type, payment_id, merchant_id) AS subject,
        format('charged %s, posted %s %s/%s', trim_scale(coalesce(c.amount, 0)), trim_scale(coalesce(p.amount, 0)), currency, network) AS detail
      FROM charged c FULL JOIN posted p USING (merchant_id, payment_id, currency, network, type)
      WHERE coalesce(c.amount, 0) <> coalesce(p.amount, 0)`,
  },
  // net of what was taken
  {
    rule: "the newest deposits are what was posted for them",
    scopes: ["quick"],
    query: (sql) =>
      sql`
      WITH newest AS (
        SELECT * FROM ${newest(sql, sql`book.deposit`)} d
      ), posted AS (
        SELECT d.id, d.merchant_id,
          coalesce(sum(CASE WHEN e.to_account IN ('available', 'pending') THEN e.amount ELSE 0 END
            - CASE WHEN e.from_account IN ('available', 'pending') THEN e.amount ELSE 0 END), 0) AS amount
        FROM newest d LEFT JOIN book.entry e ON e.payment_id = d.id AND e.merchant_id = d.merchant_id
        GROUP BY 1, 2
      ), due AS (
        SELECT id, merchant_id, status, CASE status WHEN 'PENDING' THEN amount
          WHEN 'CONFIRMED' THEN amount - commission - fixed_fee ELSE 0 END AS amount, margin, margin_to
        FROM newest
      )
      SELECT format('%s of %s', d.id, d.merchant_id) AS subject,
        format('%s: %s due, %s posted', d.status, trim_scale(d.amount), trim_scale(p.amount)) AS detail
      FROM due d JOIN posted p USING (id, merchant_id)
      WHERE p.amount NOT IN (d.amount, d.amount + CASE WHEN d.status = 'CONFIRMED' THEN d.margin ELSE 0 END)`,
  },
  // One to a lost address that is off the list of lost payments is claimed by a deposit of its receiver. None that a
  // confirmed deposit by hand names was paid to another merchant.
  {
    rule: "every final transfer is booked",
    scopes: ["full"],
    query: (sql) =>
      sql`
      SELECT format('%s/%s of %s on %s', i.txid, i.log_index, i.merchant_id, i.network) AS subject,
        format('%s %s to %s is final and booked nowhere', i.data ->> 'amount', i.data ->> 'currency', i.data ->> 'to') AS detail
      FROM book.inbox i
      WHERE i.phase = 'solid' AND i.consumed_at IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM book.deposit d
        WHERE (d.merchant_id = i.merchant_id OR i.merchant_id = ${LOST_ACCOUNT})
          AND d.network = i.network AND d.txid = i.txid
          AND d.log_index IN (i.log_index, -1))
      UNION ALL
      SELECT format('%s of %s on %s', d.id, d.merchant_id, d.network),
        format('stands for %s, which paid %s', d.txid, min(i.merchant_id))
      FROM book.deposit d JOIN book.sweep_item i
        ON i.network = d.network AND i.txid = d.txid AND i.merchant_id NOT IN (d.merchant_id, ${LOST_ACCOUNT})
      WHERE d.log_index = -1 AND d.status = 'CONFIRMED'
      GROUP BY d.id, d.merchant_id, d.network, d.txid`,
  },
  // Every transfer that counts as swept and was not written off is listed by a sweep that is final and paid, or whose
  // arrival an administrator has confirmed. No top-up is available without such a sweep.
  {
    rule: "sweeps and what they carry tell the same story",
    scopes: ["full"],
    query: (sql) =>
      sql`
      WITH moved AS (
        SELECT o.id FROM book.outgoing o
        JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id
        LEFT JOIN book.sweep_verdict v ON v.outgoing_id = o.id
        WHERE o.kind = 'sweep' AND o.status = 'final'
          AND (a.outcome = 'paid' OR a.outcome = 'unexpected' AND v.verdict = 'moved')
      )
      SELECT format('%s/%s to %s', i.txid, i.log_index, i.address) AS subject,
        format('counts as carried by %s, which is not final and paid', i.outgoing_id) AS detail
      FROM book.sweep_item i
      WHERE i.done AND i.write_off IS NULL AND NOT EXISTS (SELECT 1 FROM moved m WHERE m.id = i.outgoing_id)
      UNION ALL
      SELECT o.id, format('moves %s and lists %s', trim_scale(coalesce(v.arrived, o.amount)), trim_scale(sum(i.amount)))
      FROM book.outgoing o JOIN book.sweep_item i ON i.outgoing_id = o.id
      LEFT JOIN book.sweep_verdict v ON v.outgoing_id = o.id
      GROUP BY o.id, o.merchant_id, o.amount, v.arrived HAVING sum(i.amount) > coalesce(v.arrived, o.amount)
      UNION ALL
      SELECT format('%s of %s', coalesce(w.id, i.id), coalesce(w.address, i.address)),
        format('writes %s off, its transfers come to %s', trim_scale(coalesce(w.amount, 0)), trim_scale(coalesce(i.amount, 0)))
      FROM book.sweep_write_off w FULL JOIN (
        SELECT write_off AS id, network, address, currency, sum(amount) AS amount FROM book.sweep_item
        WHERE write_off IS NOT NULL GROUP BY 1, 2, 3, 4) i USING (id, network, address, currency)
      WHERE w.amount IS DISTINCT FROM i.amount
      UNION ALL
      SELECT format('%s of %s', d.id, d.merchant_id), 'a top-up is available without a final sweep that lists it'
      FROM book.deposit d
      JOIN book.deposit_address w ON w.id = d.address_id AND w.merchant_id = d.merchant_id AND w.kind = 'top_up'
      WHERE d.status = 'CONFIRMED' AND d.txid IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM book.sweep_item i JOIN moved m ON m.id = i.outgoing_id
        WHERE i.merchant_id = d.merchant_id AND i.network = d.network AND i.txid = d.txid AND i.log_index = d.log_index)`,
  },
  {
    rule: "every solid block was read",
    scopes: ["quick", "full"],
    query: (sql) =>
      sql`
      WITH range AS (
        SELECT network, last_height, lead(first_height) OVER (PARTITION BY network ORDER BY first_height) AS next
        FROM hub.scanned_range
      ), gap AS (
        SELECT r.network, r.last_height + 1 AS first, coalesce(r.next - 1, c.height) AS last
        FROM range r LEFT JOIN hub.cursor c ON c.network = r.network AND c.view = 'solid'
      )
      SELECT format('%s blocks %s to %s', network, first, last) AS subject,
        'passed by the scan without being read' AS detail
      FROM gap WHERE last >= first`,
  },
];
