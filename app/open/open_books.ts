import type { Config } from "../config/config.ts";
import { connect, type Sql } from "../../ledger/database/connect.ts";
import { startEmbeddedPostgres } from "../postgres/embedded.ts";

/** The database of a command that works beside the service. */
export interface Books {
  readonly sql: Sql;
  /** Closes the pool; an embedded server goes on running where the service uses it. */
  close(): Promise<void>;
}

/** Connections of a command. */
const POOL = 4;
/** Bound of one statement: a command may read everything there is. */
const STATEMENT_MS = 30 * 60_000;

/** Connects a command to the database of the service, wherever that is. */
export async function openBooks(config: Config): Promise<Books> {
  const embedded = config.databaseUrl === null
    ? await startEmbeddedPostgres({ dataDir: config.dataDir, supervise: false })
    : null;
  const sql = connect(config.databaseUrl?.reveal() ?? embedded?.url ?? "", {
    max: POOL,
    applicationName: "engine-command",
    statementTimeoutMs: STATEMENT_MS,
  });
  return {
    sql,
    async close() {
      await sql.end({ timeout: 5 });
      await embedded?.stop();
    },
  };
}
