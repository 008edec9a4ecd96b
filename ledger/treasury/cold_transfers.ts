import type { Sql } from "postgres";
import { type Amount, formatAmount } from "../money/amount.ts";
import type { Currency, Network } from "../money/pair.ts";
import { PLATFORM_ACCOUNT } from "../own_accounts.ts";

/** A transfer of the hot wallet's surplus. */
export interface ColdTransfer {
  readonly outgoingId: string;
  readonly network: Network;
  readonly currency: Currency;
  readonly amount: Amount;
  /** The cold wallet's address. */
  readonly destination: string;
}

/**
 * Queues a transfer to the cold wallet.
 *
 * @returns false where one of the currency is under way: there is never a second one
 */
export async function queueCold(sql: Sql, transfer: ColdTransfer): Promise<boolean> {
  const rows = await sql`
    INSERT INTO book.outgoing
      (id, merchant_id, kind, network, currency, amount, destination, status, created_at, updated_at)
    VALUES (${transfer.outgoingId}, ${PLATFORM_ACCOUNT}, 'cold', ${transfer.network},
      ${transfer.currency}, ${formatAmount(transfer.amount)}::text::numeric,
      ${transfer.destination}, 'queued', now(), now())
    ON CONFLICT (network, currency) WHERE kind = 'cold' AND status IN ('queued', 'signed', 'dead')
    DO NOTHING RETURNING 1`;
  return rows.length > 0;
}

/**
 * Gives up a transfer to the cold wallet that is not signed, because payouts need the money.
 *
 * @returns the transfer that was given up; null where there is none, or it was signed meanwhile
 */
export async function giveUpCold(
  sql: Sql,
  network: Network,
  currency: Currency,
): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`
    UPDATE book.outgoing
    SET status = 'void', reason = 'payouts need the money', lease_until = NULL, updated_at = now()
    WHERE network = ${network} AND currency = ${currency} AND kind = 'cold' AND status = 'queued'
    RETURNING id`;
  return row?.id ?? null;
}
