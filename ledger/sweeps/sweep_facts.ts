import type { Sql } from "postgres";
import { type Amount, amountOf } from "../money/amount.ts";
import type { Network, OutgoingAsset } from "../money/pair.ts";
import { PLATFORM_ACCOUNT } from "../own_accounts.ts";
import type { OutgoingRow } from "../rows.ts";
import { shape } from "../shape.ts";
import {
  amount,
  bigint,
  boolean,
  integer,
  json,
  orNull,
  type RowOf,
  text,
  time,
} from "../table.ts";
import type { SweepAddress } from "./sweep_addresses.ts";

/** The most transfers that one sweep lists; what is beyond is attached to it afterwards. */
export const MOST_ITEMS = 500;

const openItem = shape({
  merchantId: text(),
  txid: text(),
  logIndex: integer(),
  amount: amount(),
  /** Its block. */
  height: bigint(),
  /** Time at which it was found to be final, Unix milliseconds. */
  foundAt: time(),
  /** True where a sweep may list it: of a top-up only what its merchant has booked as waiting. */
  listable: boolean(),
});
/** A final transfer to the address that no sweep carries yet. */
export type OpenItem = RowOf<typeof openItem>;

/** An own transfer from or to the address that is not over. */
export interface LivingStep {
  readonly id: string;
  readonly kind: OutgoingRow["kind"];
  readonly status: "queued" | "signed" | "dead";
  readonly reason: string | null;
  readonly currency: OutgoingAsset;
  /** A decimal. */
  readonly amount: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Time at which the oldest transfer that it carries was found to be final, Unix milliseconds; null: it carries none. */
  readonly foundAt: number | null;
}

const stepsShape = shape({
  living: orNull(json<LivingStep>()),
  /** Coin that was funded and not charged to its sweeps, by the books. */
  coin: amount(),
  fundedAt: orNull(time()),
  fundings: integer(),
  /** Amount that is delegated to it, by the books. */
  delegated: amount(),
  /** True where another currency of the address waits for its coin or for what is delegated to it. */
  isShared: boolean(),
  delegatedAt: orNull(time()),
  sweptAt: orNull(time()),
  /** Steps that failed for good since its last final sweep, and when the last one did. */
  failures: integer(),
  failedAt: orNull(time()),
  failure: orNull(text()),
});
type Steps = RowOf<typeof stepsShape>;

/** Records of an address that may be swept. */
export interface SweepFacts
  extends Omit<Steps, "fundedAt" | "fundings" | "delegatedAt" | "sweptAt"> {
  /** The newest first, not more than were asked for. */
  readonly open: readonly OpenItem[];
  /** The last funding with coin, and their number since its last sweep ended; null: never. */
  readonly funding: { readonly at: number; readonly count: number } | null;
  /** The last delegation to it, used if a sweep has ended since; null: never. */
  readonly delegation: { readonly at: number; readonly used: boolean } | null;
  /** Final sweeps with transfers that are not done. */
  readonly unnotified: readonly string[];
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
  const [open, steps, unnotified] = await Promise.all([
    readOpenItems(sql, target, most),
    readSteps(sql, target),
    readUnnotified(sql, target),
  ]);
  if (steps === null) throw new Error(`Cannot plan as nothing was read: ${target.address}`);
  const { fundedAt, fundings, delegatedAt, sweptAt, ...facts } = steps;
  return {
    ...facts,
    open,
    funding: fundedAt === null ? null : { at: fundedAt, count: fundings },
    delegation: delegatedAt === null
      ? null
      : { at: delegatedAt, used: sweptAt !== null && sweptAt >= delegatedAt },
    unnotified: unnotified.map(({ id }) => id),
    unexpected: unnotified.find(({ unexpected }) => unexpected)?.id ?? null,
  };
}

async function readOpenItems(
  sql: Sql,
  { network, address, currency, isTopUp }: SweepAddress,
  most: number | null,
): Promise<readonly OpenItem[]> {
  return openItem.all(
    await sql`
    SELECT i.merchant_id, i.txid, i.log_index, i.amount, i.height, i.found_at,
      (NOT ${isTopUp} OR EXISTS (
        SELECT FROM book.deposit d
        WHERE d.merchant_id = i.merchant_id AND d.network = i.network AND d.txid = i.txid
          AND (d.log_index = i.log_index AND d.expires_at IS NULL OR d.log_index = -1 AND d.status = 'CONFIRMED')
      )) AS listable
    FROM book.sweep_item i
    WHERE i.network = ${network} AND i.address = ${address} AND i.currency = ${currency}
      AND NOT i.done AND i.outgoing_id IS NULL
    ORDER BY i.height DESC, i.txid, i.log_index LIMIT ${most}`,
  );
}

