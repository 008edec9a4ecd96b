import type { Sql } from "postgres";
import { type HubAudit, writeAudit } from "../audit.ts";
import type { AnySql } from "../database/connect.ts";
import { type Amount, amountOf } from "../money/amount.ts";
import type { Currency, Network } from "../money/pair.ts";

/** A transfer that waits for an operator's verdict. */
export interface UndecidedSpend {
  readonly network: Network;
  readonly txid: string;
  readonly logIndex: number;
  readonly height: number;
  readonly recipient: string;
  readonly currency: Currency;
  readonly amount: Amount;
}

/** The transfers of a transaction that nobody has decided on; an unknown sweep may be decided, too. */
export async function findUndecided(sql: Sql, txid: string): Promise<readonly UndecidedSpend[]> {
  const rows = await sql<
    (Omit<UndecidedSpend, "logIndex" | "height" | "amount"> & {
      readonly log_index: number;
      readonly height: string;
      readonly amount: string;
    })[]
  >`
    SELECT network, txid, log_index, height, recipient, currency, trim_scale(amount)::text AS amount
    FROM hub.unknown_spend s
    WHERE txid = ${txid} AND status = 'open'
      AND NOT EXISTS (SELECT FROM book.attempt a WHERE a.txid = s.txid AND a.network = s.network
        AND a.outcome IS DISTINCT FROM 'expired')
    ORDER BY network, log_index`;
  return rows.map(({ log_index, height, amount, ...row }) => ({
    ...row,
    logIndex: log_index,
    height: Number(height),
    amount: amountOf(amount),
  }));
}

/** An operator's verdict. */
export type SpendVerdict =
  | {
    readonly kind: "matched" | "booked";
    readonly merchantId: string;
    readonly withdrawalId: string;
  }
  | { readonly kind: "written_off"; readonly reason: string };

/**
 * Writes a verdict on undecided transfers, with its audit.
 *
 * @returns how many were decided by it; those that somebody else decided meanwhile are not
 */
export async function decideSpends(
  sql: Sql,
  spends: readonly Pick<UndecidedSpend, "network" | "txid" | "logIndex">[],
  verdict: SpendVerdict,
  audit: HubAudit,
): Promise<number> {
  return await sql.begin(async (tx) => {
    const count = await writeVerdict(tx, spends, verdict, audit.actor);
    if (count > 0) await writeAudit(tx, audit);
    return count;
  });
}

/** Writes a verdict on those that are undecided still, and answers how many they are. */
export async function writeVerdict(
  tx: AnySql,
  spends: readonly Pick<UndecidedSpend, "network" | "txid" | "logIndex">[],
  verdict: SpendVerdict,
  actor: string,
): Promise<number> {
  const isPayment = verdict.kind !== "written_off";
  const { count } = await tx`
    UPDATE hub.unknown_spend s SET status = ${verdict.kind}, decided_at = now(), actor = ${actor},
      reason = ${isPayment ? null : verdict.reason},
      merchant_id = ${isPayment ? verdict.merchantId : null},
      withdrawal_id = ${isPayment ? verdict.withdrawalId : null}
    FROM unnest(${spends.map(({ network }) => network)}::text[], ${
    spends.map(({ txid }) => txid)
  }::text[], ${spends.map(({ logIndex }) => logIndex)}::int[]) AS f(network, txid, log_index)
    WHERE s.network = f.network AND s.txid = f.txid AND s.log_index = f.log_index AND s.status = 'open'`;
  return count;
}

/** Declares that the database has another history although it does not show: see `hub.open_failover`. */
export async function declareFailover(
  sql: Sql,
  failoverId: string,
  gap: number,
  reason: string,
  audit: HubAudit,
): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`
      SELECT hub.open_failover(${failoverId}, 'declared', NULL, NULL, ${reason}, ${audit.actor}, ${gap})`;
    await writeAudit(tx, audit);
  });
}

/** Greatest age of a network's newest scanned block while a node still serves it. */
const SERVED_FOR = "10 minutes";

/** Why holds cannot be ended by hand. */
export type EndRefused = "open_spends" | "not_compared" | "none_open";

/**
 * Ends holds by hand where nothing is open any more: those that still wait for networks which are
 * served no longer. What left wallets unknown, and what may still come, no administrator can pass. A
 * hold that opens meanwhile stays, and so does one for a network that another node still scans.
 *
 * @param served networks that are compared here
 * @returns why not, or null where they are ended
 */
