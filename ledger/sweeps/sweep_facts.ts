import type { Sql } from "postgres";
import { type Amount, amountOf } from "../money/amount.ts";
import type { Network } from "../money/pair.ts";
import { PLATFORM_ACCOUNT } from "../own_accounts.ts";
import type { OutgoingRow } from "../rows.ts";
import type { SweepAddress } from "./targets.ts";

/** The most transfers that one sweep lists; what is beyond is attached to it afterwards. */
export const MOST_ITEMS = 500;

/** A final transfer to the address that no sweep carries yet. */
export interface OpenItem {
  readonly merchantId: string;
  readonly txid: string;
  readonly logIndex: number;
  readonly amount: Amount;
  /** Its block. */
  readonly height: number;
  /** When it was found to be final, Unix milliseconds. */
  readonly foundAt: number;
  /** True where a sweep may list it: of a top-up only what its merchant has booked as waiting. */
  readonly listable: boolean;
}

/** A transfer of ours from or to the address that is not over. */
export interface LivingStep {
  readonly id: string;
  readonly kind: OutgoingRow["kind"];
  readonly status: "queued" | "signed" | "dead";
  readonly reason: string | null;
  readonly createdAt: number;
}

/** Records of an address that may be swept. */
export interface SweepFacts {
  /** The newest first, not more than were asked for. */
  readonly open: readonly OpenItem[];
  readonly living: LivingStep | null;
  /** Coin that was sent to it and not used by its sweeps, by the books. */
  readonly coin: Amount;
  /** Last time that coin was sent to it, and how often since its last sweep ended; null: never. */
  readonly funding: { readonly at: number; readonly count: number } | null;
  /** Stake that is delegated to it, by the books. */
  readonly delegated: Amount;
  /** True where another currency of the address waits for what it was given. */
  readonly isShared: boolean;
  /** Last time that energy was delegated to it, and whether a sweep has ended since; null: never. */
  readonly delegation: { readonly at: number; readonly used: boolean } | null;
  /** Steps that failed for good since its last final sweep, and when the last one did. */
  readonly failures: number;
  readonly failedAt: number | null;
  readonly failure: string | null;
  /** Final sweeps whose transfers somebody still waits for. */
  readonly unheard: readonly string[];
  /** One among them that succeeded without the intended transfer and has no verdict. */
  readonly unexpected: string | null;
}

/**
 * Reads what the books know of one address.
 *
 * @param most open transfers that are read, the newest ones; null: all of them
 */
export async function readSweepFacts(
  sql: Sql,
  target: SweepAddress,
  most: number | null = MOST_ITEMS,
): Promise<SweepFacts> {
  const [open, [steps], unheard] = await Promise.all([
    readOpenItems(sql, target, most),
    readSteps(sql, target),
    readUnheard(sql, target),
  ]);
  if (steps === undefined) throw new Error(`Cannot plan as nothing was read: ${target.address}`);
  return {
    open,
    living: steps.living === null ? null : {
      ...steps.living,
      createdAt: Date.parse(steps.living.createdAt),
    },
    coin: amountOf(steps.coin),
    funding: steps.funded_at === null
      ? null
      : { at: steps.funded_at.getTime(), count: steps.fundings },
    delegated: amountOf(steps.delegated),
    isShared: steps.shared,
    delegation: steps.delegated_at === null ? null : {
      at: steps.delegated_at.getTime(),
      used: steps.swept_at !== null && steps.swept_at >= steps.delegated_at,
    },
    failures: steps.failures,
    failedAt: steps.failed_at?.getTime() ?? null,
    failure: steps.failure,
    unheard: unheard.map(({ id }) => id),
    unexpected: unheard.find(({ unexpected }) => unexpected)?.id ?? null,
  };
}

