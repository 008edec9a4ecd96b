import { logEvent } from "../../log/log_event.ts";
import type { AnySql, Sql } from "../database/connect.ts";
import { formatAmount, LARGEST_BALANCE_BY_HAND } from "../money/amount.ts";
import type { Network } from "../money/pair.ts";
import { LOST_ACCOUNT, LOST_REASON } from "../own_accounts.ts";
import { recordSweepItems } from "../sweeps/items.ts";
import { replaceAwaitedProofs } from "./contested_transfers.ts";
import { readDepositProofRule } from "./deposit_proof_rule.ts";
import { storeAwaitedProofs, UNPROVEN } from "./deposit_proofs.ts";
import { inboxData, keyOf, type TransferFinding, type TransferPlace } from "./findings.ts";
import {
  findMisnamed,
  findRenamed,
  type InboxTransfer,
  misnamedAs,
  readmitRenamed,
  renamedReason,
} from "./renamed_transfers.ts";

const BEYOND_BOOKS = "unreadable: its amount cannot be held by any books";

/**
 * Writes transfers into their merchants' inboxes; known ones are left alone. A final one above the
 * network's bound is quarantined until a second node has proven it, and only seen meanwhile; until then
 * what is read later takes its place. One whose place in its block is booked by another id is quarantined as renamed.
 * Of several that blocks tell by one id the first is written.
 */
export async function recordTransfers(
  sql: Sql,
  network: Network,
  phase: "seen" | "solid",
  told: readonly TransferFinding[],
): Promise<void> {
  if (told.length === 0) return;
  // rows are found by their keys from here on: the proof that one waits for must not be of another
  const first = new Map<string, TransferFinding>();
  for (const one of told) if (!first.has(keyOf(one))) first.set(keyOf(one), one);
  const findings = [...first.values()];
  const above = phase === "solid" ? await readDepositProofRule(sql, network) : null;
  const canBeAsked = (finding: TransferFinding) =>
    canBeHeld(finding) && finding.merchantId !== LOST_ACCOUNT;
  const waiting = phase === "solid"
    ? await replaceAwaitedProofs(sql, network, findings.filter(canBeAsked))
    : new Map<string, TransferPlace>();
  const needsProof = (finding: TransferFinding) =>
    canBeAsked(finding) &&
    (above !== null && finding.amount > above || waiting.has(keyOf(finding)));
  for (const { txid, to } of findings.filter((finding) => !canBeHeld(finding))) {
    logEvent("deposit.too_large", {
      network,
      txid,
      to,
    });
  }
  const judged = { network, phase, findings, needsProof };
  // a place in a block belongs to what is booked, also where the process dies in between
  const renamed = phase === "solid"
    ? await sql.begin((tx) => bookTransfers(tx, judged))
    : await bookTransfers(sql, judged);
  for (const [{ txid, to, height }, bookedAs] of renamed) {
    logEvent("deposit.renamed", { network, txid, to, height, bookedAs });
  }
  if (phase === "seen") return;
  const misnamed = new Map([
    ...misnamedAs(told, first),
    ...misnamedAs(findings, waiting),
    ...await findMisnamed(sql, network, told),
  ]);
  for (const [found, booked] of misnamed) {
    const { txid, to, height, merchantId, currency } = found;
    logEvent("deposit.misnamed", {
      network,
      merchantId,
      txid,
      to,
      height,
      amount: formatAmount(found.amount),
      currency,
      bookedHeight: booked.height,
      bookedAmount: formatAmount(booked.amount),
    });
  }
}

/** Transfers that are read in blocks of one view. */
interface Judged {
  readonly network: Network;
  readonly phase: "seen" | "solid";
  readonly findings: readonly TransferFinding[];
  /** True of those that wait for a second node. */
  readonly needsProof: (finding: TransferFinding) => boolean;
}

/**
 * Stores transfers as to be swept, and writes them into their merchants' inboxes.
 *
 * @returns those that were quarantined as renamed now, with the ids that their places are booked by
 */
