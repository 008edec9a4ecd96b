import type { Sql } from "postgres";
import type { Network } from "../pair.ts";
import type { Cursor } from "../watcher/cursor.ts";

/** What became of transfers whose transaction is proven dead. */
export interface Buried {
  /** Put back into the queue for another attempt. */
  readonly requeued: readonly string[];
  /** Given up; their merchants are told to refund. */
  readonly abandoned: readonly { readonly outgoingId: string; readonly merchantId: string }[];
}

/**
 * Declares signed transactions dead whose expiry our own scan of solid blocks has passed without
 * meeting them. The scan records what it meets before its cursor moves, and a transaction can only
 * be in a block whose parent is not later than its expiry: so the block before the cursor's being
 * later is the proof, kept as evidence with the attempt. No node is asked.
 *
 * @param solid the solid cursor as read before this call
 * @param attemptLimit after so many attempts a transfer is given up instead of queued again
 */
export async function buryExpired(
  sql: Sql,
  network: Network,
  solid: Cursor,
  attemptLimit: number,
): Promise<Buried> {
  const evidence = JSON.stringify({
    height: solid.height,
    hash: solid.hash,
    previousTime: new Date(solid.previousTime).toISOString(),
  });
  return await sql.begin(async (tx) => {
    const dead = await tx<
      {
        id: string;
        merchant_id: string;
        payment_id: string;
        settlement_id: string | null;
        attempts: number;
        txid: string;
      }[]
    >`
      WITH late AS (
        SELECT o.id, o.merchant_id, a.number, a.txid FROM book.outgoing o
        JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id AND a.outcome IS NULL
        WHERE o.network = ${network} AND o.status = 'signed'
          AND a.expires_at < ${new Date(solid.previousTime)}
        ORDER BY o.id FOR UPDATE OF o, a
      ), attempt AS (
        UPDATE book.attempt a SET outcome = 'expired', evidence = ${evidence}::text::jsonb
        FROM late l WHERE a.outgoing_id = l.id AND a.number = l.number AND a.merchant_id = l.merchant_id
      )
      UPDATE book.outgoing o SET status = 'dead', reason = 'expired', updated_at = now()
      FROM late l WHERE o.id = l.id AND o.merchant_id = l.merchant_id
      RETURNING o.id, o.merchant_id, o.payment_id, o.attempts, l.txid,
        (SELECT w.settlement_id FROM book.withdrawal w
         WHERE w.id = o.payment_id AND w.merchant_id = o.merchant_id) AS settlement_id`;
    const again = dead.filter((row) => row.attempts < attemptLimit).map((row) => row.id);
    const over = dead.filter((row) => row.attempts >= attemptLimit);
    if (again.length > 0) {
      await tx`
        UPDATE book.outgoing SET status = 'queued', lease_until = NULL, updated_at = now()
        WHERE id = ANY (${again}::text[]) AND status = 'dead'`;
    }
    for (const row of over) {
      await tx`
        INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data)
        VALUES (${row.merchant_id}, ${network}, ${row.txid}, -1, 'outcome', ${
        tx.json({
          outgoingId: row.id,
          withdrawalId: row.payment_id,
          settlementId: row.settlement_id,
          result: "abandoned",
          reason: "the network did not include the transaction before it expired",
          height: null,
        })
      }) ON CONFLICT DO NOTHING`;
    }
    return {
      requeued: again,
      abandoned: over.map((row) => ({ outgoingId: row.id, merchantId: row.merchant_id })),
    };
  });
}
