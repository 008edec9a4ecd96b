import type { Registry } from "prom-client";
import type { Engine } from "../../actors/engine.ts";
import type { Webhooks } from "../../actors/webhook/webhooks.ts";
import { registerCounters, registerGauges, registerSingleGauges } from "./figures.ts";

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
  engine: Pick<Engine, "figures" | "busyFor" | "periodic" | "timeFigures">,
  webhooks: Pick<Webhooks, "figures">,
): void {
  registerSingleGauges(registry, {
    journal_batches: ["Batches committed", () => engine.figures.journal.batches],
    journal_messages: ["Messages answered", () => engine.figures.journal.messages],
    journal_waiting: ["Messages in mailboxes", () => engine.figures.journal.waiting],
    journal_active: ["Merchants in memory", () => engine.figures.journal.active],
    actors_quarantined: ["Messages quarantined by a bug", () => {
      const { payments, sweepers, treasuries, watchers } = engine.figures;
      return payments.quarantined + sweepers.quarantined + treasuries.quarantined +
        watchers.quarantined;
    }],
    webhook_in_flight: ["Deliveries under way", () => webhooks.figures.inFlight],
    webhook_unmarked: ["Deliveries not written down yet", () => webhooks.figures.unmarked],
    webhook_lost_marks: ["Deliveries the database refused", () => webhooks.figures.lostMarks],
    journal_merchants_suspended: [
      "Merchants that wait for a row which another transaction holds",
      () => engine.figures.journal.suspended,
    ],
    actor_busy_seconds: [
      "How long the message at hand has taken the actor that it has taken longest",
      () => Math.max(0, ...engine.busyFor(0).map(({ ms }) => ms)) / 1_000,
    ],
    timers_broken: ["Timers that cannot be delivered", () => engine.timeFigures.brokenTimers],
    kept_times_bounded: [
      "Kept times that a wrong clock had put off, and that were taken back",
      () => engine.timeFigures.boundedTimes,
    ],
  });
  registerCounters(registry, {
    journal_batches_given_up_total: [
      "Batches whose senders were answered that they failed, or that nothing certain is known",
      () => engine.figures.journal.givenUp,
    ],
    journal_quarantined_total: [
      "Messages that were quarantined as they fail even alone",
      () => engine.figures.journal.quarantined,
    ],
  });
  registerGauges(
    registry,
    ["task"],
    () => engine.periodic.map(({ name, ageMs }) => [name, ageMs] as const),
    {
      periodic_age_seconds: [
        "Since periodic work was last completed",
        (ageMs) => ageMs / 1_000,
      ],
    },
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
