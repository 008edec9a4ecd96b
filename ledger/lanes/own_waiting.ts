import type { Sql } from "../database/connect.ts";
import type { Network } from "../money/pair.ts";
import { PLATFORM_ACCOUNT } from "../own_accounts.ts";

/** Tells if transfers of the service itself wait for a place in the hot wallet's lane: coin for addresses, surplus, set-ups. */
export async function isOwnWaiting(sql: Sql, network: Network): Promise<boolean> {
  const [row] = await sql<{ waits: boolean }[]>`
    SELECT EXISTS (
      SELECT FROM book.outgoing WHERE network = ${network} AND status = 'queued' AND nonce IS NULL
        AND merchant_id = ${PLATFORM_ACCOUNT} AND book.payer_of(wallet, fee_payer) = 'hot'
        AND (lease_until IS NULL OR lease_until < now() OR lease_until > now() + interval '15 minutes')) AS waits`;
  return row?.waits === true;
}
