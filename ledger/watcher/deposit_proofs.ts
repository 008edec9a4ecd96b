/**
 * Large final transfers that wait for the word of a second node. Their inbox rows are quarantined as
 * `unproven` until its evidence is written, which the database insists on; so they outlive restarts,
 * and hold up neither the scan nor other transfers.
 *
 * @module
 */

import type { Fragment } from "postgres";
import type { AnySql, Sql } from "../database/connect.ts";
import { ROW_WAIT } from "../database/write_apart.ts";
import { amountOf, formatAmount } from "../money/amount.ts";
import type { Currency, Network } from "../money/pair.ts";
import type { InboxKey } from "../rows.ts";
import { recordSweepItems } from "../sweeps/items.ts";
import type { TransferFinding } from "./findings.ts";

/** Why such a row is quarantined. */
export const UNPROVEN = "unproven: a second node has not proven the transfer yet";

/** Wait after the first answer that proves nothing, milliseconds; doubling. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/** A transfer that waits for its proof. */
export interface AwaitedProof extends TransferFinding {
  /**
   * True where a second node has contradicted it, or our scan has read it in two ways: then nothing but a
   * proof or a verdict lets it go, whatever the bound is by now.
   */
  readonly isContested: boolean;
  /** Reason that was written last; null: it was not asked about yet. */
  readonly reason: string | null;
}

/** A second node's word, kept with the transfer. */
export interface DepositEvidence {
  readonly node: string;
  readonly height: number;
  readonly hash: string;
  /** Unix milliseconds. */
  readonly askedAt: number;
}

/** An answer that proves nothing. */
export interface Unanswered {
  readonly transfer: AwaitedProof;
  readonly reason: string;
  /** True where it contradicts our scan. */
  readonly isDisputed: boolean;
}

/** Transfers of a network that wait, for health and metrics. */
export interface AwaitedProofFigures {
  readonly waiting: number;
  /** Those of them that a second node contradicts. */
  readonly disputed: number;
  /** Unix milliseconds by the database's clock; null: none waits. */
  readonly oldestAt: number | null;
  /** Reason of a disputed one, otherwise of the oldest. */
  readonly reason: string | null;
}

/**
 * Records what a second node has to prove. The inbox rows are quarantined in the same
 * transaction, so that none waits without being asked about.
 */
export async function storeAwaitedProofs(
  sql: AnySql,
  network: Network,
  findings: readonly TransferFinding[],
): Promise<void> {
  await sql`
    INSERT INTO book.deposit_proof
      (merchant_id, network, txid, log_index, address_id, height, hash, currency, amount, sender, receiver)
    SELECT merchant_id, ${network}, txid, log_index, address_id, height, hash, currency, amount, sender, receiver
    FROM unnest(
      ${findings.map(({ merchantId }) => merchantId)}::text[],
      ${findings.map(({ txid }) => txid)}::text[],
      ${findings.map(({ logIndex }) => logIndex)}::int[],
      ${findings.map(({ addressId }) => addressId)}::text[],
      ${findings.map(({ height }) => height)}::bigint[],
      ${findings.map(({ hash }) => hash ?? null)}::text[],
      ${findings.map(({ currency }) => currency)}::text[],
      ${findings.map(({ amount }) => formatAmount(amount))}::numeric[],
      ${findings.map(({ from }) => from)}::text[],
      ${findings.map(({ to }) => to)}::text[])
      AS f(merchant_id, txid, log_index, address_id, height, hash, currency, amount, sender, receiver)
    ON CONFLICT DO NOTHING`;
}

/**
 * Transfers that a second node is to be asked about now, those first that have waited longest for
 * their turn. A turn further ahead than any wait lasts was set by a wrong clock, and has come. Rows
 * that another transaction holds are passed: they could be neither proven nor postponed, and would be
 * the first of every look.
 */
export async function readAwaitedProofs(
  sql: Sql,
  network: Network,
  limit: number,
): Promise<readonly AwaitedProof[]> {
  const rows = await sql<UnprovenRow[]>`
    SELECT ${columns(sql)}
    FROM book.deposit_proof
    WHERE network = ${network} AND evidence IS NULL
      AND (next_ask_at <= now() OR next_ask_at > now() + make_interval(secs => ${
    2 * LONGEST_WAIT_MS / 1_000
  }))
    ORDER BY next_ask_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED`;
  return rows.map(transferOf);
}

/** One transfer that waits; null: it does not. */
export async function readAwaitedProof(
  sql: Sql,
  { merchantId, network, txid, logIndex }: Pick<InboxKey, "merchantId" | "txid" | "logIndex"> & {
    readonly network: Network;
  },
): Promise<AwaitedProof | null> {
  const [row] = await sql<UnprovenRow[]>`
    SELECT ${columns(sql)} FROM book.deposit_proof
    WHERE merchant_id = ${merchantId} AND network = ${network} AND txid = ${txid}
      AND log_index = ${logIndex} AND evidence IS NULL`;
  return row === undefined ? null : transferOf(row);
}

interface UnprovenRow {
  merchant_id: string;
  txid: string;
  log_index: number;
  address_id: string;
  height: string;
  hash: string | null;
  currency: Currency;
  amount: string;
  sender: string;
  receiver: string;
  reason: string | null;
  contested: boolean;
}

