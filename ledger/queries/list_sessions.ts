import type { Sql } from "../database/connect.ts";
import type { Network } from "../pair.ts";
import { type AddressDeposit, newestDeposits } from "./newest_deposits.ts";
import { type SessionRow, sessionTable } from "./session_row.ts";

/** A hosted payment page with the newest deposits to its address. */
export interface ListedSession extends SessionRow {
  readonly deposits: readonly AddressDeposit[];
}

/**
 * Hosted payment pages of a merchant, newest first.
 *
 * @param network null: of every network
 * @param offset how many of the newest are passed over; their ids alone, in the index
 * @param limit how many are read
 */
export async function listSessions(
  sql: Sql,
  merchantId: string,
  network: Network | null,
  offset: number,
  limit: number,
): Promise<readonly ListedSession[]> {
  const rows = await sql`
    SELECT s.* FROM hub.session s JOIN (
      SELECT x.id FROM hub.session x
      WHERE x.merchant_id = ${merchantId}
        ${network === null ? sql`` : sql`AND x.network = ${network}`}
      ORDER BY x.id DESC OFFSET ${offset} LIMIT ${limit}) p ON p.id = s.id
    ORDER BY s.id DESC`;
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
