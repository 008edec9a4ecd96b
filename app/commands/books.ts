import { loadConfig } from "../config/config.ts";
import type { Config } from "../config/config.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { assertMigrated } from "../../ledger/database/migrate.ts";
import { openBooks } from "../open/open_database.ts";
import { type Env, Refused } from "./command.ts";

/** The settings of the service. @throws {Refused} with every fault of the environment */
export function configFor(verb: string, env: Env, code: 1 | 2 = 2): Config {
  const loaded = loadConfig(env);
  if (loaded.ok) return loaded.config;
  const faults = loaded.faults.join("\n  ");
  throw new Refused(`Cannot ${verb} as the environment is wrong:\n  ${faults}`, code);
}

/** Works on the migrated database of the service, which may run meanwhile. */
export async function withBooks<T>(config: Config, work: (sql: Sql) => Promise<T>): Promise<T> {
  const books = await openBooks(config);
  try {
    await assertMigrated(books.sql);
    return await work(books.sql);
  } finally {
    await books.close();
  }
}
