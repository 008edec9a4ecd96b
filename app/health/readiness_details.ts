import type { Engine } from "../../actors/engine.ts";
import { oneAtATime } from "../../actors/runtime/one_at_a_time.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import type { PairSettings } from "../../ledger/pairs.ts";
import { type Health, readHealth } from "../../ledger/database/read_health.ts";
import { failoverReasons } from "./failover_reasons.ts";
import { type PassedOver, passedOverReasons, readPassedOver } from "./passed_over.ts";

/** Time for which an event may be untried before it is said. */
const UNTRIED_SECONDS = 30;

/** The part that readiness reads of the database beside what decides whether the node can serve. */
export interface Details {
  readonly health: Promise<Health>;
  readonly passedOver: Promise<PassedOver>;
  readonly failover: Promise<readonly string[]>;
}

/**
 * Reads what is told beside whether the node can serve. A part that is still being read is not begun
 * again: checks come each second, and what waits for a locked table would fill every connection.
 *
 * @param sql whose statements have a bound, and on which nothing else waits
 * @returns begins to read, or answers what is under way
 */
export function detailReads(sql: Sql, engine: Pick<Engine, "history">): () => Details {
  let after = "";
  const health = oneAtATime(async () => {
    const found = await readHealth(sql, UNTRIED_SECONDS, after);
    after = found.goOn;
    return found;
  });
  const passedOver = oneAtATime(() => readPassedOver(sql));
  const failover = oneAtATime(() => failoverReasons(sql, engine.history));
  return () => {
    const details = { health: health(), passedOver: passedOver(), failover: failover() };
    // each is awaited only once the node is known to be ready, which may take until one has failed
    for (const one of Object.values(details)) one.catch(() => {});
    return details;
  };
}

/**
 * Troubles by what was read; what could not be read is a reason itself.
 *
 * @param late fails when no more may be waited for
 */
export async function detailReasons(
  details: Details,
  late: Promise<never>,
  pairs: Iterable<PairSettings>,
  engine: Engine,
): Promise<readonly string[]> {
  const told = async <T>(
    name: string,
    read: Promise<T>,
    reasonsOf: (found: T) => readonly string[],
  ) => {
    try {
      return reasonsOf(await Promise.race([read, late]));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return [`database: ${name} cannot be told: ${why}`];
    }
  };
  const reasons = await Promise.all([
    told("what waits", details.health, ({ untriedEvents, quarantinedRows }) => [
      ...(untriedEvents > 0 ? ["events wait that were never tried"] : []),
      ...(quarantinedRows > 0 ? ["inbox rows were quarantined"] : []),
    ]),
    told(
      "what was passed over",
      details.passedOver,
      (passedOver) => passedOverReasons(pairs, engine, passedOver),
    ),
    told("what a failover holds", details.failover, (reasons) => reasons),
  ]);
  return reasons.flat();
}