async function readSteps(
  sql: Sql,
  { network, address, currency, walletIndex }: SweepAddress,
): Promise<Steps | null> {
  return stepsShape.first(
    await sql`
    WITH step AS (
      SELECT o.* FROM book.outgoing o
      WHERE o.network = ${network} AND o.wallet = ${String(walletIndex)} AND o.wallet <> 'hot'
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
      -- what is on its way to an address that has sent its sweep already comes before that
      (SELECT jsonb_build_object('id', id, 'kind', kind, 'status', status, 'reason', reason, 'currency', currency,
         'amount', trim_scale(amount)::text, 'createdAt', floor(extract(epoch FROM created_at) * 1000),
         'foundAt', (SELECT floor(extract(epoch FROM min(i.found_at)) * 1000) FROM book.sweep_item i
           WHERE i.outgoing_id = step.id))
       FROM step WHERE status IN ('queued', 'signed', 'dead') ORDER BY kind = 'sweep', id LIMIT 1) AS living,
      coalesce((SELECT sum(amount) FROM step WHERE kind = 'gas' AND status = 'final'), 0)
        - coalesce((SELECT sum(a.fee) FROM step s JOIN book.attempt a
            ON a.outgoing_id = s.id AND a.merchant_id = ${PLATFORM_ACCOUNT} WHERE s.kind = 'sweep' AND s.fee_payer = 'wallet'), 0) AS coin,
      coalesce((SELECT sum(amount) FROM step WHERE kind = 'delegation' AND status = 'final'), 0)
        - coalesce((SELECT sum(amount) FROM step WHERE kind = 'reclaim' AND status = 'final'), 0) AS delegated,
      (SELECT max(updated_at) FROM step WHERE kind = 'gas' AND status = 'final') AS funded_at,
      (SELECT count(*) FROM step WHERE kind = 'gas' AND status = 'final' AND id > coalesce(
        (SELECT max(id) FROM step WHERE kind = 'sweep' AND (status = 'final' OR reason LIKE 'failed:%')), '')) AS fundings,
      EXISTS (SELECT FROM book.sweep_address t
        WHERE t.network = ${network} AND t.address = ${address} AND t.currency <> ${currency}
          AND t.reason IN ('in_flight', 'waiting_gas', 'address_not_activated')) AS is_shared,
      (SELECT max(updated_at) FROM step WHERE kind = 'delegation' AND status = 'final') AS delegated_at,
      (SELECT max(updated_at) FROM step WHERE kind = 'sweep' AND (status = 'final' OR reason LIKE 'failed:%')) AS swept_at,
      (SELECT count(*) FROM failed) AS failures,
      (SELECT max(updated_at) FROM failed) AS failed_at,
      (SELECT reason FROM failed ORDER BY id DESC LIMIT 1) AS failure`,
  );
}

/** Final sweeps with transfers that are not done. */
async function readUnnotified(sql: Sql, { network, address, currency }: SweepAddress) {
  return await sql<{ id: string; unexpected: boolean }[]>`
    SELECT o.id, bool_or(a.outcome = 'unexpected' AND v.outgoing_id IS NULL) AS unexpected
    FROM (
      SELECT DISTINCT i.outgoing_id FROM book.sweep_item i
      WHERE i.network = ${network} AND i.address = ${address} AND i.currency = ${currency}
        AND NOT i.done AND i.outgoing_id IS NOT NULL) carried
    JOIN book.outgoing o ON o.id = carried.outgoing_id AND o.merchant_id = ${PLATFORM_ACCOUNT} AND o.status = 'final'
    JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id
    LEFT JOIN book.sweep_verdict v ON v.outgoing_id = o.id
    GROUP BY o.id`;
}

const accountedFor = shape({
  /**
   * Taken from the address, without what they list and what write-offs have been explained by. Below
   * zero where transfers were listed later that a write-off had been explained by.
   */
  amount: amount(),
  /** The newest block of one of them; 0 without any. */
  height: bigint(),
});
/** Amount that final sweeps of an address account for beyond the transfers that they list. */
export type AccountedFor = RowOf<typeof accountedFor>;

/**
 * Reads what of an address' transfers that are open is known to be gone from it: a sweep that was
 * settled as lost took it, or one that moved more than it lists. Costs by the sweeps of that address.
 */
export async function readAccountedFor(
  sql: Sql,
  { network, address, currency, walletIndex }: SweepAddress,
): Promise<AccountedFor> {
  const [row] = await sql`
    SELECT coalesce(max(a.height), 0) AS height,
      coalesce(sum(CASE a.outcome WHEN 'paid' THEN o.amount ELSE v.taken END
        - coalesce((SELECT sum(i.amount) FROM book.sweep_item i WHERE i.outgoing_id = o.id), 0)), 0)
      - coalesce((SELECT sum(w.amount - w.unexplained) FROM book.sweep_write_off w
          WHERE w.network = ${network} AND w.address = ${address} AND w.currency = ${currency}), 0) AS amount
    FROM book.outgoing o
    JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id
    LEFT JOIN book.sweep_verdict v ON v.outgoing_id = o.id AND a.outcome = 'unexpected'
    WHERE o.network = ${network} AND o.wallet = ${String(walletIndex)} AND o.wallet <> 'hot'
      AND o.currency = ${currency} AND o.merchant_id = ${PLATFORM_ACCOUNT} AND o.status = 'final'
      AND (a.outcome = 'paid' OR v.outgoing_id IS NOT NULL)`;
  return accountedFor.decode(row ?? {});
}

/** Amount of delegations that are queued or signed and not final: a node may not know of them yet. */
export async function readReservedStake(sql: Sql, network: Network): Promise<Amount> {
  const [row] = await sql<{ amount: string }[]>`
    SELECT trim_scale(coalesce(sum(amount), 0))::text AS amount FROM book.outgoing
    WHERE network = ${network} AND kind = 'delegation' AND status IN ('queued', 'signed', 'dead')`;
  return amountOf(row?.amount ?? "0");
}
