import type { Sql, TransactionSql } from "postgres";
import { type Amount, formatAmount } from "../money/amount.ts";
import { ROW_WAIT } from "../database/write_apart.ts";
import { PLATFORM_ACCOUNT } from "../treasury/platform_account.ts";
import type { SweepTarget } from "./due_targets.ts";
import type { OpenItem } from "./read_sweep_facts.ts";
import type { SweepReason } from "./sweep_reason.ts";

/** The next transfer for an address, and what the operator is told meanwhile. */
export interface NewStep {
  readonly outgoingId: string;
  readonly kind: "sweep" | "gas" | "delegation" | "reclaim";
  /** Of the currency for a sweep, otherwise of the chain's coin. */
  readonly amount: Amount;
  /** Where a sweep goes; helpers go to the address itself. */
  readonly hotWallet: string;
  /** The transfers that a sweep carries; together not more than its amount. */
  readonly items: readonly OpenItem[];
  readonly reason: SweepReason;
  readonly detail: string;
  /** After this long the address is looked at again, whatever became of it. */
  readonly lookMs: number;
}

/**
 * Queues the next transfer for an address, if nothing happened to it since it was planned and none
 * is under way. Planners of other nodes wait for the row of the address and then find it changed.
 *
 * @returns whether it was queued
 * @throws also when another transaction holds rows of the address for more than a moment
 */
export async function writeStep(sql: Sql, target: SweepTarget, step: NewStep): Promise<boolean> {
  return await sql.begin(async (tx) => {
    await tx`SELECT set_config('lock_timeout', ${ROW_WAIT}, true)`;
    if (!await holdTarget(tx, target)) return false;
    const isSweep = step.kind === "sweep";
    await tx`
      INSERT INTO book.outgoing
        (id, merchant_id, kind, network, currency, amount, wallet, destination, status, created_at, updated_at)
      VALUES (${step.outgoingId}, ${PLATFORM_ACCOUNT}, ${step.kind}, ${target.network},
        ${isSweep ? target.currency : "native"}, ${formatAmount(step.amount)},
        ${isSweep ? String(target.walletIndex) : "hot"}, ${
      isSweep ? step.hotWallet : target.address
    }, 'queued', now(), now())`;
    await cover(tx, target, step.outgoingId, step.items);
    await tx`
      UPDATE book.sweep_target SET touched = touched + 1, reason = ${step.reason}, detail = ${step.detail},
        amount = ${isSweep ? formatAmount(step.amount) : null}, updated_at = now(),
        look_at = now() + make_interval(secs => ${step.lookMs / 1_000})
      WHERE network = ${target.network} AND address = ${target.address} AND currency = ${target.currency}`;
    return true;
  });
}

/** Locks the address; false: something happened to it, or a transfer for it is under way. */
export async function holdTarget(tx: TransactionSql, target: SweepTarget): Promise<boolean> {
  // every currency of the address: they share its coin and its energy
  const rows = await tx<{ currency: string; touched: string }[]>`
    SELECT currency, touched FROM book.sweep_target
    WHERE network = ${target.network} AND address = ${target.address} ORDER BY currency FOR UPDATE`;
  const own = rows.find((row) => row.currency === target.currency);
  if (own === undefined || Number(own.touched) !== target.touched) return false;
  const living = await tx`
    SELECT 1 FROM book.outgoing
    WHERE network = ${target.network} AND wallet = ${
    String(target.walletIndex)
  } AND wallet <> 'hot' AND status IN ('queued', 'signed', 'dead')
    UNION ALL
    SELECT 1 FROM book.outgoing
    WHERE network = ${target.network} AND destination = ${target.address}
      AND kind IN ('gas', 'delegation', 'reclaim') AND status IN ('queued', 'signed', 'dead')
    LIMIT 1`;
  return living.length === 0;
}

/**
 * Lists transfers under a sweep.
 *
 * @throws when one of them is carried already: whoever plans holds the address
 */
export async function cover(
  tx: TransactionSql,
  target: SweepTarget,
  outgoingId: string,
  items: readonly OpenItem[],
): Promise<void> {
  if (items.length === 0) return;
  const { count } = await tx`
    UPDATE book.sweep_item i SET outgoing_id = ${outgoingId}
    FROM unnest(${items.map((item) => item.merchantId)}::text[], ${
    items.map((item) => item.txid)
  }::text[], ${items.map((item) => item.logIndex)}::int[]) AS k(merchant_id, txid, log_index)
    WHERE i.merchant_id = k.merchant_id AND i.network = ${target.network} AND i.txid = k.txid
      AND i.log_index = k.log_index AND i.outgoing_id IS NULL AND NOT i.done`;
  if (count !== items.length) {
    throw new Error(`Cannot list transfers as some are carried already: ${target.address}`);
  }
}
