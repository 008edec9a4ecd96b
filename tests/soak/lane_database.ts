/**
 * One database in which many lives of a lane follow one another. A database of its own for each costs two thirds of a life's
 * processor time: its connections know no table and have no plan yet.
 *
 * @module
 */

import { connect, type Sql } from "../../ledger/database/connect.ts";
import { privateCluster } from "../support/private_cluster.ts";

/** Nothing of a life has to survive the machine: its deaths are those of the treasury's process. */
const SETTINGS = { fsync: "off", full_page_writes: "off", synchronous_commit: "off" };
/** Autovacuum is off, so that it comes when it is asked for: rows that are gone are read over until then. */
const LIVES_BETWEEN_VACUUMS = 20;
/** A treasury asks one thing after the other; transactions have a connection of their own besides. */
const CONNECTIONS = 2;

/** See the module. */
export interface LaneDatabase extends AsyncDisposable {
  readonly sql: Sql;
  /** See {@linkcode emptierOf}. */
  readonly empty: () => Promise<void>;
}

/** Starts a server with a migrated database. */
export async function openLaneDatabase(): Promise<LaneDatabase> {
  await using stack = new AsyncDisposableStack();
  const cluster = stack.use(await privateCluster({ settings: SETTINGS }));
  const sql = connect(cluster.nearestUrl, { max: CONNECTIONS, applicationName: "soak-lanes" });
  stack.defer(() => sql.end({ timeout: 5 }));
  const emptyOfRows = await emptierOf(sql);
  const disposal = stack.move();
  let lives = 0;
  return {
    sql,
    empty: async () => {
      await emptyOfRows();
      if (++lives % LIVES_BETWEEN_VACUUMS === 0) await sql.unsafe("VACUUM");
    },
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  };
}

/**
 * Notes what migrations wrote into a database that is new.
 *
 * @returns takes everything else out, so that the next life begins as in a new one; throws where a life has changed
 * what migrations wrote
 */
export async function emptierOf(sql: Sql): Promise<() => Promise<void>> {
  const made: string[] = [];
  for (const table of await filledTables(sql)) {
    if ((await sql.unsafe(`SELECT FROM ${table} LIMIT 1`)).length > 0) made.push(table);
  }
  const begun = await digestOf(sql, made);
  return async () => {
    const filled = (await filledTables(sql)).filter((table) => !made.includes(table));
    await sql.begin(async (tx) => {
      // rows that the service never deletes are protected by triggers
      await tx`SET LOCAL session_replication_role = replica`;
      for (const table of filled) await tx.unsafe(`DELETE FROM ${table}`);
    });
    if (await digestOf(sql, made) !== begun) {
      throw new Error("Cannot go on as a life has changed what migrations wrote");
    }
  };
}

/** Tables of the service that have rows, or had some that still take their place. */
async function filledTables(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ name: string }[]>`
    SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND n.nspname IN ('book', 'hub') AND pg_relation_size(c.oid) > 0 ORDER BY c.oid`;
  return rows.map(({ name }) => name);
}

/** Everything that tables hold, as one hash. */
async function digestOf(sql: Sql, tables: readonly string[]): Promise<string> {
  const parts = tables.map((table) =>
    `(SELECT jsonb_agg(to_jsonb(t) ORDER BY to_jsonb(t)) FROM ${table} t)`
  );
  const [row] = await sql.unsafe<{ digest: string }[]>(
    `SELECT md5(concat_ws(' ', ${parts.join()})) AS digest`,
  );
  if (row === undefined) throw new Error("Cannot compare what migrations wrote");
  return row.digest;
}
