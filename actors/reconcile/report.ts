import { logEvent } from "../../log/log_event.ts";
import type { Network } from "../../ledger/money/pair.ts";
import type { Difference } from "../../ledger/reconcile/difference.ts";
import type { StoredReport } from "../../ledger/reconcile/reports.ts";

/** Result of a comparison. */
export interface Compared {
  readonly differences: readonly Difference[];
  /** Reason for which it, or a part of it, could not be compared; null: all of it was. */
  readonly unchecked: string | null;
}

/** One rule of a report. */
export interface ReportedRule extends Compared {
  readonly rule: string;
}

/** Holdings and debts of a network's wallets, in words of the interface: decimal text. */
export interface ReportedHolding {
  readonly currency: string;
  readonly hotWallet: string;
  readonly addresses: string;
  readonly cold: string;
  readonly inFlight: string;
  readonly owed: string;
  /** Remainder when all merchants are paid. */
  readonly house: string;
}

/** A part of a report: the books, or one network. */
export interface ReportedPart {
  /** null: the books themselves. */
  readonly network: Network | null;
  readonly rules: readonly ReportedRule[];
  readonly holdings: readonly ReportedHolding[];
}

/** Report of a comparison. */
export interface ReportBody {
  readonly parts: readonly ReportedPart[];
}

/** A comparison. */
export type Report = StoredReport<ReportBody>;

/** Logs a report. Every difference is an alarm of its own: it names a record that is to be looked at. */
export function logReport(report: Report): void {
  const { scope, differences, unchecked, startedAt, finishedAt } = report;
  for (const { network, rules } of report.body.parts) {
    const where = network ?? "books";
    for (const { rule, differences, unchecked } of rules) {
      for (const { subject, detail } of differences) {
        logEvent("reconcile.difference", { where, rule, subject, detail });
      }
      if (unchecked !== null) {
        logEvent("reconcile.unchecked", { where, rule, unchecked });
      }
    }
  }
  logEvent("reconcile.compared", { scope, ms: finishedAt - startedAt, differences, unchecked });
}
