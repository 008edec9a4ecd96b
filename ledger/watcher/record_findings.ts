import { getLogger } from "@logtape/logtape";
import type { Sql, TransactionSql } from "postgres";
import type { AnySql } from "../database/connect.ts";
import { ROW_WAIT, writeApart } from "../database/write_apart.ts";
import { formatAmount, LARGEST_BALANCE_BY_HAND } from "../money/amount.ts";
import type { Network } from "../money/pair.ts";
import { LOST_ACCOUNT, LOST_REASON } from "../own_accounts.ts";
import { recordSweepItems } from "../sweeps/items.ts";
import { endInternalTransfers } from "../sweeps/steps.ts";
import { readDepositProofRule } from "./deposit_proof_rule.ts";
import { storeAwaitedProofs, UNPROVEN } from "./deposit_proofs.ts";
import { inboxData, type OutcomeFinding, type TransferFinding } from "./findings.ts";
import { listLateOutcomes } from "./late_outcomes.ts";
import { replaceAwaitedProofs } from "./contested_transfers.ts";

const log = getLogger(["engine", "watcher"]);

/** Time for which ends are tried apart whose rows other transactions hold, milliseconds. */
const APART_MS = 3_000;
const BEYOND_BOOKS = "unreadable: its amount cannot be held by any books";

/**
 * Writes transfers into their merchants' inboxes; known ones are left alone. A final one above the
 * network's bound is quarantined until a second node has proven it, and only seen meanwhile; until then
 * what is read later takes its place.
 */
export async function recordTransfers(
  sql: Sql,
  network: Network,
  phase: "seen" | "solid",
  findings: readonly TransferFinding[],
): Promise<void> {
  if (findings.length === 0) return;
  const above = phase === "solid" ? await readDepositProofRule(sql, network) : null;
  const canBeAsked = (finding: TransferFinding) =>
    canBeHeld(finding) && finding.merchantId !== LOST_ACCOUNT;
  const waiting = phase === "solid"
    ? await replaceAwaitedProofs(sql, network, findings.filter(canBeAsked))
    : new Set<string>();
  const needsProof = (finding: TransferFinding) =>
    canBeAsked(finding) &&
    (above !== null && finding.amount > above || waiting.has(keyOf(finding)));
  const unproven = findings.filter(needsProof);
  // before the inbox: what is booked is surely stored as to be swept
  const swept = findings.filter((finding) => canBeHeld(finding) && !needsProof(finding));
  if (phase === "solid" && swept.length > 0) await recordSweepItems(sql, network, swept);
  for (const { txid, to } of findings.filter((finding) => !canBeHeld(finding))) {
    log.fatal(
      "{network}: a transfer is quarantined as no books can hold its amount: {txid} to {to}",
      {
        network,
        txid,
        to,
      },
    );
  }
  const write = (part: AnySql, as: "seen" | "solid", rows: readonly TransferFinding[]) =>
    writeInbox(part, network, as, rows, needsProof);
  if (unproven.length === 0) return void await write(sql, phase, findings);
  await sql.begin(async (tx) => {
    const set = await write(tx, "solid", findings);
    await write(tx, "seen", unproven);
    await storeAwaitedProofs(tx, network, unproven.filter((finding) => set.has(keyOf(finding))));
  });
}

function keyOf({ merchantId, txid, logIndex }: TransferFinding): string {
  return `${merchantId}/${txid}/${logIndex}`;
}

/** @returns the keys of the rows that were new */
async function writeInbox(
  sql: AnySql,
  network: Network,
  phase: "seen" | "solid",
  findings: readonly TransferFinding[],
  needsProof: (finding: TransferFinding) => boolean,
): Promise<ReadonlySet<string>> {
  const data = findings.map((finding) => inboxData(finding));
  const quarantineFor = (finding: TransferFinding) => {
    if (!canBeHeld(finding)) return BEYOND_BOOKS;
    return phase === "solid" && needsProof(finding) ? UNPROVEN : null;
  };
  const rows = await sql<{ key: string }[]>`
    INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data, quarantine)
    SELECT merchant_id, ${network}, txid, log_index, ${phase}, data::jsonb,
      CASE WHEN merchant_id = ${LOST_ACCOUNT} THEN ${LOST_REASON} ELSE quarantine END
    FROM unnest(
      ${findings.map((finding) => finding.merchantId)}::text[],
      ${findings.map((finding) => finding.txid)}::text[],
      ${findings.map((finding) => finding.logIndex)}::int[],
      ${data}::text[],
      ${findings.map(quarantineFor)}::text[])
      AS f(merchant_id, txid, log_index, data, quarantine)
    ON CONFLICT DO NOTHING RETURNING format('%s/%s/%s', merchant_id, txid, log_index) AS key`;
  return new Set(rows.map(({ key }) => key));
}