async function readOpenItems(
  sql: Sql,
  target: SweepAddress,
  most: number | null,
): Promise<readonly OpenItem[]> {
  const rows = await sql<
    (Omit<OpenItem, "amount" | "height" | "foundAt"> & {
      amount: string;
      height: string;
      found_at: Date;
    })[]
  >`
    SELECT i.merchant_id AS "merchantId", i.txid, i.log_index AS "logIndex",
      trim_scale(i.amount)::text AS amount, i.height, i.found_at,
      (NOT ${target.isTopUp} OR EXISTS (
        SELECT FROM book.deposit d
        WHERE d.merchant_id = i.merchant_id AND d.network = i.network AND d.txid = i.txid
          AND (d.log_index = i.log_index AND d.expires_at IS NULL OR d.log_index = -1 AND d.status = 'CONFIRMED')
      )) AS listable
    FROM book.sweep_item i
    WHERE i.network = ${target.network} AND i.address = ${target.address} AND i.currency = ${target.currency}
      AND NOT i.done AND i.outgoing_id IS NULL
    ORDER BY i.height DESC, i.txid, i.log_index LIMIT ${most}`;
  return rows.map(({ found_at, ...row }) => ({
    ...row,
    amount: amountOf(row.amount),
    height: Number(row.height),
    foundAt: found_at.getTime(),
  }));
}

interface StepsRow {
  readonly living: (Omit<LivingStep, "createdAt"> & { readonly createdAt: string }) | null;
  readonly coin: string;
  readonly funded_at: Date | null;
  readonly fundings: number;
  readonly delegated: string;
  readonly shared: boolean;
  readonly delegated_at: Date | null;
  readonly swept_at: Date | null;
  readonly failures: number;
  readonly failed_at: Date | null;
  readonly failure: string | null;
}

async function readSteps(sql: Sql, target: SweepAddress): Promise<readonly StepsRow[]> {
  const { network, address, currency } = target;
  const wallet = String(target.walletIndex);
  return await sql<StepsRow[]>`
    WITH step AS (
      SELECT o.* FROM book.outgoing o
      WHERE o.network = ${network} AND o.wallet = ${wallet} AND o.wallet <> 'hot'
      UNION ALL
      SELECT o.* FROM book.outgoing o
      WHERE o.network = ${network} AND o.destination = ${address} AND o.kind IN ('gas', 'delegation', 'reclaim')
    ), mine AS (
      SELECT * FROM step WHERE kind <> 'sweep' OR currency = ${currency}
    ), failed AS (
      SELECT * FROM mine WHERE status = 'void' AND reason LIKE 'failed:%' AND id > coalesce(
        (SELECT max(id) FROM mine WHERE kind = 'sweep' AND status = 'final'), '')
    )
    SELECT
      (SELECT jsonb_build_object('id', id, 'kind', kind, 'status', status, 'reason', reason, 'createdAt', created_at)
       FROM step WHERE status IN ('queued', 'signed', 'dead') ORDER BY id LIMIT 1) AS living,
      trim_scale(
        coalesce((SELECT sum(amount) FROM step WHERE kind = 'gas' AND status = 'final'), 0)
        - coalesce((SELECT sum(a.fee) FROM step s JOIN book.attempt a
            ON a.outgoing_id = s.id AND a.merchant_id = ${PLATFORM_ACCOUNT} WHERE s.kind = 'sweep'), 0))::text AS coin,
      trim_scale(
        coalesce((SELECT sum(amount) FROM step WHERE kind = 'delegation' AND status = 'final'), 0)
        - coalesce((SELECT sum(amount) FROM step WHERE kind = 'reclaim' AND status = 'final'), 0))::text AS delegated,
      (SELECT max(updated_at) FROM step WHERE kind = 'gas' AND status = 'final') AS funded_at,
      (SELECT count(*)::int FROM step WHERE kind = 'gas' AND status = 'final' AND id > coalesce(
        (SELECT max(id) FROM step WHERE kind = 'sweep' AND (status = 'final' OR reason LIKE 'failed:%')), '')) AS fundings,
      EXISTS (SELECT FROM book.sweep_address t
        WHERE t.network = ${network} AND t.address = ${address} AND t.currency <> ${currency}
          AND t.reason IN ('in_flight', 'waiting_gas', 'address_not_activated')) AS shared,
      (SELECT max(updated_at) FROM step WHERE kind = 'delegation' AND status = 'final') AS delegated_at,
      (SELECT max(updated_at) FROM step WHERE kind = 'sweep' AND (status = 'final' OR reason LIKE 'failed:%')) AS swept_at,
      (SELECT count(*)::int FROM failed) AS failures,
      (SELECT max(updated_at) FROM failed) AS failed_at,
      (SELECT reason FROM failed ORDER BY id DESC LIMIT 1) AS failure`;
}

