import { type BookCheck, type Difference, MOST_DIFFERENCES } from "./difference.ts";

/**
 * A withdrawal and its payout tell the same story: what waits for approval or was taken back before
 * has no payout, what is pending has a living one, what was refunded can never be paid, and what is
 * confirmed was paid by it (or by somebody else, when it was given up for that). One that succeeded
 * without the intended transfer has a verdict within the hour.
 */
export const withdrawalsAndPayouts: BookCheck = async (sql) =>
  await sql<Difference[]>`
    SELECT format('%s of %s', w.id, w.merchant_id) AS subject,
      format('%s, %s %s/%s to %s; payout %s, %s %s/%s to %s', w.status, trim_scale(w.amount), w.currency, w.network,
        w.destination, coalesce(o.status, 'none'), trim_scale(o.amount), o.currency, o.network, o.destination) AS detail
    FROM book.withdrawal w
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
