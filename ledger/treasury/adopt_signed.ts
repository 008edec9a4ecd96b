import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";
import { commitSigned, type SignedRow } from "./commit_signed.ts";

/**
 * Commits signatures of a lost history as attempts of transfers that are queued in this one, so that
 * the scan knows them. They may be in a block already, so nothing that stops new signatures stops
 * these. A signer cannot tell what was committed in the lost history from what was refused there, and
 * another signer may have signed the same transfer: adopted bytes are never sent, and either a block
 * shows them or they expire. Only an open hold adopts, only transfers that were made before it was
 * found, of active merchants, and only bytes that are dead before it is over.
 *
 * @returns ids of the transfers that are signed now
 * @throws a connection error: unknown; doing it again changes nothing
 */
export async function adoptSigned(
  sql: Sql,
  network: Network,
  rows: readonly SignedRow[],
): Promise<ReadonlySet<string>> {
  if (rows.length === 0) return new Set();
  await sql`
    INSERT INTO book.signing_turn (network, node, until) VALUES (${network}, 'adoption', now())
    ON CONFLICT DO NOTHING`;
  return await commitSigned(sql, rows, { network, batches: 0n }, true) ?? new Set();
}
