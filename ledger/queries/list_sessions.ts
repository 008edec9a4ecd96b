import type { Sql } from "../database/connect.ts";
import type { Network } from "../pair.ts";
import type { Page, PageRequest } from "./list_page.ts";
import { type AddressDeposit, newestDeposits } from "./newest_deposits.ts";
import { indexOfSession, type SessionRow, sessionTable } from "./session_row.ts";

/** A hosted payment page with the newest deposits to its address. */
export interface ListedSession extends SessionRow {
  /** Derivation index of its address; null where the address is watched for no-one. */
  readonly walletIndex: number | null;
  readonly deposits: readonly AddressDeposit[];
}

/**
 * One page of a merchant's hosted payment pages, newest first. Those of all networks are found by
 * their number, wherever in the list they are; those of one network are counted and passed over in
 * an index alone.
 *
 * @param network null: of every network
 */
export async function listSessions(
  sql: Sql,
  merchantId: string,
  network: Network | null,
  { page, limit }: PageRequest,
): Promise<Page<ListedSession>> {
  const offset = (page - 1) * limit;
  const counted = network === null
    ? sql`
      SELECT coalesce(max(c.last), 0) AS total FROM hub.session_counter c
      WHERE c.merchant_id = ${merchantId}`
    : sql`
      SELECT count(*) AS total FROM hub.session s
      WHERE s.merchant_id = ${merchantId} AND s.network = ${network}`;
  const numbered = network === null
    ? sql`
      SELECT s.seq FROM hub.session s
      WHERE s.merchant_id = ${merchantId} AND s.seq <= (SELECT total FROM counted) - ${offset}::bigint
      ORDER BY s.seq DESC LIMIT ${limit} OFFSET 0`
    : sql`
      SELECT s.seq FROM hub.session s
      WHERE s.merchant_id = ${merchantId} AND s.network = ${network}
      ORDER BY s.seq DESC OFFSET ${offset} LIMIT ${limit}`;
  const rows = await sql`
    WITH counted AS MATERIALIZED (${counted}), page AS MATERIALIZED (${numbered})
    SELECT c.total, x.* FROM counted c LEFT JOIN (
      SELECT s.*, ${indexOfSession(sql)} FROM page p
      JOIN hub.session s ON s.merchant_id = ${merchantId} AND s.seq = p.seq) x ON true
    ORDER BY x.seq DESC`;
  const sessions = rows.filter((row) => row.id !== null).map((row) => ({
    ...sessionTable.decode(row),
    walletIndex: row.wallet_index,
  }));
  const deposits = await newestDeposits(
    sql,
    merchantId,
    sessions.map(({ addressId }) => addressId),
  );
  return {
    total: Number(rows[0]?.total ?? 0),
    rows: sessions.map((session) => ({
      ...session,
      deposits: deposits.get(session.addressId) ?? [],
    })),
  };
}
