import type { HistoryWatch } from "../../actors/failover/history_watch.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { readFailoverTroubles } from "../../ledger/failover/holds.ts";
import { readAgainTroubles } from "../../ledger/watcher/unreadable_blocks.ts";

/** Milliseconds for which a block may wait to be read again before it is reported. */
const AGAIN_MS = 60_000;

/** Reasons by which the history of the database keeps payouts from being made. */
export async function failoverReasons(
  sql: Sql,
  history: Pick<HistoryWatch, "isTold">,
): Promise<string[]> {
  const troubles = await readFailoverTroubles(sql);
  const reasons = troubles.flatMap(({ network, openSpends, unproven, isHeld }) => [
    ...(isHeld
      ? [`${network} payouts are held: the database has another history, see admin failover`]
      : []),
    ...(openSpends > 0
      ? [
        `${network} payouts are stopped: ${openSpends} transfers left wallets unknown to the books, ` +
        "see admin failover",
      ]
      : []),
    ...(unproven > 0
      ? [
        `${network} nodes call ${unproven} transactions the hot wallet's without showing their signatures, ` +
        "see admin failover",
      ]
      : []),
  ]);
  for (const { network, height, reason, ageMs } of await readAgainTroubles(sql)) {
    if (ageMs <= AGAIN_MS) continue;
    reasons.push(`${network} block ${height} cannot be read again: ${reason}`);
  }
  if (!history.isTold) {
    reasons.push(
      "the database does not tell its history (pg_control_system, pg_walfile_name): after a failover or a " +
        "restore, run admin failover declare",
    );
  }
  return reasons;
}
