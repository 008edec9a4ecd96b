import { Counter, Gauge, type Registry } from "prom-client";
import type { Engine } from "../../actors/engine.ts";

/** Milliseconds for which a batch that was given up is said. */
const GIVEN_UP_MS = 10 * 60_000;
/** The same for what held up every audited command: longer than they rest. */
const AUDIT_HELD_MS = 90_000;

/** Registers what the journal counts of its troubles; read when Prometheus asks. */
export function registerJournalMetrics(registry: Registry, engine: Pick<Engine, "figures">): void {
  const counter = (name: string, help: string, read: () => number) =>
    new Counter({
      name,
      help,
      registers: [registry],
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  counter(
    "journal_batches_given_up_total",
    "Batches whose senders were told that they failed, or that nothing certain is known",
    () => engine.figures.journal.givenUp,
  );
  counter(
    "journal_quarantined_total",
    "Messages that were quarantined as they fail even alone",
    () => engine.figures.journal.quarantined,
  );
  new Gauge({
    name: "journal_merchants_suspended",
    help: "Merchants that wait for a row which another transaction holds",
    registers: [registry],
    collect() {
      this.set(engine.figures.journal.suspended);
    },
  });
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