/** True where a column can hold it; no token has so many, so that a node or a contract has gone mad. */
function canBeHeld({ amount }: TransferFinding): boolean {
  return amount <= LARGEST_BALANCE_BY_HAND;
}

/**
 * Records the ends of own transactions: the attempt's outcome and cost, the transfer's state,
 * and a line in the merchant's inbox, in one transaction. What was recorded already stays. As many
 * statements for a thousand as for one: blocks that end hundreds of sweeps must not hold the scan.
 *
 * An unexpected one is over as well: money may have left, so that nothing is signed or refunded
 * again. Its line is quarantined until an administrator has decided whether it counts as paid.
 *
 * Rows that another transaction holds are not waited for: what they keep from being written is
 * listed, so that its block is read again while the cursor moves on (see `late_outcomes.ts`).
 *
 * @returns the merchants with a new inbox row
 */
export async function recordOutcomes(
  sql: Sql,
  network: Network,
  findings: readonly OutcomeFinding[],
): Promise<ReadonlySet<string>> {
  const heard = new Set<string>();
  const left = new Set(findings);
  const record = async (part: readonly OutcomeFinding[]) => {
    const { moved, notified } = await recordTogether(sql, network, part);
    for (const finding of moved) left.delete(finding);
    for (const merchantId of notified) heard.add(merchantId);
  };
  // merchants first: what follows from the ends of sweeps needs rows of several tables
  const isPayout = ({ own }: OutcomeFinding) => own.paymentId !== null;
  await writeApart(findings.filter(isPayout), APART_MS, record);
  await writeApart(findings.filter((finding) => !isPayout(finding)), APART_MS, record);
  const late = [...left].map(({ own, height }) => ({ ...own, height }));
  for (const outgoingId of await listLateOutcomes(sql, network, late)) {
    log.error(
      "{network}: {outgoingId} is final, and another transaction holds its row: its block is read again",
      { network, outgoingId },
    );
  }
  return heard;
}

/** Records ends in one transaction. @returns those that were not recorded before, and the merchants to wake */
async function recordTogether(
  sql: Sql,
  network: Network,
  findings: readonly OutcomeFinding[],
): Promise<{ readonly moved: readonly OutcomeFinding[]; readonly notified: readonly string[] }> {
  return await sql.begin(async (tx) => {
    await tx`SELECT set_config('lock_timeout', ${ROW_WAIT}, true)`;
    const moved = await endOutgoing(tx, findings);
    if (moved.length === 0) return { moved, notified: [] };
    await endAttempts(tx, moved);
    const notified = await endInternalTransfers(
      tx,
      network,
      moved.filter(({ own }) => own.paymentId === null).map(({ own, result, reason }) => ({
        outgoingId: own.outgoingId,
        kind: own.kind,
        result,
        reason,
      })),
    );
    const payouts = moved.filter(({ own }) => own.paymentId !== null);
    await notifyPayouts(tx, network, payouts);
    return { moved, notified: [...notified, ...payouts.map(({ own }) => own.merchantId)] };
  });
}

/**
 * Moves transfers to their last state, but for those whose row or attempt another transaction holds.
 *
 * @returns those that had none, in the order of their ids
 */
