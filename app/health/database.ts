import type { Registry } from "prom-client";
import { oneAtATime } from "../../actors/runtime/one_at_a_time.ts";
import { within } from "../../actors/runtime/within.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { type Backlog, readBacklog } from "../../ledger/database/read_backlog.ts";
import { type FailoverTrouble, readFailoverTroubles } from "../../ledger/failover/holds.ts";
import { type AgainTrouble, readAgainTroubles } from "../../ledger/watcher/unreadable_blocks.ts";
import { registerFigures, registerSingle } from "./figures.ts";

/** Bound of the wait of metrics for the database, milliseconds: Prometheus gives up after 10 s at the latest. */
const METRICS_MS = 500;

/** Figures that metrics read of the database. */
export interface DatabaseFigures {
  readonly troubles: readonly FailoverTrouble[];
  readonly again: readonly AgainTrouble[];
  /** Null: it was not read yet. */
  readonly backlog: Backlog | null;
}

/** Reads what metrics show of holds, unknown transfers, blocks to read again, and of what waits. */
export async function readDatabaseFigures(sql: Sql): Promise<DatabaseFigures> {
  // one after the other: the further reads have one connection
  const troubles = await readFailoverTroubles(sql);
  const again = await readAgainTroubles(sql);
  const backlog = await readBacklog(sql);
  return { troubles, again, backlog };
}

/**
 * Registers figures that only the database has. A database that does not answer keeps no other figure from
 * being shown: after a moment what was read last is, with its age.
 *
 * @param monotonic milliseconds of a clock that is never set
 */
export function registerDatabaseMetrics(
  registry: Registry,
  read: () => Promise<DatabaseFigures>,
  monotonic: () => number = () => performance.now(),
): void {
  let last: DatabaseFigures = { troubles: [], again: [], backlog: null };
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
  registerFigures(
    registry,
    async () => (await shown()).troubles.map((one) => [one.network, one] as const),
    {
      engine_failover_hold: ({ isHeld }) => isHeld ? 1 : 0,
      engine_unknown_spends: ({ openSpends }) => openSpends,
      engine_unproven_hands: ({ unproven }) => unproven,
    },
  );
  registerFigures(
    registry,
    async () => (await shown()).again.map(({ network, blocks }) => [network, blocks] as const),
    { engine_chain_blocks_to_read_again: (blocks) => blocks },
  );
  const waiting = async () => {
    const { backlog } = await shown();
    return backlog === null ? [] : [[[], backlog] as const];
  };
  registerFigures(registry, waiting, {
    engine_inbox_waiting_rows: ({ inboxWaiting }) => inboxWaiting,
    engine_inbox_quarantined_rows: ({ inboxQuarantined }) => inboxQuarantined,
    engine_callbacks_waiting: ({ callbacksWaiting }) => callbacksWaiting,
    engine_callbacks_oldest_seconds: ({ callbacksOldestMs }) => callbacksOldestMs / 1_000,
    engine_callbacks_paused_endpoints: ({ pausedEndpoints }) => pausedEndpoints,
  });
  registerFigures(
    registry,
    async () =>
      (await waiting()).flatMap(([, { withdrawalApprovals, settlementApprovals }]) => [
        ["withdrawal", withdrawalApprovals] as const,
        ["settlement", settlementApprovals] as const,
      ]),
    { engine_approvals_waiting: (count) => count },
  );
  registerSingle(registry, {
    engine_database_figures_age_seconds: () => (monotonic() - readAt) / 1_000,
  });
}
