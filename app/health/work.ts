import type { Registry } from "prom-client";
import type { Engine } from "../../actors/engine.ts";
import { registerFigures, registerSingle } from "./figures.ts";

/** Milliseconds for which a batch that was given up is reported. */
const GIVEN_UP_MS = 10 * 60_000;
/** The same for what held up every audited command: longer than their cool-down. */
const AUDIT_HELD_MS = 90_000;
/** Time that one message may take an actor before it is reported; reading 500 blocks takes a minute. */
const BUSY_MS = 180_000;
/** Intervals that periodic work may miss, and the least time before that is reported. */
const MISSED = 3;
const LEAST_MS = 60_000;

/** Registers what the actors and the journal count. */
export function registerWorkMetrics(
  registry: Registry,
  engine:
    & Pick<Engine, "figures" | "busyFor" | "periodic" | "timeFigures" | "networks" | "currencies">
    & {
      readonly merchants: Pick<Engine["merchants"], "busyMs"> & {
        readonly refusedShort: Pick<Engine["merchants"]["refusedShort"], "all">;
      };
    }
    & { readonly paymentMoves: Pick<Engine["paymentMoves"], "all"> },
): void {
  registerFigures(
    registry,
    () => [
      // from the start, or the first failure would be no increase
      ...engine.networks.flatMap((network) =>
        engine.currencies(network).flatMap((currency) =>
          ["deposit", "withdrawal", "settlement"].map((kind) =>
            [[kind, network, currency, "failed"], 0] as const
          )
        )
      ),
      ...engine.paymentMoves.all.map((one) =>
        [[one.kind, one.network, one.currency, one.status.toLowerCase()], one.count] as const
      ),
    ],
    { engine_payments_total: (count) => count },
  );
  registerFigures(
    registry,
    () => [
      ...engine.networks.flatMap((network) =>
        engine.currencies(network).map((currency) => [[network, currency], 0] as const)
      ),
      ...engine.merchants.refusedShort.all.map(({ network, currency, count }) =>
        [[network, currency], count] as const
      ),
    ],
    { engine_payouts_refused_short_total: (count) => count },
  );
  registerSingle(registry, {
    engine_journal_batches_total: () => engine.figures.journal.batches,
    engine_journal_messages_total: () => engine.figures.journal.messages,
    engine_journal_waiting_messages: () => engine.figures.journal.waiting,
    engine_journal_batch_age_seconds: () => engine.merchants.busyMs / 1_000,
    engine_journal_active_merchants: () => engine.figures.journal.active,
    engine_journal_suspended_merchants: () => engine.figures.journal.suspended,
    engine_journal_batches_given_up_total: () => engine.figures.journal.givenUp,
    engine_journal_quarantined_messages_total: () => engine.figures.journal.quarantined,
    engine_actor_busy_seconds: () => Math.max(0, ...engine.busyFor(0).map(({ ms }) => ms)) / 1_000,
    engine_timers_broken: () => engine.timeFigures.brokenTimers,
    engine_kept_times_bounded_total: () => engine.timeFigures.boundedTimes,
  });
  const byActor = () => {
    const { payments, sweepers, treasuries, watchers, headViews } = engine.figures;
    return Object.entries({ payments, sweepers, treasuries, watchers, headViews });
  };
  registerFigures(registry, byActor, {
    engine_actor_quarantined_messages_total: ({ quarantined }) => quarantined,
  });
  registerFigures(
    registry,
    () => engine.periodic.map(({ name, ageMs }) => [name, ageMs] as const),
    { engine_periodic_age_seconds: (ageMs) => ageMs / 1_000 },
  );
}

/** Troubles with the journal that an operator should know of, as sentences for `/readyz`. */
export function journalReasons(
  journal: {
    readonly figures: { readonly suspended: number };
    readonly givenUpMs: number | null;
    readonly auditLockedMs: number;
  },
): readonly string[] {
  const reasons: string[] = [];
  if (journal.givenUpMs !== null && journal.givenUpMs < GIVEN_UP_MS) {
    reasons.push("a batch of the journal was given up in the last 10 minutes");
  }
  if (journal.auditLockedMs < AUDIT_HELD_MS) {
    reasons.push(
      "commands that are audited are refused, as another transaction holds the head of the audit or the duties",
    );
  }
  const { suspended } = journal.figures;
  if (suspended > 0) {
    const whose = suspended === 1 ? "1 merchant waits" : `${suspended} merchants wait`;
    reasons.push(`${whose} for a row that another transaction holds`);
  }
  return reasons;
}

/** Finds the parts of a node's own work that do not go on. */
export function workReasons(
  engine: Pick<Engine, "busyFor" | "periodic" | "timeFigures">,
): string[] {
  const reasons = engine.busyFor(BUSY_MS).map(({ actor, ms }) =>
    `${actor} has been busy for ${Math.floor(ms / 1_000)} s`
  );
  for (const { name, everyMs, ageMs } of engine.periodic) {
    if (ageMs <= Math.max(MISSED * everyMs, LEAST_MS)) continue;
    reasons.push(`to ${name} was last completed ${Math.floor(ageMs / 1_000)} s ago`);
  }
  const { brokenTimers } = engine.timeFigures;
  if (brokenTimers > 0) reasons.push(`${brokenTimers} timers cannot be delivered`);
  return reasons;
}