async function bookTransfers(
  sql: AnySql,
  { network, phase, findings, needsProof }: Judged,
): Promise<ReadonlyMap<TransferFinding, string>> {
  // before the inbox: what is booked is surely stored as to be swept
  const swept = findings.filter((finding) => canBeHeld(finding) && !needsProof(finding));
  const stored = phase === "solid" && swept.length > 0
    ? await recordSweepItems(sql, network, swept)
    : new Set<string>();
  const renamed = phase === "solid"
    ? await findRenamed(
      sql,
      network,
      findings.filter((one) => canBeHeld(one) && !stored.has(keyOf(one))),
    )
    : new Map<string, string>();
  const unproven = findings.filter((finding) =>
    needsProof(finding) && !renamed.has(keyOf(finding))
  );
  const reasonOf = (finding: TransferFinding): string | null => {
    if (!canBeHeld(finding)) return BEYOND_BOOKS;
    const bookedAs = renamed.get(keyOf(finding));
    if (bookedAs !== undefined) return renamedReason(bookedAs);
    return needsProof(finding) ? UNPROVEN : null;
  };
  const rows = findings.map((finding): InboxTransfer => {
    const bookedAs = renamed.get(keyOf(finding));
    const data = inboxData(finding, bookedAs === undefined ? {} : { bookedAs });
    return { finding, data, quarantine: reasonOf(finding) };
  });
  const isUnproven = new Set(unproven);
  const waits = rows.filter(({ finding }) => isUnproven.has(finding));
  const free = new Set([...stored, ...waits.map(({ finding }) => keyOf(finding))]);
  const added = await write(sql, network, phase, rows, free);
  if (waits.length > 0) {
    await writeInbox(sql, network, "seen", waits.map((row) => ({ ...row, quarantine: null })));
    await storeAwaitedProofs(sql, network, unproven.filter((finding) => added.has(keyOf(finding))));
  }
  return new Map(rows.flatMap(({ finding }) => {
    const bookedAs = renamed.get(keyOf(finding));
    return bookedAs === undefined || !added.has(keyOf(finding)) ? [] : [[finding, bookedAs]];
  }));
}

/**
 * Writes rows, and takes those in that were quarantined as renamed while another transfer had their place.
 *
 * @param free keys of those that have their place, or none yet, and may be such
 * @returns keys of the rows that are new or were taken in
 */
async function write(
  sql: AnySql,
  network: Network,
  phase: "seen" | "solid",
  rows: readonly InboxTransfer[],
  free: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const added = await writeInbox(sql, network, phase, rows);
  const known = rows.filter(({ finding }) =>
    free.has(keyOf(finding)) && !added.has(keyOf(finding))
  );
  return new Set([...added, ...await readmitRenamed(sql, network, known)]);
}

/** @returns the keys of the rows that were new */
async function writeInbox(
  sql: AnySql,
  network: Network,
  phase: "seen" | "solid",
  given: readonly InboxTransfer[],
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ key: string }[]>`
    INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data, quarantine)
    SELECT merchant_id, ${network}, txid, log_index, ${phase}, data::jsonb,
      CASE WHEN merchant_id = ${LOST_ACCOUNT} THEN ${LOST_REASON} ELSE quarantine END
    FROM unnest(
      ${given.map(({ finding }) => finding.merchantId)}::text[],
      ${given.map(({ finding }) => finding.txid)}::text[],
      ${given.map(({ finding }) => finding.logIndex)}::int[],
      ${given.map(({ data }) => data)}::text[],
      ${given.map(({ quarantine }) => quarantine)}::text[])
      AS f(merchant_id, txid, log_index, data, quarantine)
    ON CONFLICT DO NOTHING RETURNING format('%s/%s/%s', merchant_id, txid, log_index) AS key`;
  return new Set(rows.map(({ key }) => key));
}

/** True where a column can hold it; no token has so many, so that a node or a contract has gone mad. */
function canBeHeld({ amount }: TransferFinding): boolean {
  return amount <= LARGEST_BALANCE_BY_HAND;
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
