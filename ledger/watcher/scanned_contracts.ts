import type { AnySql, Sql } from "../database/connect.ts";
import type { Currency, Network } from "../money/pair.ts";
import type { HeightRange } from "./scanned_ranges.ts";

/** Solid blocks that were read without a token contract that is configured now. */
export interface MissedBlocks extends HeightRange {
  readonly network: Network;
  readonly currency: Currency;
}

/** Notes which token contracts the scan of a network knows from now on. Doing it again changes nothing. */
export async function noteContracts(
  sql: Sql,
  network: Network,
  contracts: ReadonlyMap<Currency, string>,
): Promise<void> {
  await sql`
    SELECT hub.note_contracts(${network}, ${[...contracts.keys()]}::text[],
      ${[...contracts.values()]}::text[])`;
}

/**
 * Notes that blocks were read again with the contracts of now. What touches neither end of what was
 * missed leaves it: one range is all that is kept. In another history than they were read in, what
 * was written of them may be lost, and nothing is noted.
 */
export async function markReadWithContracts(
  sql: Sql,
  network: Network,
  { first, last }: HeightRange,
  history: string,
): Promise<void> {
  await sql`
    UPDATE hub.scanned_contract SET
      missed_from = CASE WHEN ${first}::bigint > missed_from THEN missed_from
        WHEN ${last}::bigint < missed_to THEN ${last}::bigint + 1 END,
      missed_to = CASE WHEN ${first}::bigint > missed_from THEN ${first}::bigint - 1
        WHEN ${last}::bigint < missed_to THEN missed_to END
    WHERE network = ${network} AND left_at IS NULL
      AND ((${first} <= missed_from AND ${last} >= missed_from)
        OR (${first} <= missed_to AND ${last} >= missed_to))
      AND (SELECT name FROM hub.scan_basis) = ${history}`;
}

/** Blocks that have to be read again, of contracts that are configured now. */
export async function readMissedBlocks(sql: AnySql): Promise<readonly MissedBlocks[]> {
  const rows = await sql<{ network: Network; currency: Currency; first: string; last: string }[]>`
    SELECT network, currency, missed_from AS first, missed_to AS last FROM hub.scanned_contract
    WHERE left_at IS NULL AND missed_from IS NOT NULL ORDER BY network, currency`;
  return rows.map(({ network, currency, first, last }) => ({
    network,
    currency,
    first: Number(first),
    last: Number(last),
  }));
}
