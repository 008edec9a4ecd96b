/**
 * Better data for transfers that no second node has proven. What one node said first is not final:
 * what is read later, by a rescan, a claim or the scan, takes its place and is asked about anew. None
 * of it is believed before its proof.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import type { Fragment } from "postgres";
import { writeBookAudit } from "../audit.ts";
import { classifyDatabaseError } from "../database/database_errors.ts";
import type { AnySql, Sql } from "../database/connect.ts";
import { ROW_WAIT } from "../database/write_apart.ts";
import type { Network } from "../money/pair.ts";
import type { AuditRow } from "../rows.ts";
import { shape } from "../shape.ts";
import { amount, bigint, boolean, integer, orNull, text } from "../table.ts";
import {
  type AwaitedProof,
  type DepositEvidence,
  givenOf,
  isStill,
  TRANSFER,
  UNPROVEN,
} from "./deposit_proofs.ts";
import { inboxData, type TransferFinding, type TransferPlace } from "./findings.ts";

/** The reason that a merchant reads of a deposit of which no node knows any more. */
const NO_SUCH_TRANSFER = "the network has no such transfer";

/**
 * Takes a transfer off the list of those that wait for a proof, because there is none: its deposit is
 * given up. Not for ever: whatever reads it once more has it wait again, and a proof confirms it.
 *
 * @param evidence of the nodes
 * @returns true if it was discarded; otherwise it was proven or read differently meanwhile
 */
export async function discardAwaitedProof(
  sql: Sql,
  network: Network,
  transfer: AwaitedProof,
  evidence: DepositEvidence,
  remark: string,
  audit: Omit<AuditRow, "before" | "after">,
): Promise<boolean> {
  const { merchantId, txid, logIndex, to } = transfer;
  return await sql.begin(async (tx) => {
    const verdict = { ...evidence, discarded: remark, by: audit.actor };
    const { count } = await tx`
      UPDATE book.deposit_proof p SET evidence = ${JSON.stringify(verdict)}::text::jsonb,
        reason = NULL, is_disputed = false
      WHERE p.contested AND ${isStill(tx, network, transfer)}`;
    if (count === 0) return false;
    await tx`
      UPDATE book.inbox SET consumed_at = now(), quarantine = ${
      `discarded: ${remark}`.slice(0, 1_000)
    }
      WHERE merchant_id = ${merchantId} AND network = ${network} AND txid = ${txid}
        AND log_index = ${logIndex} AND phase IN ('seen', 'solid') AND consumed_at IS NULL`;
    await tx`
      INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data)
      VALUES (${merchantId}, ${network}, ${txid}, ${logIndex}, 'vanished',
        ${JSON.stringify({ reason: NO_SUCH_TRANSFER, to })}::text::jsonb)
      ON CONFLICT DO NOTHING`;
    await writeBookAudit(tx, { ...audit, before: { reason: transfer.reason }, after: verdict });
    return true;
  });
}

/**
 * Puts what was read now in the place of what waits, and has those wait again that were discarded. Rows
 * that another transaction holds stay as they are, until they are read once more.
 *
 * @param findings final ones, one of each key
 * @returns what waited for a proof before this, replaced or not, by {@linkcode keyOf}
 */
export async function replaceAwaitedProofs(
  sql: Sql,
  network: Network,
  findings: readonly TransferFinding[],
): Promise<ReadonlyMap<string, TransferPlace>> {
  if (findings.length === 0) return new Map();
  const waiting = waitingShape.all(
    await sql`
    SELECT key, differs, waited_height AS height, waited_log AS block_log, waited_amount AS amount
    FROM (${readAgain(sql, network, findings)}) w`,
  );
  if (waiting.some(({ differs }) => differs)) {
    try {
      await replace(sql, network, findings);
    } catch (error) {
      if (classifyDatabaseError(error) !== "serialization") throw error;
      logEvent("deposit.contested_held", {
        network,
        error,
      });
    }
  }
  return new Map(waiting.map(({ key, ...place }) => [key, place]));
}

async function replace(
  sql: Sql,
  network: Network,
  findings: readonly TransferFinding[],
): Promise<void> {
  const replaced = await sql.begin(async (tx) => {
    await tx`SELECT set_config('lock_timeout', ${ROW_WAIT}, true)`;
    // all of them, also those that are as they were read: another reading would change one between the two statements
    await tx`
      SELECT FROM book.deposit_proof p
      JOIN (${
      readAgain(tx, network, findings)
    }) w ON w.merchant_id = p.merchant_id AND w.txid = p.txid
        AND w.log_index = p.log_index
      WHERE p.network = ${network}
      ORDER BY p.merchant_id, p.txid, p.log_index FOR NO KEY UPDATE OF p`;
    const rows = await tx<{ txid: string }[]>`
      UPDATE book.deposit_proof p SET evidence = NULL, contested = true, is_disputed = false, tries = 0,
        reason = NULL, next_ask_at = now(), since = CASE WHEN p.evidence IS NULL THEN p.since ELSE now() END,
        address_id = w.address_id, height = w.height, hash = w.hash, block_log = w.block_log, currency = w.currency,
        amount = w.amount, sender = w.sender, receiver = w.receiver
      FROM (${readAgain(tx, network, findings)}) w
      WHERE w.differs AND p.merchant_id = w.merchant_id AND p.network = ${network} AND p.txid = w.txid
        AND p.log_index = w.log_index AND (p.evidence IS NULL OR p.evidence ? 'discarded')
      RETURNING p.txid`;
    await tx`
      UPDATE book.inbox i SET data = w.data::jsonb, quarantine = ${UNPROVEN}, consumed_at = NULL
      FROM (${readAgain(tx, network, findings)}) w
      WHERE i.merchant_id = w.merchant_id AND i.network = ${network} AND i.txid = w.txid
        AND i.log_index = w.log_index AND i.phase = 'solid'
        AND (i.quarantine LIKE 'unproven:%' OR i.quarantine LIKE 'discarded:%')`;
    return rows;
  });
  for (const { txid } of replaced) {
    logEvent("deposit.contested", {
      network,
      txid,
    });
  }
}

const waitingShape = shape({
  key: text(),
  differs: boolean(),
  height: bigint(),
  blockLog: orNull(integer()),
  amount: amount(),
});
const againShape = shape({ ...TRANSFER, data: text() });

/** Those of the findings that wait or were discarded; `differs`: something else is stored of them. */
function readAgain(
  sql: AnySql,
  network: Network,
  findings: readonly TransferFinding[],
): Fragment {
  return sql`
    SELECT f.*, format('%s/%s/%s', f.merchant_id, f.txid, f.log_index) AS key,
      p.height AS waited_height, p.block_log AS waited_log, p.amount AS waited_amount,
      p.evidence IS NOT NULL OR p.height <> f.height OR p.currency <> f.currency OR p.amount <> f.amount
        OR p.sender <> f.sender OR p.receiver <> f.receiver
        -- a claim reads the transaction alone
        OR coalesce(f.hash <> p.hash, false) AS differs
    FROM ${
    againShape.rows(sql, "f", findings.map((one) => ({ ...givenOf(one), data: inboxData(one) })))
  }
    JOIN book.deposit_proof p ON p.merchant_id = f.merchant_id AND p.network = ${network} AND p.txid = f.txid
      AND p.log_index = f.log_index AND (p.evidence IS NULL OR p.evidence ? 'discarded')`;
}
