import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";
import { type Candidate, listCandidates, spendKey } from "./spend_verdicts.ts";

/** Rows of one list that are shown. */
const MOST = 1_000;

/** Progress of a hold on one network. */
export interface HoldNetwork {
  readonly network: Network;
  /** Height of our scan as this history had it. */
  readonly fromHeight: number | null;
  readonly readHeight: number | null;
  readonly readTime: Date | null;
  /** Height, and block time below, that the scan has to pass; null until the chain was reached. */
  readonly headHeight: number | null;
  readonly untilTime: Date | null;
  readonly comparedAt: Date | null;
  readonly gapFirst: number;
  readonly gapLast: number;
  readonly gapWatched: boolean;
}

/** A hold. */
export interface Hold {
  readonly id: string;
  readonly cause: "history" | "declared";
  readonly before: string | null;
  readonly after: string | null;
  readonly reason: string;
  readonly actor: string;
  readonly foundAt: Date;
  readonly endedAt: Date | null;
  readonly networks: readonly HoldNetwork[];
}

/** Holds, the newest first; ended ones too. */
export async function listHolds(sql: Sql, limit: number): Promise<readonly Hold[]> {
  const holds = await sql<Omit<Hold, "networks">[]>`
    SELECT id, cause, before, after, reason, actor, found_at AS "foundAt", ended_at AS "endedAt"
    FROM hub.failover ORDER BY id DESC LIMIT ${limit}`;
  const rows = await sql<
    (Omit<HoldNetwork, "fromHeight" | "readHeight" | "headHeight"> & {
      readonly failoverId: string;
      readonly fromHeight: string | null;
      readonly readHeight: string | null;
      readonly headHeight: string | null;
    })[]
  >`
    SELECT n.failover_id AS "failoverId", n.network, n.from_height AS "fromHeight", c.height AS "readHeight",
      c.time AS "readTime", n.head_height AS "headHeight", n.until_time AS "untilTime",
      n.compared_at AS "comparedAt", n.gap_first AS "gapFirst", n.gap_last AS "gapLast", n.gap_watched AS "gapWatched"
    FROM hub.failover_network n LEFT JOIN hub.cursor c ON c.network = n.network AND c.view = 'solid'
    WHERE n.failover_id = ANY (${holds.map(({ id }) => id)}::text[]) ORDER BY n.network`;
  const numberOf = (text: string | null) => text === null ? null : Number(text);
  return holds.map((hold) => ({
    ...hold,
    networks: rows.filter(({ failoverId }) => failoverId === hold.id)
      .map(({ failoverId: _, ...row }) => ({
        ...row,
        fromHeight: numberOf(row.fromHeight),
        readHeight: numberOf(row.readHeight),
        headHeight: numberOf(row.headHeight),
      })),
  }));
}

/** A transfer out of an own wallet that the books do not know, beside what it may have paid. */
export interface ListedSpend {
  readonly network: Network;
  readonly txid: string;
  readonly height: number;
  readonly time: Date;
  readonly wallet: string;
  readonly from: string;
  readonly to: string;
  readonly currency: string;
  readonly amount: string;
  readonly status: "open" | "listed" | "cold";
  readonly candidates: readonly Candidate[];
}

/**
 * Transfers out of wallets that the books do not know: those that wait for a verdict first, then unknown
 * sweeps and transfers to the cold wallet; each oldest first.
 */
export async function listUndecided(sql: Sql): Promise<readonly ListedSpend[]> {
  const rows = await sql<
    (Omit<ListedSpend, "height" | "candidates"> & {
      readonly height: string;
      readonly logIndex: number;
    })[]
  >`
    SELECT network, txid, log_index AS "logIndex", height, block_time AS time, wallet, sender AS "from",
      recipient AS "to", currency, trim_scale(amount)::text AS amount, status
    FROM hub.unknown_spend WHERE status IN ('open', 'listed', 'cold')
    ORDER BY status <> 'open', network, height, txid, log_index LIMIT ${MOST}`;
  const candidates = await listCandidates(sql);
  return rows.map(({ height, logIndex, ...row }) => ({
    ...row,
    height: Number(height),
    candidates: candidates.get(spendKey({ ...row, logIndex })) ?? [],
  }));
}

/** A record that a merchant was told of and that the database has lost. */
export interface ListedLoss {
  readonly failoverId: string;
  readonly merchantId: string;
  readonly kind: string;
  readonly recordId: string;
  readonly referenceId: string | null;
  readonly network: Network | null;
  readonly currency: string | null;
  readonly amount: string | null;
  readonly destination: string | null;
  readonly acknowledgedAt: Date;
}

/** Acknowledged records that are lost, the newest hold's first. */
export async function listLost(sql: Sql): Promise<readonly ListedLoss[]> {
  return await sql<ListedLoss[]>`
    SELECT failover_id AS "failoverId", merchant_id AS "merchantId", kind, record_id AS "recordId",
      reference_id AS "referenceId", network, currency, trim_scale(amount)::text AS amount, destination,
      acknowledged_at AS "acknowledgedAt"
    FROM hub.lost_commit ORDER BY failover_id DESC, acknowledged_at LIMIT ${MOST}`;
}

/** Reasons that stop payouts of one network while it is not known what was signed before. */
export interface FailoverTrouble {
  readonly network: Network;
  /** Transfers out of wallets of ours that nobody has decided on. */
  readonly openSpends: number;
  /** True while something that was signed in a lost history may still come. */
  readonly isHeld: boolean;
}

/** The networks whose payouts are held, with why. Few rows, by partial indexes. */
export async function readFailoverTroubles(sql: Sql): Promise<readonly FailoverTrouble[]> {
  const rows = await sql<{ network: Network; open_spends: number; is_held: boolean }[]>`
    SELECT network, sum(spends)::int AS open_spends, bool_or(held) AS is_held FROM (
      SELECT network, count(*) AS spends, false AS held FROM hub.unknown_spend WHERE status = 'open' GROUP BY 1
      UNION ALL
      SELECT network, 0, true FROM hub.failover_network WHERE compared_at IS NULL) t
    GROUP BY network ORDER BY network`;
  return rows.map((row) => ({
    network: row.network,
    openSpends: row.open_spends,
    isHeld: row.is_held,
  }));
}
