import type { Engine } from "../../actors/engine.ts";
import type { Reconciler } from "../../actors/reconcile/reconciler.ts";
import type { FeeBoard } from "../../actors/treasury/fee_board.ts";
import type { Readiness } from "../../api/http/context.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import type { DatabaseClock } from "../../ledger/database/database_clock.ts";
import { assertMigrated, type Migration } from "../../ledger/database/migrate.ts";
import { readSettings } from "../../ledger/journal/read_settings.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { type CallbackParts, callbackReasons } from "./callback_reasons.ts";
import { type Begun, clockReasons, futureReasons } from "./clock_reasons.ts";
import { chainReasons } from "./chain_reasons.ts";
import { poolReasons } from "./pool_health.ts";
import { journalReasons } from "./journal_health.ts";
import { depositProofReasons } from "./deposit_proof_health.ts";
import { detailReads, detailReasons, type Details } from "./readiness_details.ts";
import { reconcileReasons } from "../metrics/reconcile_metrics.ts";
import { sweepReasons } from "./sweep_health.ts";
import { feeReasons, treasuryReasons } from "./treasury_reasons.ts";
import { workReasons } from "./work_reasons.ts";

/** How long one batch may take before the journal counts as stopped: nothing is decided meanwhile. */
const JOURNAL_MS = 15_000;
/** Bound of the whole check: who asks gives up soon after. */
const BOUND_MS = 2_000;

/** What a node's readiness is made of. */
export interface ReadinessParts {
  /** Finds out whether this node is ready; nothing else uses its connection in the service. */
  readonly sql: Sql;
  /** Begins to read what is told besides; absent: `sql` does, anew for each check. */
  readonly details?: () => Details;
  /** Every pool, by its name; absent: they are not watched. */
  readonly pools?: ReadonlyMap<string, Sql>;
  /** The migrations that this process started with; the files on disk may be newer by now. */
  readonly migrations: readonly Migration[];
  readonly engine: Engine;
  /** Unix milliseconds by the database's clock. */
  readonly now: number;
  /** How this machine's clock stands to the database's; without it nobody compares them. */
  readonly clock?: Pick<DatabaseClock, "figures">;
  /** What delivers callbacks; without it nothing is said of them but what the database tells. */
  readonly callbacks?: CallbackParts;
  /** Why nothing is signed now; `null` while all is well. */
  readonly signerTrouble: string | null;
  /** What dynamic network fees are; `null`: nobody is charged one. */
  readonly fees: Pick<FeeBoard, "basis"> | null;
  /** What compares the books; `null`: nobody does. */
  readonly reconciler: Pick<Reconciler, "newest" | "patienceMs" | "lookingMs"> | null;
  /** What is not as it should be with what all requests share. */
  readonly others?: () => readonly string[];
  /** Why the first requests would fail; empty once all is there that they need. */
  readonly starting?: () => Promise<readonly string[]>;
  /** Bound of the whole check, milliseconds; default 2 s. */
  readonly boundMs?: number;
}

/**
 * True if this node can serve, and what is not as it should be. Only what decides whether it can
 * serve makes it unready: what is told besides is a reason, and so is that it could not be read.
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

/** What of a network is told by its age. */
function begunOn(
  engine: Pick<Engine, "treasuries" | "sweeps" | "watched">,
  network: Network,
): readonly Begun[] {
  const unread = engine.watched.get(network)?.unread ?? [];
  return [
    [`${network}'s oldest queued transfer`, engine.treasuries.get(network)?.oldestQueuedAt ?? null],
    [`${network}'s oldest top-up`, engine.sweeps.get(network)?.oldestTopUpAt ?? null],
    ...unread.map(({ height, since }): Begun => [`${network}'s unread block ${height}`, since]),
  ];
}
