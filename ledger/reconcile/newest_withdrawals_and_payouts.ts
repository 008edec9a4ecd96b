import { type BookCheck, type Difference, MOST_DIFFERENCES } from "./difference.ts";

/** Withdrawals that are looked at, the newest ones: as many however many there are. */
const NEWEST = 10_000;

/** What {@linkcode withdrawalsAndPayouts} says of all, for the newest alone. */
export const newestWithdrawalsAndPayouts: BookCheck = async (sql) =>
  await sql<Difference[]>`
    SELECT format('%s of %s', w.id, w.merchant_id) AS subject,
      format('%s; payout %s, %s to %s', w.status, coalesce(o.status, 'none'), trim_scale(o.amount), o.destination) AS detail
    FROM (SELECT * FROM book.withdrawal ORDER BY id DESC LIMIT ${NEWEST}) w
    LEFT JOIN book.outgoing o ON o.id = w.outgoing_id AND o.merchant_id = w.merchant_id
    WHERE (w.status, coalesce(o.status, 'none')) NOT IN (
        ('PENDING_APPROVAL', 'none'), ('CANCELLED', 'none'),
        ('PENDING', 'queued'), ('PENDING', 'signed'), ('PENDING', 'final'), ('PENDING', 'dead'),
        ('FAILED', 'void'), ('FAILED', 'final'), ('CONFIRMED', 'final'), ('CONFIRMED', 'signed'), ('CONFIRMED', 'void'))
      -- the operator has to say what it did: see settle_withdrawal.ts
      OR (w.status = 'PENDING' AND o.status = 'final' AND o.updated_at < now() - interval '1 hour')
      OR (w.status = 'FAILED' AND o.status = 'final' AND NOT EXISTS (
        SELECT FROM book.ingested i WHERE i.event_id = 'verdict:' || w.id AND i.body_hash = 'not_paid'))
      OR (o.id IS NOT NULL AND (o.amount, o.currency, o.network, o.destination, o.payment_id)
        IS DISTINCT FROM (w.amount, w.currency, w.network, w.destination, w.id))
    ORDER BY 1 LIMIT ${MOST_DIFFERENCES}`;
