import { booksFaults } from "../support/books.ts";
import type { Service } from "../support/service.ts";
import type { Heard } from "./abuse_traffic.ts";

/** One phase and what ordinary merchants heard in it. */
export interface Phase {
  readonly name: string;
  readonly isAbuse: boolean;
  readonly heard: Heard;
  /** Load of the machine at its end. */
  readonly load: string;
}

/** Under abuse the slowest hundredth may take so many times what it takes undisturbed. */
const TIMES = 3;
/** Differences below it are the machine's: a turn of the scheduler, a garbage collection. */
const FLOOR_MS = 100;

/** Faults after a run, as sentences. */
export async function auditAbuse(service: Service, phases: readonly Phase[]): Promise<string[]> {
  const faults: string[] = [];
  for (const { name, heard } of phases) {
    for (const [status, count] of heard.statuses) {
      if (/^[23]\d\d$/.test(status)) continue;
      faults.push(`${name}: ${count} answers were ${status}`);
    }
  }
  const undisturbed = Math.max(...phases.filter(({ isAbuse }) => !isAbuse).map(p99));
  const most = Math.max(undisturbed * TIMES, FLOOR_MS);
  for (const phase of phases.filter(({ isAbuse }) => isAbuse)) {
    // one held row may cost the others a bounded time, whatever else the machine does
    const bound = phase.name === "held row" ? Math.max(FLOOR_MS, undisturbed) : most;
    if (p99(phase) <= bound) continue;
    faults.push(
      `${phase.name}: p99 was ${Math.round(p99(phase))} ms, at most ${
        Math.round(bound)
      } ms were allowed (undisturbed ${Math.round(undisturbed)} ms)`,
    );
  }
  faults.push(...await missingWithdrawals(service, phases));
  faults.push(...await booksFaults(service.sql));
  const health = await fetch(`${service.credentials.baseUrl}/healthz`);
  if ((await health.text(), health.status) !== 200) faults.push("the service does not answer");
  return faults;
}

/** Withdrawals that were acknowledged and are not in the books exactly once. */
async function missingWithdrawals(
  { sql }: Service,
  phases: readonly Phase[],
): Promise<readonly string[]> {
  const paid = phases.flatMap(({ heard }) => heard.paid);
  const rows = await sql<{ reference_id: string; merchant_id: string }[]>`
    SELECT merchant_id, reference_id FROM book.withdrawal
    WHERE reference_id = ANY(${paid.map(({ referenceId }) => referenceId)})`;
  const counts = new Map<string, number>();
  for (const row of rows) {
    const key = `${row.merchant_id}/${row.reference_id}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return paid.flatMap(({ merchantId, referenceId }) => {
    const count = counts.get(`${merchantId}/${referenceId}`) ?? 0;
    return count === 1 ? [] : [`withdrawal ${referenceId} is in the books ${count} times`];
  });
}

function p99({ heard }: Phase): number {
  const sorted = heard.latencies.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * 0.99)] ?? Infinity;
}
