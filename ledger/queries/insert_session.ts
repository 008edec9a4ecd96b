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
  await sql`
    INSERT INTO hub.session (id, token_hash, nonce, merchant_id, address_id, address, network,
      identifier, reference_id, requested_amount, requested_currency, exchange_rate, amount, token,
      expires_at, created_at)
    VALUES (${session.id}, ${tokenHash}, ${session.nonce}, ${session.merchantId},
      ${session.addressId}, ${session.address}, ${session.network}, ${session.identifier},
      ${session.referenceId}, ${text(session.requestedAmount)}, ${session.requestedCurrency},
      ${session.exchangeRate}, ${text(session.amount)}, ${session.token},
      ${new Date(session.expiresAt)}, ${new Date(session.createdAt)})`;
}