/** Final sweeps with transfers that are not done. */
async function readUnheard(sql: Sql, target: SweepAddress) {
  return await sql<{ id: string; unexpected: boolean }[]>`
    SELECT o.id, bool_or(a.outcome = 'unexpected' AND v.outgoing_id IS NULL) AS unexpected
    FROM (
      SELECT DISTINCT i.outgoing_id FROM book.sweep_item i
      WHERE i.network = ${target.network} AND i.address = ${target.address} AND i.currency = ${target.currency}
        AND NOT i.done AND i.outgoing_id IS NOT NULL) carried
    JOIN book.outgoing o ON o.id = carried.outgoing_id AND o.merchant_id = ${PLATFORM_ACCOUNT} AND o.status = 'final'
    JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id
    LEFT JOIN book.sweep_verdict v ON v.outgoing_id = o.id
    GROUP BY o.id`;
}

/** What final sweeps of an address account for beyond the transfers that they list. */
export interface AccountedFor {
  /**
   * What they took from it, without what they list and what write-offs have been explained by. Below
   * zero where transfers were listed later that a write-off had been explained by.
   */
  readonly amount: Amount;
  /** The newest block of one of them; 0 without any. */
  readonly height: number;
}

/**
 * Reads what of an address' transfers that are open is known to be gone from it: a sweep that was
 * settled as lost took it, or one that moved more than it lists. Costs by the sweeps of that address.
 */
export async function readAccountedFor(sql: Sql, target: SweepAddress): Promise<AccountedFor> {
  const { network, address, currency } = target;
  const [row] = await sql<{ amount: string; height: string }[]>`
    SELECT coalesce(max(a.height), 0) AS height, trim_scale(
      coalesce(sum(CASE a.outcome WHEN 'paid' THEN o.amount ELSE v.taken END
        - coalesce((SELECT sum(i.amount) FROM book.sweep_item i WHERE i.outgoing_id = o.id), 0)), 0)
      - coalesce((SELECT sum(w.amount - w.unexplained) FROM book.sweep_write_off w
          WHERE w.network = ${network} AND w.address = ${address} AND w.currency = ${currency}), 0))::text AS amount
    FROM book.outgoing o
    JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id
    LEFT JOIN book.sweep_verdict v ON v.outgoing_id = o.id AND a.outcome = 'unexpected'
    WHERE o.network = ${network} AND o.wallet = ${String(target.walletIndex)} AND o.wallet <> 'hot'
      AND o.currency = ${currency} AND o.merchant_id = ${PLATFORM_ACCOUNT} AND o.status = 'final'
      AND (a.outcome = 'paid' OR v.outgoing_id IS NOT NULL)`;
  return { amount: amountOf(row?.amount ?? "0"), height: Number(row?.height ?? 0) };
}

/** Stake of loans that are queued or signed and not final: a node may not know of them yet. */
export async function readReservedStake(sql: Sql, network: Network): Promise<Amount> {
  const [row] = await sql<{ stake: string }[]>`
    SELECT trim_scale(coalesce(sum(amount), 0))::text AS stake FROM book.outgoing
    WHERE network = ${network} AND kind = 'delegation' AND status IN ('queued', 'signed', 'dead')`;
  return amountOf(row?.stake ?? "0");
}
