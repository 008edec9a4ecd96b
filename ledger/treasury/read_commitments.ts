import type { Sql } from "postgres";
import { type Amount, amountOf } from "../amount.ts";
import type { Network, OutgoingAsset } from "../pair.ts";

/** What a hot wallet has promised in one currency. */
export interface Commitment {
  readonly queued: Amount;
  readonly signed: Amount;
}

/**
 * Sums of what waits for a signature and of what is signed and not final, per asset. Stake that is
 * lent stays ours and is not among them.
 */
export async function readCommitments(
  sql: Sql,
  network: Network,
): Promise<ReadonlyMap<OutgoingAsset, Commitment>> {
  const rows = await sql<{ currency: OutgoingAsset; queued: string; signed: string }[]>`
    SELECT currency,
      trim_scale(coalesce(sum(amount) FILTER (WHERE status = 'queued'), 0))::text AS queued,
      trim_scale(coalesce(sum(amount) FILTER (WHERE status = 'signed'), 0))::text AS signed
    FROM book.outgoing
    WHERE network = ${network} AND wallet = 'hot' AND status IN ('queued', 'signed')
      AND kind NOT IN ('delegation', 'reclaim') GROUP BY currency`;
  return new Map(rows.map((row) => [
    row.currency,
    { queued: amountOf(row.queued), signed: amountOf(row.signed) },
  ]));
}
