import type { Sql } from "postgres";
import { NONCE_TAKEN } from "../lanes/cancel.ts";
import type { OutgoingRow } from "../rows.ts";

/** The reason kept with a transfer that nodes say would fail as things stand. */
export const WOULD_FAIL = "the transfer would fail";

/**
 * Those of the given sweeps whose address has had one before, of the same currency, that failed or would have failed, and none
 * since that succeeded. One that made way for what stood behind it is none, nor is one that was withdrawn as its wait for fees,
 * the signer or its lane took too long: after such a time all sweeps would go alone, at two or three times the cost.
 */
export async function readUnlucky(
  sql: Sql,
  rows: readonly Pick<OutgoingRow, "id">[],
): Promise<ReadonlySet<string>> {
  const found = await sql<{ id: string }[]>`
    SELECT o.id FROM book.outgoing o
    CROSS JOIN LATERAL (
      SELECT p.status, p.reason FROM book.outgoing p
      WHERE p.network = o.network AND p.wallet = o.wallet AND p.wallet <> 'hot' AND p.currency = o.currency
        AND p.kind = 'sweep' AND p.id < o.id
      ORDER BY p.id DESC LIMIT 1) last
    WHERE o.id = ANY (${
    rows.map(({ id }) => id)
  }::text[]) AND o.kind = 'sweep' AND last.status <> 'final'
      AND (last.reason LIKE 'failed:%' AND last.reason <> ${`failed: ${NONCE_TAKEN}`}
        OR last.reason = ${`withdrawn: ${WOULD_FAIL}`})`;
  return new Set(found.map(({ id }) => id));
}