function columns(sql: AnySql): Fragment {
  return sql`merchant_id, txid, log_index, address_id, height, hash, currency,
    trim_scale(amount)::text AS amount, sender, receiver, reason, contested`;
}

function transferOf(row: UnprovenRow): AwaitedProof {
  return {
    merchantId: row.merchant_id,
    txid: row.txid,
    logIndex: row.log_index,
    addressId: row.address_id,
    height: Number(row.height),
    hash: row.hash,
    currency: row.currency,
    amount: amountOf(row.amount),
    from: row.sender,
    to: row.receiver,
    // a final transfer expires no more
    expiresAt: 0,
    reason: row.reason,
    isContested: row.contested,
  };
}

/**
 * Writes evidence down and gives the transfer to its merchant; what is booked is surely noted to be
 * swept. Doing it again changes nothing, nor does evidence of what was read differently meanwhile.
 *
 * @throws also when another transaction holds the rows for more than a moment
 */
export async function proveTransfer(
  sql: Sql,
  network: Network,
  transfer: TransferFinding,
  evidence: DepositEvidence | { readonly waived: string },
): Promise<void> {
  const { merchantId, txid, logIndex } = transfer;
  await sql.begin(async (tx) => {
    await tx`SELECT set_config('lock_timeout', ${ROW_WAIT}, true)`;
    const { count } = await tx`
      UPDATE book.deposit_proof p SET evidence = ${JSON.stringify(evidence)}::text::jsonb,
        reason = NULL, is_disputed = false
      WHERE ${isStill(tx, network, transfer)}`;
    if (count === 0) return;
    await recordSweepItems(tx, network, [transfer]);
    // a statement of its own: the database's rule looks for what was written before it
    await tx`
      UPDATE book.inbox SET quarantine = NULL
      WHERE merchant_id = ${merchantId} AND network = ${network} AND txid = ${txid}
        AND log_index = ${logIndex} AND phase = 'solid' AND quarantine LIKE 'unproven:%'`;
  });
}

/** True where a row `p` of `book.deposit_proof` waits and says the same of a transfer. */
export function isStill(sql: AnySql, network: Network, transfer: TransferFinding): Fragment {
  const { merchantId, txid, logIndex, height, hash, currency, amount, from, to } = transfer;
  return sql`p.merchant_id = ${merchantId} AND p.network = ${network} AND p.txid = ${txid}
    AND p.log_index = ${logIndex} AND p.evidence IS NULL AND p.height = ${height}
    AND p.hash IS NOT DISTINCT FROM ${hash ?? null}::text AND p.currency = ${currency}
    AND p.amount = ${
    formatAmount(amount)
  }::text::numeric AND p.sender = ${from} AND p.receiver = ${to}`;
}

/**
 * Puts transfers back that were asked about in vain: each is asked about ever more rarely, up to a
 * minute. Rows that another transaction holds are left as they are, so that this waits for none.
 */
export async function postponeProofs(
  sql: Sql,
  network: Network,
  answers: readonly Unanswered[],
): Promise<void> {
  if (answers.length === 0) return;
  await sql`
    WITH told AS (
      SELECT * FROM unnest(
        ${answers.map(({ transfer }) => transfer.merchantId)}::text[],
        ${answers.map(({ transfer }) => transfer.txid)}::text[],
        ${answers.map(({ transfer }) => transfer.logIndex)}::int[],
        ${answers.map(({ reason }) => reason.slice(0, 500))}::text[],
        ${answers.map(({ isDisputed }) => String(isDisputed))}::text[])
        AS f(merchant_id, txid, log_index, reason, is_disputed)),
    free AS (
      SELECT p.merchant_id, p.txid, p.log_index, f.reason, f.is_disputed
      FROM told f JOIN book.deposit_proof p ON p.merchant_id = f.merchant_id AND p.network = ${network}
        AND p.txid = f.txid AND p.log_index = f.log_index
      WHERE p.evidence IS NULL FOR NO KEY UPDATE OF p SKIP LOCKED)
    UPDATE book.deposit_proof p SET reason = f.reason, is_disputed = f.is_disputed::boolean,
      contested = p.contested OR f.is_disputed::boolean, tries = p.tries + 1,
      next_ask_at = now() + make_interval(secs =>
        least(${FIRST_WAIT_MS}::float8 * 2.0 ^ least(p.tries, 20), ${LONGEST_WAIT_MS}::float8) / 1000)
    FROM free f
    WHERE p.merchant_id = f.merchant_id AND p.network = ${network} AND p.txid = f.txid
      AND p.log_index = f.log_index AND p.evidence IS NULL`;
}

/** Transfers of a network that wait, and the reason. */
export async function readAwaitedProofFigures(
  sql: Sql,
  network: Network,
): Promise<AwaitedProofFigures> {
  const [row] = await sql<
    { waiting: number; disputed: number; oldest: Date | null; reason: string | null }[]
  >`
    SELECT count(*)::int AS waiting, (count(*) FILTER (WHERE is_disputed))::int AS disputed,
      min(since) AS oldest, (array_agg(reason ORDER BY is_disputed DESC, since))[1] AS reason
    FROM book.deposit_proof WHERE network = ${network} AND evidence IS NULL`;
  return {
    waiting: row?.waiting ?? 0,
    disputed: row?.disputed ?? 0,
    oldestAt: row?.oldest?.getTime() ?? null,
    reason: row?.reason ?? null,
  };
}
