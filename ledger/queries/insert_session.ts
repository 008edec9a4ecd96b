import { type Amount, formatAmount } from "../amount.ts";
import type { Sql } from "../database/connect.ts";
import type { SessionRow } from "./session_row.ts";

/**
 * Keeps a new hosted payment page.
 *
 * @param tokenHash SHA-256 of its token, 32 bytes
 */
export async function insertSession(
  sql: Sql,
  session: SessionRow,
  tokenHash: Uint8Array,
): Promise<void> {
  const text = (amount: Amount | null) => amount === null ? null : formatAmount(amount);
  // number and page come in one statement: the numbers of a merchant have no gaps
  await sql`
    WITH counter AS (
      INSERT INTO hub.session_counter AS c (merchant_id, last) VALUES (${session.merchantId}, 1)
      ON CONFLICT (merchant_id) DO UPDATE SET last = c.last + 1 RETURNING last)
    INSERT INTO hub.session (id, token_hash, nonce, merchant_id, seq, address_id, address, network,
      identifier, reference_id, requested_amount, requested_currency, exchange_rate, currency,
      amount, token, expires_at, created_at)
    SELECT ${session.id}, ${tokenHash}::bytea, ${session.nonce}, ${session.merchantId}, last,
      ${session.addressId}, ${session.address}, ${session.network}, ${session.identifier},
      ${session.referenceId}, ${text(session.requestedAmount)}::numeric,
      ${session.requestedCurrency}, ${session.exchangeRate}::numeric, ${session.currency},
      ${text(session.amount)}::numeric, ${session.token},
      ${new Date(session.expiresAt)}::timestamptz, ${new Date(session.createdAt)}::timestamptz
    FROM counter`;
}
