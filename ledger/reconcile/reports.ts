import type { AnySql, Sql } from "../database/connect.ts";

/** Makes a job known, due at a time; one that is known keeps its own. */
export async function ensureJob(sql: Sql, name: string, dueAt: number): Promise<void> {
  await sql`
    INSERT INTO hub.job (name, due_at) VALUES (${name}, ${new Date(dueAt)}) ON CONFLICT DO NOTHING`;
}

/**
 * Takes a job that is due, for this service alone, and says when it is due again. A service that
 * dies over it leaves it to whoever is there the next time.
 *
 * @param now Unix milliseconds by the database's clock
 * @param longestMs the longest that lies between two times at which it is due: one that is due later
 *   was put off while a clock was wrong, and is due
 * @returns whether it was due, and nobody else had taken it
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

/** Scope of a comparison: a bounded part, or everything. */
export type ReconcileScope = "quick" | "full";

/** A comparison as it is kept. */
export interface KeptReport<Body> {
  readonly id: string;
  readonly scope: ReconcileScope;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly differences: number;
  /** Rules that could not be compared. */
  readonly unchecked: number;
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

/** Keeps a report; the oldest ones go. */
export async function keepReport<Body>(sql: Sql, report: KeptReport<Body>): Promise<void> {
  const { id, scope, differences, unchecked } = report;
  await sql`
    INSERT INTO hub.reconciliation (id, scope, started_at, finished_at, differences, unchecked, report)
    VALUES (${id}, ${scope}, ${new Date(report.startedAt)}, ${new Date(report.finishedAt)},
      ${differences}, ${unchecked}, ${JSON.stringify(report.body)}::text::jsonb)`;
  await sql`
    DELETE FROM hub.reconciliation WHERE id IN (
      SELECT id FROM hub.reconciliation WHERE scope = ${scope} ${newestFirst(sql)} OFFSET ${KEPT})`;
}

/** The newest report of each scope, whoever made it; none from the future. */
export async function newestReports<Body>(sql: AnySql): Promise<readonly KeptReport<Body>[]> {
  const rows = await sql<
    {
      id: string;
      scope: ReconcileScope;
      started_at: Date;
      finished_at: Date;
      differences: number;
      unchecked: number;
      report: Body;
    }[]
  >`
    SELECT r.* FROM (VALUES ('quick'), ('full')) s(scope)
    CROSS JOIN LATERAL (
      SELECT * FROM hub.reconciliation r
      WHERE r.scope = s.scope AND r.finished_at <= now() + interval '1 minute'
      ${newestFirst(sql)} LIMIT 1) r`;
  return rows.map((row) => ({
    id: row.id,
    scope: row.scope,
    startedAt: row.started_at.getTime(),
    finishedAt: row.finished_at.getTime(),
    differences: row.differences,
    unchecked: row.unchecked,
    body: row.report,
  }));
}
