import type { Engine } from "../../actors/engine.ts";
import type { Reconciler } from "../../actors/reconcile/reconciler.ts";
import { oneAtATime } from "../../actors/runtime/one_at_a_time.ts";
import type { FeeBoard } from "../../actors/treasury/fee_board.ts";
import type { Readiness } from "../../api/http/context.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import type { DatabaseClock } from "../../ledger/database/database_clock.ts";
import { assertMigrated, type Migration } from "../../ledger/database/migrate.ts";
import { type Health, readHealth } from "../../ledger/database/read_health.ts";
import { type PairSettings, readSettings } from "../../ledger/settings.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { reconcileReasons } from "./books.ts";
import { type CallbackParts, callbackReasons } from "./callbacks.ts";
import { chainReasons } from "./chains.ts";
import { type Begun, clockReasons, futureReasons } from "./clocks.ts";
import {
  depositProofReasons,
  type PassedOver,
  passedOverReasons,
  readPassedOver,
} from "./deposits.ts";
import { failoverReasons } from "./failover.ts";
import { poolReasons } from "./pools.ts";
import { sweepReasons } from "./sweeps.ts";
import { feeReasons, treasuryReasons } from "./treasury.ts";
import { journalReasons, workReasons } from "./work.ts";

/** A batch that takes longer means a halted journal: nothing is decided meanwhile. */
const JOURNAL_MS = 15_000;
/** Bound of the whole check: who asks gives up soon after. */
const BOUND_MS = 2_000;

/** Parts that a node's readiness depends on. */
export interface ReadinessParts {
  /** Finds out whether this node is ready; nothing else uses its connection in the service. */
  readonly sql: Sql;
  /** Begins to read further reasons; absent: `sql` does, anew for each check. */
  readonly details?: () => Details;
  /** Every pool, by its name; absent: they are not watched. */
  readonly pools?: ReadonlyMap<string, Sql>;
  /** The migrations that this process started with; the files on disk may be newer by now. */
  readonly migrations: readonly Migration[];
  readonly engine: Engine;
  /** Unix milliseconds by the database's clock. */
  readonly now: number;
  /** Compares this machine's clock with the database's; absent: they are not compared. */
  readonly clock?: Pick<DatabaseClock, "figures">;
  /** Delivers callbacks; absent: only the database is asked about them. */
  readonly callbacks?: CallbackParts;
  /** Reason that nothing is signed now; null while all is well. */
  readonly signerTrouble: string | null;
  /** Dynamic network fees; null: there are none. */
  readonly fees: Pick<FeeBoard, "basis"> | null;
  /** Compares the books; null: it is switched off. */
  readonly reconciler: Pick<Reconciler, "newest" | "overdueMs" | "lookingMs"> | null;
  /** Troubles with the parts that all requests share. */
  readonly others?: () => readonly string[];
  /** Reasons that the first requests would fail; empty once all is there that they need. */
  readonly starting?: () => Promise<readonly string[]>;
  /** Bound of the whole check, milliseconds; default 2 s. */
  readonly boundMs?: number;
}

/**
 * True if this node can serve, and its troubles. Only what decides whether it can serve makes it
 * unready: every other trouble is a reason, and so is one that could not be read.
 */
