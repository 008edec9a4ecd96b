import type { Engine } from "../actors/engine.ts";
import type { Reconciler } from "../actors/reconcile/reconciler.ts";
import type { FeeBoard } from "../actors/treasury/fee_board.ts";
import type { Readiness } from "../api/context.ts";
import type { Sql } from "../ledger/database/connect.ts";
import { assertMigrated, type Migration } from "../ledger/database/migrate.ts";
import { readSettings } from "../ledger/journal/read_settings.ts";
import { readHealth } from "../ledger/queries/read_health.ts";
import { chainReasons } from "./chain_reasons.ts";
import { reconcileReasons } from "./reconcile_metrics.ts";
import { sweepReasons } from "./sweep_health.ts";
import { feeReasons, treasuryReasons } from "./treasury_reasons.ts";

/** How long an event may be untried before it is said. */
const UNTRIED_SECONDS = 30;
/** How long one batch may take before the journal counts as stopped: nothing is decided meanwhile. */
const JOURNAL_MS = 15_000;
/** Bound of the whole check. */
const CHECK_MS = 2_000;

/** What a node's readiness is made of. */
export interface ReadinessParts {
  readonly sql: Sql;
  /** The migrations that this process started with; the files on disk may be newer by now. */
  readonly migrations: readonly Migration[];
  readonly engine: Engine;
  /** Unix milliseconds. */
  readonly now: number;
  /** Why nothing is signed now; `null` while all is well. */
  readonly signerTrouble: string | null;
  /** What dynamic network fees are; `null`: nobody is charged one. */
  readonly fees: Pick<FeeBoard, "basis"> | null;
  /** What compares the books; `null`: nobody does. */
  readonly reconciler: Pick<Reconciler, "newest" | "patienceMs"> | null;
}

/** Whether this node can serve, and what is not as it should be. */
export async function readiness(parts: ReadinessParts): Promise<Readiness> {
  const { sql, migrations, engine, now, signerTrouble, fees, reconciler } = parts;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("no answer in time")), CHECK_MS);
  });
  try {
    const [health, settings] = await Promise.race([
      Promise.all([
        readHealth(sql, UNTRIED_SECONDS),
        readSettings(sql),
        assertMigrated(sql, migrations),
      ]),
      late,
    ]);
    if (engine.merchants.busyMs > JOURNAL_MS) {
      return { status: "unready", reasons: ["the journal does not move"] };
    }
    const reasons: string[] = [];
    for (const network of engine.networks) {
      if (!engine.watched.has(network)) reasons.push(`${network} was not reached yet`);
    }
    if (signerTrouble !== null) reasons.push(`payouts wait: ${signerTrouble}`);
    if (health.untriedEvents > 0) reasons.push("events wait that were never tried");
    if (health.asideRows > 0) reasons.push("inbox rows were set aside");
    for (const network of engine.networks) {
      reasons.push(...chainReasons(engine, network, now));
      reasons.push(...treasuryReasons(engine, network, now));
      reasons.push(...sweepReasons(engine, network, now));
    }
    if (fees !== null) {
      reasons.push(...feeReasons(settings.pairs.values(), engine.networks, fees));
    }
    if (reconciler !== null) reasons.push(...reconcileReasons(reconciler, now));
    return { status: reasons.length === 0 ? "ok" : "degraded", reasons };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { status: "unready", reasons: [`database: ${reason}`] };
  } finally {
    clearTimeout(timer);
  }
}