export async function endHolds(
  sql: Sql,
  served: readonly Network[],
  reason: string,
  audit: HubAudit,
): Promise<EndRefused | null> {
  return await sql.begin(async (tx) => {
    const holds = await tx<{ id: string }[]>`
      SELECT id FROM hub.failover WHERE ended_at IS NULL ORDER BY id FOR UPDATE`;
    if (holds.length === 0) return "none_open";
    // each statement sees what was committed before it: only these are looked at and ended
    const ids = holds.map(({ id }) => id);
    const waiting = await tx<{ is_served: boolean }[]>`
      SELECT n.network = ANY (${[...served]}::text[]) OR EXISTS (
        SELECT FROM hub.cursor c WHERE c.network = n.network AND c.view = 'solid'
          AND c.time > now() - ${SERVED_FOR}::interval) AS is_served
      FROM hub.failover_network n WHERE n.failover_id = ANY (${ids}::text[]) AND n.compared_at IS NULL
      ORDER BY n.failover_id, n.network FOR UPDATE OF n`;
    const open = await tx`SELECT FROM hub.unknown_spend WHERE status = 'open' LIMIT 1`;
    if (open.length > 0) return "open_spends";
    if (waiting.some((network) => network.is_served)) return "not_compared";
    // should such a network be served again, its scan goes on where this history left it, and finds what left
    await tx`
      UPDATE hub.failover_network SET head_height = coalesce(head_height, 0),
        until_time = coalesce(until_time, now()), compared_at = now()
      WHERE compared_at IS NULL AND failover_id = ANY (${ids}::text[])`;
    await tx`
      UPDATE hub.failover SET ended_at = now(), ended_by = ${audit.actor}, end_reason = ${reason}
      WHERE ended_at IS NULL AND id = ANY (${ids}::text[])`;
    await writeAudit(tx, audit);
    return null;
  });
}

/** A withdrawal that is not paid yet, and that an unknown transfer may have paid. */
export interface Candidate {
  readonly withdrawalId: string;
  readonly merchantId: string;
  readonly referenceId: string | null;
  /**
   * `queued`: it can be matched; `signed`: bytes of it may still come to a block, and when they have
   * expired it is queued; `approval`: an administrator has to let it go first.
   */
  readonly state: "queued" | "signed" | "approval";
  /** Block time until which signed bytes may come to a block; null: none are known. */
  readonly expiresAt: Date | null;
}

/** The most that are named beside one transfer. */
const MOST = 5;

/** The withdrawals that would be paid beside the unknown transfers of a transaction, oldest first. */
export async function findCandidates(
  sql: AnySql,
  { network, txid }: Pick<UndecidedSpend, "network" | "txid">,
): Promise<readonly Candidate[]> {
  return await sql<Candidate[]>`
    SELECT DISTINCT withdrawal_id AS "withdrawalId", merchant_id AS "merchantId", reference_id AS "referenceId",
      state, expires_at AS "expiresAt"
    FROM hub.spend_candidate WHERE network = ${network} AND txid = ${txid}
    ORDER BY withdrawal_id LIMIT ${MOST}`;
}

/** Map key of a transfer. */
export function spendKey(
  { network, txid, logIndex }: Pick<UndecidedSpend, "network" | "txid" | "logIndex">,
): string {
  return `${network}/${txid}/${logIndex}`;
}

/** The candidates of all undecided transfers by {@linkcode spendKey}, oldest first. */
export async function listCandidates(
  sql: AnySql,
): Promise<ReadonlyMap<string, readonly Candidate[]>> {
  const rows = await sql<
    (Candidate & Pick<UndecidedSpend, "network" | "txid" | "logIndex">)[]
  >`
    SELECT network, txid, log_index AS "logIndex", withdrawal_id AS "withdrawalId", merchant_id AS "merchantId",
      reference_id AS "referenceId", state, expires_at AS "expiresAt"
    FROM (
      SELECT c.*, row_number() OVER (PARTITION BY network, txid, log_index ORDER BY withdrawal_id) AS place
      FROM hub.spend_candidate c) ranked
    WHERE place <= ${MOST} ORDER BY place`;
  const listed = new Map<string, Candidate[]>();
  for (const { network, txid, logIndex, ...candidate } of rows) {
    const key = spendKey({ network, txid, logIndex });
    const known = listed.get(key);
    if (known === undefined) listed.set(key, [candidate]);
    else known.push(candidate);
  }
  return listed;
}

/**
 * The id of the withdrawal as which a transfer is booked for a merchant: the same each time it is asked
 * for, so that a verdict that is repeated finds what an earlier one has made. Its UUID is of version 8
 * where all others are of version 7, by which the database keeps it from ever being half booked, and its
 * payout from the queue (`book.is_booked`): the money has left already.
 *
 * @returns `wd_` and a UUID made of the SHA-256 of transfer and merchant
 */
export async function bookedWithdrawalId(
  { network, txid, logIndex }: Pick<UndecidedSpend, "network" | "txid" | "logIndex">,
  merchantId: string,
): Promise<string> {
  const text = new TextEncoder().encode([network, txid, logIndex, merchantId].join("/"));
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", text)).slice(0, 16);
  bytes[6] = 0x80 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `wd_${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${
    hex.slice(20)
  }`;
}
