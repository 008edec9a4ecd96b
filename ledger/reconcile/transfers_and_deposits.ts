import { LOST_ACCOUNT } from "../addresses/lost_account.ts";
import { type BookCheck, type Difference, MOST_DIFFERENCES } from "./difference.ts";

/**
 * Every final transfer that a merchant has heard of is a deposit, or claimed by one; one to a lost
 * address that is off the operator's list is claimed by a deposit of whoever it was for. None that a
 * confirmed deposit by hand names was paid to another merchant.
 */
export const transfersAndDeposits: BookCheck = async (sql) =>
  await sql<Difference[]>`
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
    GROUP BY d.id, d.merchant_id, d.network, d.txid
    ORDER BY 1 LIMIT ${MOST_DIFFERENCES}`;
