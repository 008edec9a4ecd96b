import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";
import { PLATFORM_ACCOUNT } from "../treasury/platform_account.ts";
import type { SweepReason } from "./sweep_reason.ts";

/** How the sweeps of a network stand. */
export interface SweepHealth {
  /** Addresses that are not swept, by reason. */
  readonly waiting: ReadonlyMap<SweepReason, number>;
  /** When the oldest top-up was final that no final sweep has moved yet, Unix milliseconds. */
  readonly oldestTopUpAt: number | null;
  /** Addresses that could not be looked at three times in a row and more. */
  readonly failing: number;
  /** Addresses that were paid and whose rows other transactions have held for a minute and more since. */
  readonly held: number;
}

/** Reads how the sweeps of a network stand; costs by the number of merchants, not of addresses. */
export async function readSweepHealth(sql: Sql, network: Network): Promise<SweepHealth> {
  const [counts, [oldest], [stuck], [late]] = await Promise.all([
    sql<{ reason: SweepReason; addresses: number }[]>`
      SELECT reason, count(*)::int AS addresses FROM book.sweep_target
      WHERE network = ${network} AND reason IS NOT NULL GROUP BY reason`,
    sql<{ found_at: Date | null }[]>`
      SELECT min(i.found_at) AS found_at FROM book.deposit_address a
      JOIN book.sweep_item i ON i.network = a.network AND i.address = a.address AND NOT i.done
      WHERE a.kind = 'top_up' AND a.network = ${network} AND NOT EXISTS (
        SELECT FROM book.outgoing o
        WHERE o.id = i.outgoing_id AND o.merchant_id = ${PLATFORM_ACCOUNT} AND o.status = 'final')`,
    sql<{ failing: number }[]>`
      SELECT count(*)::int AS failing FROM book.sweep_target
      WHERE network = ${network} AND tries >= 3`,
    sql<{ held: number }[]>`
      SELECT count(*)::int AS held FROM book.late_sweep_target
      WHERE network = ${network} AND noted_at < now() - interval '1 minute'`,
  ]);
  return {
    waiting: new Map(counts.map(({ reason, addresses }) => [reason, addresses])),
    oldestTopUpAt: oldest?.found_at?.getTime() ?? null,
    failing: stuck?.failing ?? 0,
    held: late?.held ?? 0,
  };
}
