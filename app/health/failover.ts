import type { Registry } from "prom-client";
import type { HistoryWatch } from "../../actors/failover/history_watch.ts";
import { oneAtATime } from "../../actors/runtime/one_at_a_time.ts";
import { within } from "../../actors/runtime/within.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { type FailoverTrouble, readFailoverTroubles } from "../../ledger/failover/holds.ts";
import { type AgainTrouble, readAgainTroubles } from "../../ledger/watcher/unreadable_blocks.ts";
import { registerGauges } from "./figures.ts";

/** Bound of the wait of metrics for the database, milliseconds: Prometheus gives up after 10 s at the latest. */
const METRICS_MS = 500;
/** Milliseconds for which a block may wait to be read again before it is reported. */
const AGAIN_MS = 60_000;

/** Reasons by which the history of the database keeps payouts from being made. */
export async function failoverReasons(
  sql: Sql,
  history: Pick<HistoryWatch, "isTold">,
): Promise<string[]> {
  const reasons = (await readFailoverTroubles(sql)).flatMap(({ network, openSpends, isHeld }) => [
    ...(isHeld
      ? [`${network} payouts are held: the database has another history, see admin failover`]
      : []),
    ...(openSpends > 0
      ? [
        `${network} payouts are stopped: ${openSpends} transfers left wallets unknown to the books, ` +
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

/** Figures that metrics read of the database. */
export interface FailoverFigures {
  readonly troubles: readonly FailoverTrouble[];
  readonly again: readonly AgainTrouble[];
}

/** Reads what metrics show of holds, unknown transfers and blocks to read again. */
export async function readFailoverFigures(sql: Sql): Promise<FailoverFigures> {
  const troubles = await readFailoverTroubles(sql);
  const again = await readAgainTroubles(sql);
  return { troubles, again };
}

/**
 * Shows holds and unknown transfers. A database that does not answer keeps no other figure from being
 * shown: after a moment what was read last is, with its age.
 *
 * @param monotonic milliseconds of a clock that is never set
 */
export function registerFailoverMetrics(
  registry: Registry,
  read: () => Promise<FailoverFigures>,
  monotonic: () => number = () => performance.now(),
): void {
  let last: FailoverFigures = { troubles: [], again: [] };
  let readAt = monotonic();
  const refresh = oneAtATime(async () => {
    last = await read();
    readAt = monotonic();
  });
  const shown = async () => {
    // that a database refuses is reported by readiness
    await within(METRICS_MS, refresh().catch(() => {}));
    return last;
  };
  const byNetwork = async () => (await shown()).troubles.map((one) => [one.network, one] as const);
  registerGauges(registry, ["network"], byNetwork, {
    failover_hold: [
      "Whether payouts of the network are held since the database has another history",
      ({ isHeld }) => isHeld ? 1 : 0,
    ],
    unknown_spends: [
      "Final transfers out of the service's wallets that the books do not know and that wait for a decision",
      ({ openSpends }) => openSpends,
    ],
  });
  registerGauges(
    registry,
    ["network"],
    async () => (await shown()).again.map(({ network, blocks }) => [network, blocks] as const),
    {
      chain_blocks_to_read_again: [
        "Passed blocks that have to be read once more and that no node gives",
        (blocks) => blocks,
      ],
    },
  );
  registerGauges(registry, [], async () => [[[], await shown()]], {
    failover_figures_age_seconds: [
      "Since failover_hold, unknown_spends and chain_blocks_to_read_again were last read",
      () => (monotonic() - readAt) / 1_000,
    ],
  });
}
