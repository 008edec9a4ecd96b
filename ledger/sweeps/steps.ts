import type { Sql, TransactionSql } from "postgres";
import { ROW_WAIT } from "../database/write_apart.ts";
import { type Amount, formatAmount } from "../money/amount.ts";
import type { Network } from "../money/pair.ts";
import { PLATFORM_ACCOUNT } from "../own_accounts.ts";
import type { FeePayer } from "../treasury/intents.ts";
import { coverItems, notifySwept, releaseSweepItems } from "./items.ts";
import type { OpenItem } from "./sweep_facts.ts";
import {
  isAddress,
  type SweepAddress,
  type SweepReason,
  touchSweepAddresses,
} from "./sweep_addresses.ts";

/** The next transfer for an address, and the reason shown meanwhile. */
export interface NewStep {
  readonly outgoingId: string;
  readonly kind: "sweep" | "gas" | "delegation" | "reclaim";
  /** Of the currency for a sweep, otherwise of the chain's coin. */
  readonly amount: Amount;
  /** Destination of a sweep; helpers go to the address itself. */
  readonly hotWallet: string;
  /** Whose coin pays for it: that of the wallet it leaves, or, of a sweep only, the hot wallet's. */
  readonly feePayer: FeePayer;
  /** A sweep of the address that is signed and lacks coin: what is given beside it; absent: nothing else is under way. */
  readonly beside?: string | undefined;
  /** The transfers that a sweep carries; together not more than its amount. */
  readonly items: readonly OpenItem[];
  readonly reason: SweepReason;
  readonly detail: string;
  /** After this long the address is polled again, whatever became of it. */
  readonly pollMs: number;
}

/**
 * Queues the next transfer for an address, if nothing happened to it since it was planned and none
 * is under way. Planners of other nodes wait for the row of the address and then find it changed.
 *
 * @returns true if it was queued
 * @throws also when another transaction holds rows of the address for more than a moment
 */
export async function writeStep(sql: Sql, target: SweepAddress, step: NewStep): Promise<boolean> {
  return await sql.begin(async (tx) => {
    await tx`SELECT set_config('lock_timeout', ${ROW_WAIT}, true)`;
    if (!await holdSweepAddress(tx, target, step.beside)) return false;
    const isSweep = step.kind === "sweep";
    const amount = formatAmount(step.amount);
    await tx`
      INSERT INTO book.outgoing
        (id, merchant_id, kind, network, currency, amount, wallet, fee_payer, destination, status, created_at, updated_at)
      VALUES (${step.outgoingId}, ${PLATFORM_ACCOUNT}, ${step.kind}, ${target.network},
        ${isSweep ? target.currency : "native"}, ${amount}, ${
      isSweep ? String(target.walletIndex) : "hot"
    }, ${step.feePayer},
        ${isSweep ? step.hotWallet : target.address}, 'queued', now(), now())`;
    await coverItems(tx, target, step.outgoingId, step.items);
    await tx`
      UPDATE book.sweep_address SET touched = touched + 1, reason = ${step.reason}, detail = ${step.detail},
        amount = ${isSweep ? amount : null}, updated_at = now(),
        poll_at = now() + make_interval(secs => ${step.pollMs / 1_000})
      WHERE ${isAddress(tx, target)}`;
    return true;
  });
}

/**
 * Locks the address; false: something happened to it, or a transfer for it is under way.
 *
 * @param beside the one signed sweep that may be under way; absent: none may
 */
export async function holdSweepAddress(
  tx: TransactionSql,
  target: SweepAddress,
  beside = "",
): Promise<boolean> {
  // every currency of the address: they share its coin and what is delegated to it
  const rows = await tx<{ currency: string; touched: string }[]>`
    SELECT currency, touched FROM book.sweep_address
    WHERE network = ${target.network} AND address = ${target.address} ORDER BY currency FOR UPDATE`;
  const own = rows.find((row) => row.currency === target.currency);
  if (own === undefined || Number(own.touched) !== target.touched) return false;
  const living = await tx`
    SELECT 1 FROM book.outgoing
    WHERE network = ${target.network} AND wallet = ${
    String(target.walletIndex)
  } AND wallet <> 'hot' AND status IN ('queued', 'signed', 'dead') AND NOT (id = ${beside} AND status = 'signed')
    UNION ALL
    SELECT 1 FROM book.outgoing
    WHERE network = ${target.network} AND destination = ${target.address}
      AND kind IN ('gas', 'delegation', 'reclaim') AND status IN ('queued', 'signed', 'dead')
    LIMIT 1`;
  return living.length === 0;
}

/**
 * Gives up a transfer for an address that could not be signed for too long, so that it is planned
 * again on what is true now. Signing moves the same row, so that only one of the two happens.
 *
 * @returns true if it was given up
 */
export async function withdrawStep(
  sql: Sql,
  target: SweepAddress,
  outgoingId: string,
  why: string,
): Promise<boolean> {
  return await sql.begin(async (tx) => {
    const { count } = await tx`
      UPDATE book.outgoing SET status = 'void', reason = ${`withdrawn: ${why}`}, lease_until = NULL, updated_at = now()
      WHERE id = ${outgoingId} AND merchant_id = ${PLATFORM_ACCOUNT} AND status = 'queued'
        AND (lease_until IS NULL OR lease_until < now() OR reason IS NOT NULL)`;
    if (count === 0) return false;
    await releaseSweepItems(tx, [outgoingId]);
    await touchSweepAddresses(tx, target.network, [outgoingId]);
    return true;
  });
}

/** The end of an internal transfer, shown by its transaction or by the lack of one. */
export interface InternalEnd {
  readonly outgoingId: string;
  readonly kind: string;
  /** `failed`: it moved nothing and never will; the row is `dead` and given up by this. */
  readonly result: "paid" | "failed" | "unexpected";
  readonly reason: string | null;
}

/**
 * Carries out what follows from the ends of internal transfers, in the transaction that records them:
 * merchants whose top-ups they carried are notified, failed ones give their transfers back to the
 * planner. What succeeded without the intended transfer keeps them until there is a verdict.
 * A handful of statements, however many there are.
 *
 * @returns the merchants with a new inbox row
 */
export async function endInternalTransfers(
  tx: TransactionSql,
  network: Network,
  ends: readonly InternalEnd[],
): Promise<readonly string[]> {
  if (ends.length === 0) return [];
  const failed = ends.filter(({ result }) => result === "failed");
  if (failed.length > 0) {
    await tx`
      UPDATE book.outgoing o SET status = 'void', reason = 'failed: ' || f.reason, updated_at = now()
      FROM unnest(${failed.map(({ outgoingId }) => outgoingId)}::text[],
        ${failed.map(({ reason }) => String(reason))}::text[]) AS f(id, reason)
      WHERE o.id = f.id AND o.merchant_id = ${PLATFORM_ACCOUNT} AND o.status = 'dead'`;
  }
  const isSweep = ({ kind }: InternalEnd) => kind === "sweep";
  const idOf = ({ outgoingId }: InternalEnd) => outgoingId;
  await releaseSweepItems(tx, failed.filter(isSweep).map(idOf));
  await touchSweepAddresses(tx, network, ends.map(idOf));
  return await notifySwept(
    tx,
    ends.filter((end) => end.result === "paid" && isSweep(end)).map(idOf),
  );
}
