/**
 * Transfers that a node tells by another id than they are booked by. Where a chain proves the position of a log in its
 * block, height and position name a transfer; the id is a node's word, also in a true block. Such a
 * transfer is quarantined and told, and no merchant's books take it in, unless the booked one is written off: then
 * its block has vanished, and whatever reads the place again gives it to the honest one.
 *
 * @module
 */

import type { AnySql } from "../database/connect.ts";
import type { Network } from "../money/pair.ts";
import { shape } from "../shape.ts";
import { amount, bigint, integer, orNull, text } from "../table.ts";
import { keyOf, type TransferFinding, type TransferPlace } from "./findings.ts";

/** The reason why such a row is quarantined. */
export function renamedReason(bookedAs: string): string {
  return `renamed: the transfer at its place in the block is booked as ${bookedAs}`;
}

const placeShape = shape({
  merchantId: text(),
  txid: text(),
  logIndex: integer(),
  height: bigint(),
  blockLog: orNull(integer()),
});

/**
 * Finds those whose place is taken by a transfer of another id. Asked once what is to be booked is stored as to be
 * swept, so that of two that are recorded at once one is found.
 *
 * @returns ids that the transfers are booked by, by {@linkcode keyOf}
 */
export async function findRenamed(
  sql: AnySql,
  network: Network,
  findings: readonly TransferFinding[],
): Promise<ReadonlyMap<string, string>> {
  const placed = findings.filter(({ blockLog }) => typeof blockLog === "number");
  if (placed.length === 0) return new Map();
  const rows = await sql<{ key: string; bookedAs: string }[]>`
    SELECT format('%s/%s/%s', f.merchant_id, f.txid, f.log_index) AS key, taken.txid AS "bookedAs"
    FROM ${placeShape.rows(sql, "f", placed)}
    CROSS JOIN LATERAL (
      SELECT i.txid FROM book.sweep_item i
      WHERE i.network = ${network} AND i.height = f.height AND i.block_log = f.block_log
        AND i.merchant_id = f.merchant_id AND i.write_off IS NULL
      LIMIT 1) taken
    WHERE NOT EXISTS (
      SELECT FROM book.sweep_item own WHERE own.network = ${network} AND own.txid = f.txid
        AND own.log_index = f.log_index AND own.merchant_id = f.merchant_id)`;
  return new Map(rows.map(({ key, bookedAs }) => [key, bookedAs]));
}

const bookedShape = shape({
  merchantId: text(),
  txid: text(),
  logIndex: integer(),
  height: bigint(),
  blockLog: integer(),
  amount: amount(),
});

/**
 * Finds those whose id another transfer is booked by, of another place: a node has told two by one id, and the second has no row of
 * its own: read from another node it gets one, unless the id is its own and the booked one was told by it.
 *
 * @returns each with what is booked by its id
 */
export async function findMisnamed(
  sql: AnySql,
  network: Network,
  findings: readonly TransferFinding[],
): Promise<ReadonlyMap<TransferFinding, TransferPlace>> {
  const placed = findings.filter(({ blockLog }) => typeof blockLog === "number");
  if (placed.length === 0) return new Map();
  const rows = bookedShape.all(
    await sql`
    SELECT i.merchant_id, i.txid, i.log_index, i.height, i.block_log, i.amount
    FROM ${placeShape.rows(sql, "f", placed)}
    JOIN book.sweep_item i ON i.merchant_id = f.merchant_id AND i.network = ${network} AND i.txid = f.txid
      AND i.log_index = f.log_index
    WHERE i.block_log IS NOT NULL AND i.write_off IS NULL`,
  );
  return misnamedAs(placed, new Map(rows.map((row) => [keyOf(row), row])));
}

/**
 * Those that have another place than what has their id.
 *
 * @param others by {@linkcode keyOf}
 */
export function misnamedAs(
  findings: readonly TransferFinding[],
  others: ReadonlyMap<string, TransferPlace>,
): ReadonlyMap<TransferFinding, TransferPlace> {
  return new Map(findings.flatMap((finding) => {
    const other = others.get(keyOf(finding));
    return other !== undefined && isElsewhere(finding, other) ? [[finding, other] as const] : [];
  }));
}

/** False where a place is not proven. */
function isElsewhere(one: TransferPlace, other: TransferPlace): boolean {
  if (typeof one.blockLog !== "number" || typeof other.blockLog !== "number") return false;
  return one.height !== other.height || one.blockLog !== other.blockLog;
}

const readmittedShape = shape({
  merchantId: text(),
  txid: text(),
  logIndex: integer(),
  data: text(),
  quarantine: text(),
});

/** A transfer as its inbox row has it. */
export interface InboxTransfer {
  readonly finding: TransferFinding;
  readonly data: string;
  /** The reason why it waits; null: it does not. */
  readonly quarantine: string | null;
}

/**
 * Takes transfers in that were quarantined as renamed while another one had their place.
 *
 * @returns keys of those that were, by {@linkcode keyOf}
 */
export async function readmitRenamed(
  sql: AnySql,
  network: Network,
  transfers: readonly InboxTransfer[],
): Promise<ReadonlySet<string>> {
  if (transfers.length === 0) return new Set();
  const given = transfers.map(({ finding, data, quarantine }) => ({
    ...finding,
    data,
    quarantine: quarantine ?? "",
  }));
  const rows = await sql<{ merchantId: string; txid: string; logIndex: number }[]>`
    UPDATE book.inbox i SET data = f.data::jsonb, quarantine = nullif(f.quarantine, '')
    FROM ${readmittedShape.rows(sql, "f", given)}
    WHERE i.merchant_id = f.merchant_id AND i.network = ${network} AND i.txid = f.txid
      AND i.log_index = f.log_index AND i.phase = 'solid' AND i.consumed_at IS NULL
      AND i.quarantine LIKE 'renamed:%'
    RETURNING i.merchant_id AS "merchantId", i.txid, i.log_index AS "logIndex"`;
  return new Set(rows.map(keyOf));
}
