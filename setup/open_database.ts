import type { Config } from "../config.ts";
import { connect, type Sql } from "../ledger/database/connect.ts";
import { startEmbeddedPostgres } from "../ledger/database/embedded.ts";
import { migrate, type Migration, readMigrations } from "../ledger/database/migrate.ts";

/** The database, migrated, with its pools. */
export interface Database {
  /** Pool for reads and for all actors but merchants. */
  readonly sql: Sql;
  /** Pool of the journal: reads never wait in front of money. */
  readonly journalSql: Sql;
  readonly url: string;
  /** What its schema was brought to. */
  readonly migrations: readonly Migration[];
  /** Closes the pools, and the server where it is embedded. */
  close(): Promise<void>;
}

/** Connections that the journal's batch uses at once: three reads, or one write. */
const JOURNAL_POOL = 4;

/** Connects to the configured PostgreSQL, or starts the embedded one, and migrates it. */
export async function openDatabase(config: Config): Promise<Database> {
  const embedded = config.databaseUrl === null
    ? await startEmbeddedPostgres({ dataDir: config.dataDir })
    : null;
  const url = config.databaseUrl?.reveal() ?? embedded?.url ?? "";
  const sql = connect(url, { max: config.databasePool, applicationName: "engine" });
  const journalSql = connect(url, {
    max: JOURNAL_POOL,
    applicationName: "engine-journal",
    looksUpOnly: true,
  });
  const migrations = await readMigrations();
  await migrate(sql, migrations);
  return {
    sql,
    journalSql,
    url,
    migrations,
    async close() {
      await Promise.all([sql.end({ timeout: 5 }), journalSql.end({ timeout: 5 })]);
      await embedded?.stop();
    },
  };
}