export async function readiness(parts: ReadinessParts): Promise<Readiness> {
  const { sql, migrations, engine, now, signerTrouble, fees, reconciler } = parts;
  const { boundMs = BOUND_MS } = parts;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("no answer in time")), boundMs);
  });
  try {
    const details = (parts.details ?? detailReads(sql, engine))();
    const [settings] = await Promise.race([
      Promise.all([readSettings(sql), assertMigrated(sql, migrations)]),
      late,
    ]);
    if (engine.merchants.busyMs > JOURNAL_MS) {
      return { status: "unready", reasons: ["the journal does not move"] };
    }
    const starting = await Promise.race([parts.starting?.() ?? [], late]);
    if (starting.length > 0) return { status: "unready", reasons: starting };
    const reasons = parts.pools === undefined ? [] : poolReasons(parts.pools);
    if (parts.clock !== undefined) reasons.push(...clockReasons(parts.clock));
    reasons.push(...journalReasons(engine.merchants));
    for (const network of engine.networks) {
      if (!engine.watched.has(network)) reasons.push(`${network} was not reached yet`);
    }
    if (signerTrouble !== null) reasons.push(`payouts wait: ${signerTrouble}`);
    reasons.push(...workReasons(engine));
    if (parts.callbacks !== undefined) reasons.push(...callbackReasons(parts.callbacks));
    for (const network of engine.networks) {
      reasons.push(...futureReasons(begunOn(engine, network), now));
      reasons.push(...chainReasons(engine, network, now));
      reasons.push(...depositProofReasons(engine, network, now));
      reasons.push(...treasuryReasons(engine, network, now));
      reasons.push(...sweepReasons(engine, network, now));
    }
    if (fees !== null) {
      reasons.push(...feeReasons(settings.pairs.values(), engine.networks, fees));
    }
    if (reconciler !== null) reasons.push(...reconcileReasons(reconciler, now));
    reasons.push(...parts.others?.() ?? []);
    reasons.push(...await detailReasons(details, late, settings.pairs.values(), engine));
    return { status: reasons.length === 0 ? "ok" : "degraded", reasons };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { status: "unready", reasons: [`database: ${reason}`] };
  } finally {
    clearTimeout(timer);
  }
}

/** The parts of a network's health that are known by their age. */
function begunOn(
  engine: Pick<Engine, "treasuries" | "sweeps" | "watched">,
  network: Network,
): readonly Begun[] {
  const unread = engine.watched.get(network)?.unreadable ?? [];
  return [
    [`${network}'s oldest queued transfer`, engine.treasuries.get(network)?.oldestQueuedAt ?? null],
    [`${network}'s oldest top-up`, engine.sweeps.get(network)?.oldestTopUpAt ?? null],
    ...unread.map(({ height, since }): Begun => [`${network}'s unread block ${height}`, since]),
  ];
}

/** Time for which an event may be untried before it is reported. */
const UNTRIED_SECONDS = 30;

/** Reads of the database beside those which decide whether the node can serve. */
export interface Details {
  readonly health: Promise<Health>;
  readonly passedOver: Promise<PassedOver>;
  readonly failover: Promise<readonly string[]>;
}

/**
 * Reads further reasons from the database. A part that is still being read is not begun
 * again: checks come each second, and what waits for a locked table would fill every connection.
 *
 * @param sql whose statements have a bound, and on which nothing else waits
 * @returns begins to read, or answers what is under way
 */
export function detailReads(sql: Sql, engine: Pick<Engine, "history">): () => Details {
  let after = "";
  const health = oneAtATime(async () => {
    const found = await readHealth(sql, UNTRIED_SECONDS, after);
    after = found.continueAfter;
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
async function detailReasons(
  details: Details,
  late: Promise<never>,
  pairs: Iterable<PairSettings>,
  engine: Engine,
): Promise<readonly string[]> {
  const tryReading = async <T>(
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
    tryReading(
      "what waits",
      details.health,
      ({ untriedEvents, quarantinedRows, misdirectedRows }) => [
        ...(untriedEvents > 0 ? ["events wait that were never tried"] : []),
        ...(quarantinedRows > 0 ? ["inbox rows were quarantined"] : []),
        ...(misdirectedRows > 0
          ? [`${misdirectedRows} transfers came in on another network than their address`]
          : []),
      ],
    ),
    tryReading(
      "what was passed over",
      details.passedOver,
      (passedOver) => passedOverReasons(pairs, engine, passedOver),
    ),
    tryReading("what a failover holds", details.failover, (reasons) => reasons),
  ]);
  return reasons.flat();
}
