import type { PendingQuery, Row, Sql } from "postgres";
import type { Currency, Network } from "../money/pair.ts";
import type { SweepReason } from "./sweep_reason.ts";

/** An address with something to sweep in one currency. */
export interface SweepTarget {
  readonly network: Network;
  readonly address: string;
  readonly currency: Currency;
  /** Derivation index of the address. */
  readonly walletIndex: number;
  /** Whether it is a merchant's own top-up address. */
  readonly isTopUp: boolean;
  /** Why it was not swept when it was last looked at; null: it never was. */
  readonly reason: SweepReason | null;
  /** Counts what happened to it; a plan holds only while it is the same. */
  readonly touched: number;
}

/**
 * The addresses of a network that are to be looked at now, longest waiting first. One whose row another
 * transaction holds is left out: its plan could not be written, and the others would wait for it.
 */
export async function dueTargets(
  sql: Sql,
  network: Network,
  limit: number,
): Promise<readonly SweepTarget[]> {
  return await readTargets(
    sql,
    sql`WHERE network = ${network} AND look_at <= now() ORDER BY look_at LIMIT ${limit}
      FOR NO KEY UPDATE SKIP LOCKED`,
  );
}

/** An address with something to sweep; null where nothing waits there. */
export async function findTarget(
  sql: Sql,
  network: Network,
  address: string,
  currency: Currency,
): Promise<SweepTarget | null> {
  const [target] = await readTargets(
    sql,
    sql`WHERE network = ${network} AND address = ${address} AND currency = ${currency}`,
  );
  return target ?? null;
}

async function readTargets(
  sql: Sql,
  which: PendingQuery<Row[]>,
): Promise<readonly SweepTarget[]> {
  const rows = await sql<(Omit<SweepTarget, "touched"> & { touched: string })[]>`
    SELECT t.network, t.address, t.currency, h.wallet_index AS "walletIndex",
      coalesce(a.kind = 'top_up', false) AS "isTopUp", t.reason, t.touched
    FROM (SELECT * FROM book.sweep_target ${which}) t
    JOIN hub.address h ON h.address = t.address AND h.network = t.network
    LEFT JOIN book.deposit_address a ON a.id = h.address_id AND a.merchant_id = h.merchant_id
    ORDER BY t.look_at`;
  return rows.map((row) => ({ ...row, touched: Number(row.touched) }));
}
