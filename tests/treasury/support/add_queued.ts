import { newId } from "../../../actors/runtime/ids.ts";
import type { Sql } from "../../../ledger/database/connect.ts";
import { addMerchant } from "../../support/books.ts";

/** Payouts of 1 USDT each that wait to be signed. */
export async function addQueued(sql: Sql, count: number): Promise<void> {
  const merchantId = await addMerchant(sql);
  const ids = Array.from({ length: count }, () => newId("out"));
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
    SELECT id, ${merchantId}, 'payout', 'wd_' || id, 'TRX', 'USDT', 1, 'somewhere', 'queued', now(), now()
    FROM unnest(${ids}::text[]) AS id`;
}
