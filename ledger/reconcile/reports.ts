import type { AnySql, Sql } from "../database/connect.ts";
import { shape } from "../shape.ts";
import { integer, json, type RowOf, text, time } from "../table.ts";
import type { ReconcileScope } from "./difference.ts";

/** Makes a job known, due at a time; one that is known keeps its own. */
export async function ensureJob(sql: Sql, name: string, dueAt: number): Promise<void> {
  await sql`
    INSERT INTO hub.job (name, due_at) VALUES (${name}, ${new Date(dueAt)}) ON CONFLICT DO NOTHING`;
}

/**
 * Takes a job that is due, for this service alone, and sets when it is due again. A service that
 * dies over it leaves it to the one that takes it the next time.
 *
 * @param now Unix milliseconds by the database's clock
 * @param longestMs the longest that lies between two times at which it is due: one that is due later
 *   was put off while a clock was wrong, and is due
 * @returns true if it was due, and no other service had taken it
 */
export async function takeJob(
  sql: Sql,
  name: string,
  now: number,
  dueAgain: number,
  longestMs: number,
): Promise<boolean> {
  const rows = await sql`
    UPDATE hub.job SET due_at = ${new Date(dueAgain)}
    WHERE name = ${name} AND (due_at <= ${new Date(now)} OR due_at > ${new Date(now + longestMs)})
    RETURNING 1`;
  return rows.length > 0;
}

const storedReport = shape({
  id: text(),
  scope: text<ReconcileScope>(),
  /** Unix milliseconds. */
  startedAt: time(),
  finishedAt: time(),
  differences: integer(),
  /** Rules that could not be compared. */
  unchecked: integer(),
  report: json<unknown>(),
});
/** A comparison as it is stored. */
export interface StoredReport<Body> extends Omit<RowOf<typeof storedReport>, "report"> {
  readonly body: Body;
}

/** Reports of each scope that are kept. */
const KEPT = 100;

/**
 * The newest first. One that was finished in the future was made while a clock was wrong: it comes
 * last, or no later one would ever be seen.
 */
const newestFirst = (sql: AnySql) =>
  sql`ORDER BY (finished_at <= now() + interval '1 minute') DESC, finished_at DESC, id DESC`;

/** Stores a report; the oldest ones go. */
export async function storeReport<Body>(sql: Sql, report: StoredReport<Body>): Promise<void> {
  const { id, scope, differences, unchecked } = report;
  await sql`
    INSERT INTO hub.reconciliation (id, scope, started_at, finished_at, differences, unchecked, report)
    VALUES (${id}, ${scope}, ${new Date(report.startedAt)}, ${new Date(report.finishedAt)},
      ${differences}, ${unchecked}, ${JSON.stringify(report.body)}::text::jsonb)`;
  await sql`
    DELETE FROM hub.reconciliation WHERE id IN (
      SELECT id FROM hub.reconciliation WHERE scope = ${scope} ${newestFirst(sql)} OFFSET ${KEPT})`;
}

/** The newest report of each scope, by any service; none from the future. */
export async function newestReports<Body>(sql: AnySql): Promise<readonly StoredReport<Body>[]> {
  const rows = storedReport.all(
    await sql`
    SELECT r.* FROM (VALUES ('quick'), ('full')) s(scope)
    CROSS JOIN LATERAL (
      SELECT * FROM hub.reconciliation r
      WHERE r.scope = s.scope AND r.finished_at <= now() + interval '1 minute'
      ${newestFirst(sql)} LIMIT 1) r`,
  );
  return rows.map(({ report, ...row }) => ({ ...row, body: report as Body }));
}
