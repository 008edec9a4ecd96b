import type { Fragment } from "postgres";
import type { AnySql } from "../database/connect.ts";
import { LOST_ACCOUNT } from "../own_accounts.ts";
import type { BookCheck } from "./difference.ts";
import { rowsWithin, type Slice, within } from "./slices.ts";

/** Payments that a quick comparison reads, the newest ones: as many however many there are. */
const NEWEST = 10_000;

function newest(sql: AnySql, table: Fragment): Fragment {
  return sql`(SELECT * FROM ${table} ORDER BY id DESC LIMIT ${NEWEST})`;
}

function some(sql: AnySql, table: Fragment, slice: Slice): Fragment {
  return sql`(SELECT * FROM ${table} WHERE ${within(sql, "id", slice)})`;
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

/** Payments whose line of the statement is missing, or another payment's. */
function linesOf(sql: AnySql, payments: Fragment): Fragment {
  return sql`
    SELECT format('%s of %s', p.id, p.merchant_id) AS subject,
      format('line %s is of %s', p.transaction_seq, coalesce(t.payment_id, 'nothing')) AS detail
    FROM ${payments} p
    LEFT JOIN book.transaction t ON t.merchant_id = p.merchant_id AND t.seq = p.transaction_seq
    WHERE t.payment_id IS DISTINCT FROM p.id`;
}

/**
 * Deposits that differ from what was posted for them: what is pending, or what was credited net of
 * what was taken.
 */
function postedOf(sql: AnySql, deposits: Fragment): Fragment {
  return sql`
    SELECT format('%s of %s', d.id, d.merchant_id) AS subject,
      format('%s: %s due, %s posted', d.status, trim_scale(due.amount), trim_scale(p.amount)) AS detail
    FROM ${deposits} d
    CROSS JOIN LATERAL (SELECT CASE d.status WHEN 'PENDING' THEN d.amount
      WHEN 'CONFIRMED' THEN d.amount - d.commission - d.fixed_fee ELSE 0 END AS amount) due
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(CASE WHEN e.to_account IN ('available', 'pending') THEN e.amount ELSE 0 END
        - CASE WHEN e.from_account IN ('available', 'pending') THEN e.amount ELSE 0 END), 0) AS amount
      FROM book.entry e WHERE e.payment_id = d.id AND e.merchant_id = d.merchant_id) p
    WHERE p.amount NOT IN (due.amount, due.amount + CASE WHEN d.status = 'CONFIRMED' THEN d.margin ELSE 0 END)`;
}

/** Subject and detail of a final transfer `i`. */
function bookedNowhere(sql: AnySql): Fragment {
  return sql`
    format('%s/%s of %s on %s', i.txid, i.log_index, i.merchant_id, i.network) AS subject,
    format('%s %s to %s is final and booked nowhere', i.data ->> 'amount', i.data ->> 'currency', i.data ->> 'to') AS detail`;
}

/** True of a transfer `i` whose sweep is final and has moved something. */
function isMoved(sql: AnySql): Fragment {
  return sql`EXISTS (
    SELECT FROM book.outgoing o
    JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id
    LEFT JOIN book.sweep_verdict v ON v.outgoing_id = o.id
    WHERE o.id = i.outgoing_id AND o.kind = 'sweep' AND o.status = 'final'
      AND (a.outcome = 'paid' OR a.outcome = 'unexpected' AND v.verdict = 'moved'))`;
}

/** Type of the charge for a posting `e`. */
function chargeType(sql: AnySql): Fragment {
  return sql`CASE
    WHEN e.leg = 'commission' AND e.payment_id LIKE 'wd%' THEN 'WITHDRAWAL_COMMISSION'
    WHEN e.leg = 'commission' THEN 'DEPOSIT_COMMISSION'
    WHEN e.leg = 'network_fee' THEN 'NETWORK_FEE'
    WHEN e.leg = 'activation_fee' THEN 'ADDRESS_ACTIVATION'
    WHEN e.leg = 'direct_deposit_fee' THEN 'DIRECT_DEPOSIT'
    WHEN e.leg IN ('commission_refund', 'network_fee_refund') THEN 'REVERSAL' END`;
}

/** Rules of payments: they agree with the chain's transfers and with what was signed for them. */
export const PAYMENT_CHECKS: readonly BookCheck[] = [
  {
    rule: "withdrawals and their payouts tell the same story",
    scopes: ["full"],
    by: "withdrawals",
    query: (sql, slice) => payoutsOf(sql, some(sql, sql`book.withdrawal`, slice)),
  },
  {
    rule: "the newest withdrawals and their payouts tell the same story",
    scopes: ["quick"],
    query: (sql) => payoutsOf(sql, newest(sql, sql`book.withdrawal`)),
  },
  {
    rule: "lines of the statement are those of their payments",
    scopes: ["full"],
    by: "rows",
    query: (sql, slice) =>
      sql`
      SELECT format('line %s of %s', t.seq, t.merchant_id) AS subject,
        format('%s %s of %s, %s %s/%s; payment %s %s, line %s, %s %s/%s', t.type, t.status, t.payment_id, trim_scale(t.effect),
          t.currency, t.network, p.type, p.status, p.seq, trim_scale(coalesce(m.effect, 0)), p.currency, p.network) AS detail
      FROM (SELECT * FROM book.transaction WHERE ${rowsWithin(sql, slice)}) t
      LEFT JOIN LATERAL (
        SELECT transaction_seq AS seq, currency, network,
          CASE WHEN settlement_id IS NULL THEN 'WITHDRAWAL' ELSE 'SETTLEMENT' END AS type,
          CASE status WHEN 'PENDING_APPROVAL' THEN 'PENDING' ELSE status END AS status
        FROM book.withdrawal w WHERE w.id = t.payment_id AND w.merchant_id = t.merchant_id
        UNION ALL
        SELECT transaction_seq, currency, network, 'DEPOSIT', status
        FROM book.deposit d WHERE d.id = t.payment_id AND d.merchant_id = t.merchant_id) p ON true
      LEFT JOIN LATERAL (
        SELECT sum(CASE 'available' WHEN to_account THEN amount WHEN from_account THEN -amount END) AS effect
        FROM book.entry e WHERE e.payment_id = t.payment_id AND e.merchant_id = t.merchant_id) m ON true
      -- a share of another merchant's fees has a line, and no other record
      WHERE t.effect IS DISTINCT FROM coalesce(m.effect, 0)
        OR CASE WHEN p.seq IS NULL
          THEN (t.payment_id LIKE '%/%', t.type, t.status) IS DISTINCT FROM (true, 'DEPOSIT', 'CONFIRMED')
          ELSE (t.seq, t.type, t.status, t.currency, t.network) IS DISTINCT FROM (p.seq, p.type, p.status, p.currency, p.network)
          END`,
  },
  {
    rule: "every withdrawal has its line",
    scopes: ["full"],
    by: "withdrawals",
    query: (sql, slice) => linesOf(sql, some(sql, sql`book.withdrawal`, slice)),
  },
  {
    rule: "every deposit has its line",
    scopes: ["full"],
    by: "deposits",
    query: (sql, slice) => linesOf(sql, some(sql, sql`book.deposit`, slice)),
  },
  // Tells the charge itself, but a payment's charges may lie in several parts: that each posting is charged, and once, is
  // told by the sums of the next rule.
  {
    rule: "every charge is what was posted for it",
    scopes: ["full"],
    by: "rows",
    query: (sql, slice) =>
      sql`
      SELECT format('charge %s of %s', min(c.seq), c.merchant_id) AS subject,
        format('%s times %s of %s, %s %s/%s, posted %s times', count(*), c.type, c.payment_id, trim_scale(c.amount), c.currency,
          c.network, p.n) AS detail
      FROM (SELECT * FROM book.charge WHERE ${rowsWithin(sql, slice)}) c
      CROSS JOIN LATERAL (
        SELECT count(*) AS n FROM book.entry e WHERE e.payment_id = c.payment_id AND e.merchant_id = c.merchant_id
          AND (${
        chargeType(sql)
      }) = c.type AND (e.amount, e.currency, e.network) = (abs(c.amount), c.currency, c.network)) p
      GROUP BY c.merchant_id, c.payment_id, c.type, c.amount, c.currency, c.network, p.n HAVING count(*) > p.n`,
  },
  // The third sum weighs each amount with 64 bits that are its payment's own: it agrees if every payment was charged what
  // was posted for it, and otherwise once in 2^64. So payments are compared in the memory of a merchant's sums.
  {
    rule: "charges add up to what was posted for them",
    scopes: ["full"],
    query: (sql) =>
      sql`
      WITH posting AS (
        SELECT merchant_id, currency, network, payment_id, ${chargeType(sql)} AS type,
          CASE WHEN leg LIKE '%_refund' THEN -amount ELSE amount END AS amount
        FROM book.entry e
        WHERE leg IN ('commission', 'network_fee', 'activation_fee', 'direct_deposit_fee', 'commission_refund', 'network_fee_refund')
      ), posted AS (
        SELECT merchant_id, currency, network, type, sum(amount) AS amount, count(*) AS n,
          sum(amount * hashtextextended(payment_id, 0)) AS of_payments
        FROM posting GROUP BY 1, 2, 3, 4
      ), charged AS (
        SELECT merchant_id, currency, network, type, sum(amount) AS amount, count(*) AS n,
          sum(amount * hashtextextended(payment_id, 0)) AS of_payments
        FROM book.charge GROUP BY 1, 2, 3, 4
      )
      SELECT format('%s of %s %s/%s', type, merchant_id, currency, network) AS subject,
        format('%s charges of %s, %s posted of %s%s', coalesce(c.n, 0), trim_scale(coalesce(c.amount, 0)),
          coalesce(p.n, 0), trim_scale(coalesce(p.amount, 0)),
          CASE WHEN (c.amount, c.n) = (p.amount, p.n) THEN ', for other payments' END) AS detail
      FROM charged c FULL JOIN posted p USING (merchant_id, currency, network, type)
      WHERE (c.amount, c.n, c.of_payments) IS DISTINCT FROM (p.amount, p.n, p.of_payments)`,
  },
  {
    rule: "deposits are what was posted for them",
    scopes: ["full"],
    by: "deposits",
    query: (sql, slice) => postedOf(sql, some(sql, sql`book.deposit`, slice)),
  },
  {
    rule: "the newest deposits are what was posted for them",
    scopes: ["quick"],
    query: (sql) => postedOf(sql, newest(sql, sql`book.deposit`)),
  },
  {
    rule: "totals of hosted pages are what came in for them",
    scopes: ["full"],
    by: "merchants",
    query: (sql, slice) =>
      sql`
      WITH paid AS (
        SELECT d.address_id, d.merchant_id, d.currency,
          coalesce(sum(d.amount) FILTER (WHERE d.status = 'CONFIRMED'), 0) AS credited,
          coalesce(sum(d.amount) FILTER (WHERE d.status = 'PENDING'), 0) AS pending
        FROM (SELECT * FROM book.deposit WHERE ${within(sql, "merchant_id", slice)}) d
        JOIN book.deposit_address a ON a.id = d.address_id AND a.merchant_id = d.merchant_id
        WHERE a.kind = 'session' GROUP BY 1, 2, 3
      ), kept AS (
        SELECT * FROM book.page_total WHERE ${within(sql, "merchant_id", slice)})
      SELECT format('%s of %s %s', address_id, merchant_id, currency) AS subject,
        format('kept %s and %s pending, came in %s and %s', trim_scale(coalesce(k.credited, 0)),
          trim_scale(coalesce(k.pending, 0)), trim_scale(coalesce(p.credited, 0)),
          trim_scale(coalesce(p.pending, 0))) AS detail
      FROM kept k FULL JOIN paid p USING (address_id, merchant_id, currency)
      WHERE (coalesce(k.credited, 0), coalesce(k.pending, 0))
        <> (coalesce(p.credited, 0), coalesce(p.pending, 0))`,
  },
  {
    rule: "every final transfer is booked",
    scopes: ["full"],
    by: "merchants",
    query: (sql, slice) =>
      sql`
      SELECT ${bookedNowhere(sql)}
      FROM (SELECT * FROM book.inbox WHERE ${within(sql, "merchant_id", slice)}) i
      WHERE i.phase = 'solid' AND i.consumed_at IS NOT NULL AND i.merchant_id <> ${LOST_ACCOUNT}
        -- what came in on another network than its address was issued on is never booked there
        AND NOT i.data ? 'issuedOn' AND NOT EXISTS (
        SELECT FROM book.deposit d WHERE d.merchant_id = i.merchant_id AND d.network = i.network AND d.txid = i.txid
          AND d.log_index IN (i.log_index, -1))`,
  },
  // One to a lost address that is off the list of lost payments is claimed by a deposit of its receiver. None that a
  // confirmed deposit by hand names was paid to another merchant.
  {
    rule: "transfers to lost addresses and deposits by hand are booked for their receiver",
    scopes: ["full"],
    query: (sql) =>
      sql`
      SELECT ${bookedNowhere(sql)}
      FROM book.inbox i
      LEFT JOIN book.deposit d ON d.network = i.network AND d.txid = i.txid AND d.log_index IN (i.log_index, -1)
      WHERE i.merchant_id = ${LOST_ACCOUNT} AND i.phase = 'solid' AND i.consumed_at IS NOT NULL AND d.id IS NULL
        AND NOT i.data ? 'issuedOn'
      UNION ALL
      SELECT format('%s of %s on %s', d.id, d.merchant_id, d.network),
        format('stands for %s, which paid %s', d.txid, min(i.merchant_id))
      FROM book.deposit d JOIN book.sweep_item i
        ON i.network = d.network AND i.txid = d.txid AND i.merchant_id NOT IN (d.merchant_id, ${LOST_ACCOUNT})
      WHERE d.log_index = -1 AND d.status = 'CONFIRMED'
      GROUP BY d.id, d.merchant_id, d.network, d.txid`,
  },
  // Of two ids that nodes have told for one place in a block, one is booked: the other waits for ever.
  {
    rule: "transfers that are told by two ids are credited once",
    scopes: ["quick", "full"],
    query: (sql) =>
      sql`
      SELECT format('%s/%s of %s on %s', i.txid, i.log_index, i.merchant_id, i.network) AS subject,
        format('%s to %s waits for %s, which is booked nowhere', i.data ->> 'amount', i.data ->> 'to', i.data ->> 'bookedAs')
          AS detail
      FROM book.inbox i
      WHERE i.data ? 'bookedAs' AND i.consumed_at IS NULL AND NOT EXISTS (
          SELECT FROM book.inbox b WHERE b.merchant_id = i.merchant_id AND b.network = i.network
            AND b.txid = i.data ->> 'bookedAs' AND b.phase = 'solid')
        AND NOT EXISTS (
          SELECT FROM book.deposit d WHERE d.merchant_id = i.merchant_id AND d.network = i.network
            AND d.txid = i.data ->> 'bookedAs')
      UNION ALL
      SELECT format('%s of %s on %s', d.id, d.merchant_id, d.network),
        format('stands for %s, which is credited as %s', d.txid, i.data ->> 'bookedAs')
      FROM book.inbox i
      JOIN book.deposit d ON d.network = i.network AND d.txid = i.txid AND d.log_index = -1 AND d.status = 'CONFIRMED'
      WHERE i.data ? 'bookedAs' AND EXISTS (
        SELECT FROM book.deposit b WHERE b.network = i.network AND b.txid = i.data ->> 'bookedAs'
          AND b.merchant_id = i.merchant_id AND b.status = 'CONFIRMED')`,
  },
  // Every transfer that counts as swept and was not written off is listed by a sweep that is final and paid, or whose
  // arrival an administrator has confirmed.
  {
    rule: "sweeps and what they carry tell the same story",
    scopes: ["full"],
    by: "sweeps",
    query: (sql, slice) =>
      sql`
      WITH item AS (
        SELECT * FROM book.sweep_item WHERE outgoing_id IS NOT NULL AND ${
        within(sql, "outgoing_id", slice)
      }
      )
      SELECT format('%s/%s to %s', i.txid, i.log_index, i.address) AS subject,
        format('counts as carried by %s, which is not final and paid', i.outgoing_id) AS detail
      FROM item i WHERE i.done AND i.write_off IS NULL AND NOT ${isMoved(sql)}
      UNION ALL
      SELECT o.id, format('moves %s and lists %s', trim_scale(coalesce(v.arrived, o.amount)), trim_scale(sum(i.amount)))
      FROM item i JOIN book.outgoing o ON o.id = i.outgoing_id
      LEFT JOIN book.sweep_verdict v ON v.outgoing_id = o.id
      GROUP BY o.id, o.merchant_id, o.amount, v.arrived HAVING sum(i.amount) > coalesce(v.arrived, o.amount)`,
  },
  {
    rule: "what is written off is the sum of its transfers",
    scopes: ["full"],
    query: (sql) =>
      sql`
      SELECT format('%s of %s', coalesce(w.id, i.id), coalesce(w.address, i.address)) AS subject,
        format('writes %s off, its transfers come to %s', trim_scale(coalesce(w.amount, 0)), trim_scale(coalesce(i.amount, 0))) AS detail
      FROM book.sweep_write_off w FULL JOIN (
        SELECT write_off AS id, network, address, currency, sum(amount) AS amount FROM book.sweep_item
        WHERE write_off IS NOT NULL GROUP BY 1, 2, 3, 4) i USING (id, network, address, currency)
      WHERE w.amount IS DISTINCT FROM i.amount`,
  },
  {
    rule: "top-ups are available by their sweep alone",
    scopes: ["full"],
    by: "deposits",
    query: (sql, slice) =>
      sql`
      SELECT format('%s of %s', d.id, d.merchant_id) AS subject,
        'a top-up is available without a final sweep that lists it' AS detail
      FROM ${some(sql, sql`book.deposit`, slice)} d
      JOIN book.deposit_address w ON w.id = d.address_id AND w.merchant_id = d.merchant_id AND w.kind = 'top_up'
      WHERE d.status = 'CONFIRMED' AND d.txid IS NOT NULL AND NOT EXISTS (
        SELECT FROM book.sweep_item i
        WHERE i.merchant_id = d.merchant_id AND i.network = d.network AND i.txid = d.txid AND i.log_index = d.log_index
          AND ${isMoved(sql)})`,
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
