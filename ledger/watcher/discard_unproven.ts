import { writeBookAudit } from "../audit.ts";
import type { Sql } from "../database/connect.ts";
import type { Network } from "../money/pair.ts";
import type { AuditRow } from "../rows.ts";
import { type DepositEvidence, isStill, type UnprovenTransfer } from "./deposit_proofs.ts";

/** The reason that a merchant reads of a deposit of which no node knows any more. */
const NO_SUCH_TRANSFER = "the network has no such transfer";

/**
 * Takes a transfer off the list of those that wait for a proof, because there is none: its deposit is
 * given up. Not for ever: whatever reads it once more has it wait again, and a proof confirms it.
 *
 * @param evidence what the nodes showed
 * @returns whether it was discarded; otherwise it was proven or read differently meanwhile
 */
export async function discardUnproven(
  sql: Sql,
  network: Network,
  transfer: UnprovenTransfer,
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
