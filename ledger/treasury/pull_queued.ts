import type { Sql } from "postgres";
import type { Network } from "../pair.ts";
import { type OutgoingRow, outgoingTable } from "../rows.ts";
import { PLATFORM_ACCOUNT } from "./platform_account.ts";

/** Whose transfers are taken: those that carry merchants' payments, or the house's own. */
export type QueueOf = "merchants" | "house";

/**
 * Takes the oldest queued transfers of a network under a lease, but for those of merchants that are
 * suspended: they wait. The lease is a hint that keeps two
 * nodes from signing in vain; that only one of them can is the compare-and-set of the commit.
 *
 * @param leaseMs how long nobody else takes them, by the database's clock
 */
export async function pullQueued(
  sql: Sql,
  network: Network,
  limit: number,
  leaseMs: number,
  of: QueueOf = "merchants",
): Promise<readonly OutgoingRow[]> {
  const rows = await sql`
    WITH next AS (
      SELECT q.id, q.merchant_id FROM book.outgoing q
      WHERE q.network = ${network} AND q.status = 'queued' AND (q.lease_until IS NULL OR q.lease_until < now())
        AND NOT EXISTS (SELECT FROM book.merchant m WHERE m.merchant_id = q.merchant_id AND m.status <> 'ACTIVE')
        AND (q.merchant_id = ${PLATFORM_ACCOUNT}) = ${of === "house"}
      ORDER BY q.id LIMIT ${limit} FOR UPDATE OF q SKIP LOCKED)
    UPDATE book.outgoing o SET lease_until = now() + make_interval(secs => ${leaseMs / 1_000})
    FROM next WHERE o.id = next.id AND o.merchant_id = next.merchant_id
    RETURNING o.*`;
  return rows.map((row) => outgoingTable.decode(row)).sort((a, b) => a.id < b.id ? -1 : 1);
}
