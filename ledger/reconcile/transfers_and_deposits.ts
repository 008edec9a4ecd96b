import { LOST_ACCOUNT } from "../addresses/lost_account.ts";
import { type BookCheck, type Difference, MOST_DIFFERENCES } from "./difference.ts";

/**
 * Every final transfer that a merchant has heard of is a deposit, or claimed by one; one to a lost
 * address that is off the operator's list is claimed by a deposit of whoever it was for.
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
    ORDER BY 1 LIMIT ${MOST_DIFFERENCES}`;
