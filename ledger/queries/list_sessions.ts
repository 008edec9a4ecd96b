import type { Sql } from "../database/connect.ts";
import type { Network } from "../pair.ts";
import { type AddressDeposit, newestDeposits } from "./newest_deposits.ts";
import { type SessionRow, sessionTable } from "./session_row.ts";

/** A hosted payment page with the newest deposits to its address. */
export interface ListedSession extends SessionRow {
  readonly deposits: readonly AddressDeposit[];
}

/**
 * Hosted payment pages of a merchant, newest first. Those of all networks are found by their
 * number, wherever in the list they are.
 *
 * @param network null: of every network
 * @param offset how many of the newest are passed over
 * @param limit how many are read
 */
export async function listSessions(
  sql: Sql,
  merchantId: string,
  network: Network | null,
  offset: number,
  limit: number,
): Promise<readonly ListedSession[]> {
  const last = sql`(SELECT c.last FROM hub.session_counter c WHERE c.merchant_id = ${merchantId})`;
  const rows = network === null
    ? await sql`
      SELECT s.* FROM hub.session s
      WHERE s.merchant_id = ${merchantId} AND s.seq <= ${last} - ${offset}::bigint
      ORDER BY s.seq DESC LIMIT ${limit}`
    : await sql`
      SELECT s.* FROM hub.session s
      WHERE s.merchant_id = ${merchantId} AND s.network = ${network}
      ORDER BY s.seq DESC OFFSET ${offset} LIMIT ${limit}`;
  const sessions = rows.map((row) => sessionTable.decode(row));
  const deposits = await newestDeposits(
    sql,
    merchantId,
    sessions.map(({ addressId }) => addressId),
  );
  return sessions.map((session) => ({
    ...session,
    deposits: deposits.get(session.addressId) ?? [],
  }));
}