async function endOutgoing(
  tx: TransactionSql,
  findings: readonly OutcomeFinding[],
): Promise<readonly OutcomeFinding[]> {
  const rows = await tx<{ id: string }[]>`
    WITH input AS (
      SELECT * FROM unnest(${findings.map(({ own }) => own.outgoingId)}::text[],
        ${findings.map(({ own }) => own.merchantId)}::text[],
        ${findings.map(({ own }) => own.number)}::int[],
        ${findings.map(({ result }) => result === "failed" ? "dead" : "final")}::text[],
        ${
    findings.map(({ reason }) => reason)
  }::text[]) AS f(id, merchant_id, number, status, reason)
    ), locked AS (
      SELECT o.id, o.merchant_id, f.status, f.reason FROM input f
      JOIN book.outgoing o ON o.id = f.id AND o.merchant_id = f.merchant_id AND o.status = 'signed'
      JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id AND a.number = f.number
      ORDER BY o.id FOR NO KEY UPDATE OF o, a SKIP LOCKED
    )
    UPDATE book.outgoing o SET status = l.status, reason = l.reason, updated_at = now()
    FROM locked l WHERE o.id = l.id AND o.merchant_id = l.merchant_id AND o.status = 'signed' RETURNING o.id`;
  const moved = new Set(rows.map(({ id }) => id));
  return findings.filter(({ own }) => moved.has(own.outgoingId))
    .sort((a, b) => a.own.outgoingId < b.own.outgoingId ? -1 : 1);
}

async function endAttempts(
  tx: TransactionSql,
  findings: readonly OutcomeFinding[],
): Promise<void> {
  await tx`
    UPDATE book.attempt a SET outcome = f.result, reason = f.reason, height = f.height, fee = f.fee
    FROM unnest(${findings.map(({ own }) => own.outgoingId)}::text[],
      ${findings.map(({ own }) => own.number)}::int[],
      ${findings.map(({ own }) => own.merchantId)}::text[],
      ${findings.map(({ result }) => result)}::text[],
      ${findings.map(({ reason }) => reason)}::text[],
      ${findings.map(({ height }) => height)}::bigint[],
      ${findings.map(({ fee }) => formatAmount(fee))}::numeric[])
      AS f(outgoing_id, number, merchant_id, result, reason, height, fee)
    WHERE a.outgoing_id = f.outgoing_id AND a.number = f.number AND a.merchant_id = f.merchant_id
      AND a.outcome IS NULL`;
}

/** Writes the ends of payouts into their merchants' inboxes. */
async function notifyPayouts(
  tx: TransactionSql,
  network: Network,
  findings: readonly OutcomeFinding[],
): Promise<void> {
  if (findings.length === 0) return;
  const data = findings.map(({ own, result, reason, height }) =>
    JSON.stringify({
      outgoingId: own.outgoingId,
      withdrawalId: own.paymentId,
      settlementId: own.settlementId,
      result: result === "unexpected" ? "paid" : result,
      reason,
      height,
    })
  );
  await tx`
    INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, quarantine, data)
    SELECT merchant_id, ${network}, txid, -1, 'outcome', quarantine, data::jsonb
    FROM unnest(${findings.map(({ own }) => own.merchantId)}::text[],
      ${findings.map(({ own }) => own.txid)}::text[],
      ${
    findings.map(({ result, reason }) => result === "unexpected" ? `unexpected: ${reason}` : null)
  }::text[],
      ${data}::text[]) AS f(merchant_id, txid, quarantine, data)
    ON CONFLICT DO NOTHING`;
}

/**
 * Notifies a merchant that a transfer it saw is proven never to become final. A transfer that was met
 * in a solid block has not vanished, also where its row waits (for a pair to be enabled, say). In
 * another history than the proof was read in, that row may be lost, and no merchant is notified.
 *
 * @param history of the solid cursor that proves it
 * @returns true if the merchant was notified, now or before
 */
export async function recordVanished(
  sql: Sql,
  key: {
    readonly merchantId: string;
    readonly network: Network;
    readonly txid: string;
    readonly logIndex: number;
  },
  data: { readonly reason: string; readonly to: string },
  history: string,
): Promise<boolean> {
  const { merchantId, network, txid, logIndex } = key;
  const [row] = await sql<{ vanished: boolean }[]>`
    WITH met AS (
      SELECT FROM book.inbox WHERE merchant_id = ${merchantId} AND network = ${network}
        AND txid = ${txid} AND log_index = ${logIndex} AND phase = 'solid'
      UNION ALL
      SELECT FROM hub.scan_basis WHERE name <> ${history}
    ), notified AS (
      INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data)
      SELECT ${merchantId}, ${network}, ${txid}, ${logIndex}, 'vanished', ${
    JSON.stringify(data)
  }::text::jsonb
      WHERE NOT EXISTS (SELECT FROM met) ON CONFLICT DO NOTHING
    )
    SELECT NOT EXISTS (SELECT FROM met) AS vanished`;
  return row?.vanished === true;
}
