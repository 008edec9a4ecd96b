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
import { formatAmount } from "../money/amount.ts";
import type { Currency, Network } from "../money/pair.ts";
import type { InboxKey } from "../rows.ts";
import { shape } from "../shape.ts";
import { amount, bigint, boolean, integer, orNull, type RowOf, text, time } from "../table.ts";
import { recordSweepItems } from "../sweeps/items.ts";
import { keyOf, type TransferFinding } from "./findings.ts";
import { findRenamed, renamedReason } from "./renamed_transfers.ts";

/** The reason why such a row is quarantined. */
export const UNPROVEN = "unproven: a second node has not proven the transfer yet";

/** Wait after the first answer that proves nothing, milliseconds; doubling. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/** Transfers as a query is given them. */
export const TRANSFER = {
  merchantId: text(),
  txid: text(),
  logIndex: integer(),
  addressId: text(),
  height: bigint(),
  hash: orNull(text()),
  blockLog: orNull(integer()),
  currency: text<Currency>(),
  amount: amount(),
  sender: text(),
  receiver: text(),
};
const proofShape = shape({
  ...TRANSFER,
  /** Reason that was written last; null: it was not asked about yet. */
  reason: orNull(text()),
  contested: boolean(),
});
const givenShape = shape(TRANSFER);

/** A finding as {@linkcode TRANSFER} has it. */
export function givenOf({ from, to, ...finding }: TransferFinding) {
  const { hash = null, blockLog = null } = finding;
  return { ...finding, hash, blockLog, sender: from, receiver: to };
}

/** A transfer that awaits its proof. */
export interface AwaitedProof extends TransferFinding {
  /**
   * True where a second node has contradicted it, or our scan has read it in two ways: then nothing but a
   * proof or a verdict lets it go, whatever the bound is by now.
   */
  readonly isContested: boolean;
  /** Reason that was written last; null: it was not asked about yet. */
  readonly reason: string | null;
}

/** A second node's answer, stored with the transfer. */
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

const figuresShape = shape({
  waiting: integer(),
  /** Those of them that a second node contradicts. */
  disputed: integer(),
  /** Unix milliseconds by the database's clock; null: none waits. */
  oldestAt: orNull(time()),
  /** Reason of a disputed one, otherwise of the oldest. */
  reason: orNull(text()),
});
/** Transfers of a network that wait, for health and metrics. */
export type AwaitedProofFigures = RowOf<typeof figuresShape>;

/**
 * Records what a second node has to prove. The inbox rows are quarantined in the same
 * transaction, so that none waits without being asked about: what was proven of one before, as while its place was
 * booked by another id, counts no more.
 */
export async function storeAwaitedProofs(
  sql: AnySql,
  network: Network,
  findings: readonly TransferFinding[],
): Promise<void> {
  await sql`
    INSERT INTO book.deposit_proof
      (merchant_id, network, txid, log_index, address_id, height, hash, block_log, currency, amount, sender, receiver)
    SELECT merchant_id, ${network}, txid, log_index, address_id, height, hash, block_log, currency, amount, sender, receiver
    FROM ${givenShape.rows(sql, "f", findings.map(givenOf))}
    ON CONFLICT (merchant_id, network, txid, log_index) DO UPDATE SET evidence = NULL, is_disputed = false, tries = 0,
      reason = NULL, next_ask_at = now(), since = now(), address_id = excluded.address_id, height = excluded.height,
      hash = excluded.hash, block_log = excluded.block_log, currency = excluded.currency, amount = excluded.amount,
      sender = excluded.sender, receiver = excluded.receiver`;
}

/**
 * Transfers that a second node is to be asked about now, those first that have waited longest for
 * their turn. A turn further ahead than any wait lasts was set by a wrong clock, and has come. Rows
 * that another transaction holds are passed: they could be neither proven nor postponed, and would be
 * the first of every poll.
 */
export async function readAwaitedProofs(
  sql: Sql,
  network: Network,
  limit: number,
): Promise<readonly AwaitedProof[]> {
  const rows = proofShape.all(
    await sql`
    SELECT * FROM book.deposit_proof
    WHERE network = ${network} AND evidence IS NULL
      AND (next_ask_at <= now() OR next_ask_at > now() + make_interval(secs => ${
      2 * LONGEST_WAIT_MS / 1_000
    }))
    ORDER BY next_ask_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED`,
  );
  return rows.map(transferOf);
}

/** One transfer that waits; null: it does not. */
export async function readAwaitedProof(
  sql: Sql,
  { merchantId, network, txid, logIndex }: Pick<InboxKey, "merchantId" | "txid" | "logIndex"> & {
    readonly network: Network;
  },
): Promise<AwaitedProof | null> {
  const row = proofShape.first(
    await sql`
    SELECT * FROM book.deposit_proof
    WHERE merchant_id = ${merchantId} AND network = ${network} AND txid = ${txid}
      AND log_index = ${logIndex} AND evidence IS NULL`,
  );
  return row === null ? null : transferOf(row);
}

function transferOf(
  { sender, receiver, contested, ...row }: RowOf<typeof proofShape>,
): AwaitedProof {
  // a final transfer expires no more
  return { ...row, from: sender, to: receiver, isContested: contested, diesAfter: 0, expiresAt: 0 };
}

/**
 * Stores evidence and gives the transfer to its merchant; what is booked is surely stored as to be
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
    const stored = await recordSweepItems(tx, network, [transfer]);
    // what was booked by another id meanwhile is not booked again, whatever the second node has proven
    const bookedAs = stored.size > 0
      ? undefined
      : (await findRenamed(tx, network, [transfer])).get(keyOf(transfer));
    const [quarantine, more] = bookedAs === undefined
      ? [null, {}]
      : [renamedReason(bookedAs), { bookedAs }];
    // a statement of its own: the database's rule looks for what was written before it
    await tx`
      UPDATE book.inbox SET quarantine = ${quarantine}, data = data || ${
      JSON.stringify(more)
    }::text::jsonb
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

const answerShape = shape({
  merchantId: text(),
  txid: text(),
  logIndex: integer(),
  reason: text(),
  isDisputed: boolean(),
});

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
  const given = answers.map(({ transfer, reason, isDisputed }) => ({
    ...transfer,
    reason: reason.slice(0, 500),
    isDisputed,
  }));
  await sql`
    WITH free AS (
      SELECT p.merchant_id, p.txid, p.log_index, f.reason, f.is_disputed
      FROM ${
    answerShape.rows(sql, "f", given)
  } JOIN book.deposit_proof p ON p.merchant_id = f.merchant_id AND p.network = ${network}
        AND p.txid = f.txid AND p.log_index = f.log_index
      WHERE p.evidence IS NULL FOR NO KEY UPDATE OF p SKIP LOCKED)
    UPDATE book.deposit_proof p SET reason = f.reason, is_disputed = f.is_disputed,
      contested = p.contested OR f.is_disputed, tries = p.tries + 1,
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
  const [row] = await sql`
    SELECT count(*) AS waiting, count(*) FILTER (WHERE is_disputed) AS disputed, min(since) AS oldest_at,
      (array_agg(reason ORDER BY is_disputed DESC, since))[1] AS reason
    FROM book.deposit_proof WHERE network = ${network} AND evidence IS NULL`;
  return figuresShape.decode(row ?? {});
}
