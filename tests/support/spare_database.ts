/**
 * Databases that tests have left as they were made, for the tests that follow: to copy the template
 * again costs several times what it takes to delete a few rows.
 *
 * @module
 */

import { connect, type Sql } from "../../ledger/database/connect.ts";

/** Tables of the service. */
const OWN = `n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'`;

/**
 * Everything of a database but its rows: whatever a test may define, grant, set or analyze. Counts and
 * newest writers stand for catalogs that only a definition writes to; `pg_class` is written to by
 * TRUNCATE as well, so that its columns are named.
 */
const DEFINITIONS = `
  SELECT md5(concat_ws(' ',
    (SELECT string_agg(concat_ws(':', oid, relname, relnamespace, relowner, relkind, relnatts,
      relchecks, relhasrules, relhastriggers, relrowsecurity, relpersistence, relacl, reloptions,
      CASE WHEN relkind = 'r' THEN reltuples END), ' ' ORDER BY oid)
      FROM pg_class c WHERE relnamespace IN (SELECT oid FROM pg_namespace n WHERE ${OWN})),
    ${
  [
    "pg_attribute",
    "pg_attrdef",
    "pg_proc",
    "pg_trigger",
    "pg_constraint",
    "pg_index",
    "pg_namespace",
    "pg_type",
    "pg_policy",
    "pg_rewrite",
    "pg_extension",
    "pg_event_trigger",
    "pg_publication",
    "pg_statistic",
    "pg_statistic_ext",
    "pg_default_acl",
    "pg_description",
    "pg_inherits",
  ].map((name) => `(SELECT concat(count(*), ':', max(xmin::text::bigint)) FROM ${name})`)
    .join(",\n    ")
},
    (SELECT string_agg(setconfig::text, ' ') FROM pg_db_role_setting s
      JOIN pg_database d ON d.oid = s.setdatabase WHERE d.datname = current_database())
  )) AS definitions`;

/** State of a database after it was made. */
interface Made {
  readonly definitions: string;
  /** Rows that the migrations wrote, by table: JSON text, as numbers are only exact in that. */
  readonly rows: Readonly<Record<string, string>>;
}

/** Larger tables are truncated, as deleted rows are still there to be read over and planned for. */
const LARGEST_BYTES = 65_536;

/** Name of a spare database, before what tells it from others. */
function prefixOf(template: string): string {
  return `spare_${template}_`;
}

/** Writes down, in the server's own database, how a template was made. @param sql on the template */
export async function noteTemplate(admin: Sql, template: string, sql: Sql): Promise<void> {
  const [row] = await sql.unsafe(DEFINITIONS);
  const rows: Record<string, string> = {};
  for (const table of await filledTables(sql)) {
    const [found] = await sql.unsafe(`SELECT jsonb_agg(to_jsonb(t))::text AS rows FROM ${table} t`);
    rows[table] = String(found?.["rows"]);
  }
  await admin`CREATE TABLE IF NOT EXISTS made (template text PRIMARY KEY, how jsonb NOT NULL)`;
  await admin`
    INSERT INTO made (template, how)
    VALUES (${template}, ${
    JSON.stringify({ definitions: row?.["definitions"], rows })
  }::text::jsonb)
    ON CONFLICT (template) DO UPDATE SET how = excluded.how`;
}

/** Takes a spare database. @returns whether there was one, which has the name now */
export async function takeSpare(admin: Sql, template: string, name: string): Promise<boolean> {
  for (;;) {
    const [spare] = await admin<{ datname: string }[]>`
      SELECT datname FROM pg_database WHERE starts_with(datname, ${prefixOf(template)})
      ORDER BY random() LIMIT 1`;
    if (spare === undefined) return false;
    try {
      await admin`ALTER DATABASE ${admin(spare.datname)} RENAME TO ${admin(name)}`;
      return true;
    } catch (error) {
      if (!isTaken(error)) throw error;
    }
  }
}

/**
 * Makes a database as it was and leaves it to others; one that cannot be is dropped.
 *
 * @param url of the database, to which nothing of its test is connected any more
 */
export async function leaveSpare(
  admin: Sql,
  template: string,
  name: string,
  url: string,
): Promise<void> {
  const isRestored = await endConnections(admin, name) && await restore(admin, template, url);
  if (isRestored && await endConnections(admin, name)) {
    const spare = prefixOf(template) + crypto.randomUUID().slice(0, 8);
    try {
      await admin`ALTER DATABASE ${admin(name)} RENAME TO ${admin(spare)}`;
      return;
    } catch (error) {
      if (!isTaken(error)) throw error;
    }
  }
  await admin`DROP DATABASE ${admin(name)} WITH (FORCE)`;
}

/** True when another test was faster (unknown by now, or just changed), or something is connected. */
function isTaken(error: unknown): boolean {
  return error instanceof Error && "code" in error &&
    ["3D000", "XX000", "55006"].includes(String(error.code));
}

/** Ends what a test has left connected. @returns whether nothing is any more */
async function endConnections(admin: Sql, name: string): Promise<boolean> {
  for (let look = 0; look < 200; look++) {
    const rows = await admin`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${name}`;
    if (rows.length === 0) return true;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return false;
}

/** @returns whether the database is as it was made */
async function restore(admin: Sql, template: string, url: string): Promise<boolean> {
  const [note] = await admin<{ how: Made }[]>`SELECT how FROM made WHERE template = ${template}`;
  if (note === undefined) return false;
  const { definitions, rows } = note.how;
  const sql = connect(url, {
    max: 1,
    applicationName: "test-restore",
    connectTimeoutMs: 60_000,
  });
  try {
    return await sql.begin(async (tx) => {
      // rows that the service never deletes are protected by triggers
      await tx`SET LOCAL session_replication_role = replica`;
      const [now] = await tx.unsafe(DEFINITIONS);
      if (now?.["definitions"] !== definitions) return false;
      const large = await filledTables(tx, LARGEST_BYTES);
      if (large.length > 0) await tx.unsafe(`TRUNCATE ${large.join()} CASCADE`);
      for (const table of await filledTables(tx)) await tx.unsafe(`DELETE FROM ${table}`);
      for (const [table, made] of Object.entries(rows)) {
        await tx.unsafe(
          `INSERT INTO ${table} OVERRIDING SYSTEM VALUE
            SELECT * FROM jsonb_populate_recordset(NULL::${table}, $1::text::jsonb)`,
          [made],
        );
      }
      await tx`UPDATE hub.database_history SET database_oid = (SELECT h.database_oid FROM hub.server_history() h)`;
      return true;
    });
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** Tables of the service that have rows, or had some. @param bytes that each takes more than */
async function filledTables(sql: Pick<Sql, "unsafe">, bytes = 0): Promise<readonly string[]> {
  const rows = await sql.unsafe(`
    SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND ${OWN} AND pg_relation_size(c.oid) > ${bytes} ORDER BY c.oid`);
  return rows.map(({ name }) => String(name));
}
