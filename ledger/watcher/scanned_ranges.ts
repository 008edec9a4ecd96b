import type { AnySql, Sql } from "../database/connect.ts";
import type { Currency, Network } from "../money/pair.ts";

/** Heights from `first` to `last`, both included. */
export interface HeightRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Marks solid blocks as read that an operator had read again. What the scan itself reads is marked
 * as its cursor moves. Blocks far below the first one that was ever read are not: nobody claims that
 * everything since them was read, so that there would be a gap where nothing is missing.
 *
 * @param blocks how many were really read, each the child of the one before
 * @param history of the cursor that was read before the blocks were
 * @returns `false`: the database has another history, which may lack what was written of them
 * @throws {PostgresError} `check_violation` when some of the range were not
 */
export async function markScanned(
  sql: Sql,
  network: Network,
  range: HeightRange,
  blocks: number,
  history: string,
): Promise<boolean> {
  const [row] = await sql<{ same: boolean }[]>`
    SELECT h.same, (
      SELECT hub.mark_scanned(${network}, ${range.first}, ${range.last}, ${blocks})
      WHERE h.same AND EXISTS (
        SELECT FROM hub.scanned_range WHERE network = ${network} AND first_height <= ${
    range.last + 1
  })) AS marked
    FROM (SELECT name = ${history} AS same FROM hub.scan_basis) h`;
  return row?.same === true;
}

/** The ranges of solid blocks that were read without a gap, lowest first. One is as it should be. */
export async function readScannedRanges(
  sql: AnySql,
  network: Network,
): Promise<readonly HeightRange[]> {
  const rows = await sql<{ first: string; last: string }[]>`
    SELECT first_height AS first, last_height AS last FROM hub.scanned_range
    WHERE network = ${network} ORDER BY first_height`;
  return rows.map(({ first, last }) => ({ first: Number(first), last: Number(last) }));
}

/** Range that our own scan has read without a gap. */
export interface UnbrokenScan {
  /** The lowest height from which on every solid block up to the cursor was read. */
  readonly from: number;
  /** True where blocks below were read as well, so that there is a gap between. */
  readonly hasGap: boolean;
}

/**
 * What absence on a chain is proven by: nothing is, before its first height.
 *
 * @param cursor height of the solid cursor, read before
 */
export async function readUnbrokenScan(
  sql: AnySql,
  network: Network,
  cursor: number,
): Promise<UnbrokenScan> {
  const ranges = await readScannedRanges(sql, network);
  const range = ranges.find(({ first, last }) => first <= cursor && cursor <= last);
  if (range === undefined) return { from: cursor + 1, hasGap: ranges.length > 0 };
  return { from: range.first, hasGap: range.first !== ranges[0]?.first };
}

/** Solid blocks that were read without a token contract that is configured now. */
export interface MissedBlocks extends HeightRange {
  readonly network: Network;
  readonly currency: Currency;
}

/** Notes which token contracts the scan of a network knows from now on. Doing it again changes nothing. */
export async function storeContracts(
  sql: Sql,
  network: Network,
  contracts: ReadonlyMap<Currency, string>,
): Promise<void> {
  await sql`
    SELECT hub.store_contracts(${network}, ${[...contracts.keys()]}::text[],
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
