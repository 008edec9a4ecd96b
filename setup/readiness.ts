import type { Engine } from "../actors/engine.ts";
import type { Readiness } from "../api/context.ts";
import type { Sql } from "../ledger/database/connect.ts";
import { assertMigrated } from "../ledger/database/migrate.ts";
import { readHealth } from "../ledger/queries/read_health.ts";

/** Blocks that a network may be behind before it counts as lagging. */
const LAG_BLOCKS = 20;
/** How long a network may be silent, and an event untried, before it is said. */
const SILENT_MS = 60_000;
const UNTRIED_SECONDS = 30;
/** How long one batch may take before the journal counts as stopped: nothing is decided meanwhile. */
const JOURNAL_MS = 15_000;
/** Bound of the whole check. */
const CHECK_MS = 2_000;

/** Whether this node can serve, and what is not as it should be. */
export async function readiness(sql: Sql, engine: Engine, now: number): Promise<Readiness> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("no answer in time")), CHECK_MS);
  });
  try {
    const [health] = await Promise.race([
      Promise.all([readHealth(sql, UNTRIED_SECONDS), assertMigrated(sql)]),
      late,
    ]);
    if (engine.merchants.busyMs > JOURNAL_MS) {
      return { status: "unready", reasons: ["the journal does not move"] };
    }
    const reasons: string[] = [];
    for (const network of engine.networks) {
      if (!engine.watched.has(network)) reasons.push(`${network} was not reached yet`);
    }
    if (health.untriedEvents > 0) reasons.push("events wait that were never tried");
    if (health.asideRows > 0) reasons.push("inbox rows were set aside");
    for (const [network, status] of engine.watched) {
      const lag = status.chainSolid - status.readSolid;
      if (lag > LAG_BLOCKS) reasons.push(`${network} is ${lag} blocks behind`);
      if (now - status.reachedAt > SILENT_MS) reasons.push(`${network} cannot be reached`);
    }
    return { status: reasons.length === 0 ? "ok" : "degraded", reasons };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { status: "unready", reasons: [`database: ${reason}`] };
  } finally {
    clearTimeout(timer);
  }
}
