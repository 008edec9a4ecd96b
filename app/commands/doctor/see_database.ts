import { connect, type Sql } from "../../../ledger/database/connect.ts";
import { readDatabaseTime } from "../../../ledger/database/database_clock.ts";
import { assertMigrated } from "../../../ledger/database/migrate.ts";
import {
  readAdministratorKeys,
  readKeptWallets,
  readServer,
  readSignerRoles,
} from "../../../ledger/database/read_installation.ts";
import { SERVED_NETWORKS } from "../../../chains/families.ts";
import type { Network } from "../../../ledger/money/pair.ts";
import { listOtherSecrets, sampleSecret } from "../../../ledger/outbox/kept_secrets.ts";
import { readEnvironment } from "../../../ledger/installation.ts";
import { newestReports } from "../../../ledger/reconcile/reports.ts";
import { storeGenesis } from "../../../ledger/watcher/chain_nodes.ts";
import { createSecretBox } from "../../../webhooks/secret_box.ts";
import type { Config } from "../../config/config.ts";
import { readStored } from "../../open/data_folder.ts";
import { ROLE } from "../../postgres/cluster.ts";
import { type DatabaseFacts, look, type Seen, unseen } from "./facts.ts";

/** Bound of each question, milliseconds. */
const BOUND_MS = 6_000;
/** Bound of all questions, milliseconds. */
const WHOLE_MS = 30_000;
const STATEMENT_MS = 5_000;
/** Keys that are looked at: who has more than one needs only two persons behind them. */
const MOST_KEYS = 1_000;

/** Asks the database. Nothing is started, migrated or written. */
export async function seeDatabase(config: Config): Promise<DatabaseFacts> {
  const url = await look(BOUND_MS, () => databaseUrlOf(config));
  if (!url.ok) return nothingSeen(url.reason);
  const { value } = url;
  if (value === null) {
    return nothingSeen("DATABASE_URL is not set, and no embedded server runs in the data folder");
  }
  const seen = await look(WHOLE_MS, () =>
    withPool(value, false, async (sql) => {
      const server = await look(BOUND_MS, () => readServer(sql));
      return server.ok ? await ask(sql, config, server, value) : nothingSeen(server.reason);
    }));
  return seen.ok ? seen.value : nothingSeen(seen.reason);
}

/** @throws {Error} where no pool can be made of the URL */
async function withPool<T>(
  url: string,
  durable: boolean,
  use: (sql: Sql) => Promise<T>,
): Promise<T> {
  const sql = connect(url, {
    max: 2,
    applicationName: "engine-doctor",
    statementTimeoutMs: STATEMENT_MS,
    durable,
  });
  try {
    return await use(sql);
  } finally {
    await look(BOUND_MS, () => sql.end({ timeout: 1 }));
  }
}

async function ask(
  sql: Sql,
  config: Config,
  server: DatabaseFacts["server"],
  url: string,
): Promise<DatabaseFacts> {
  // a pool of its own: what an unsafe server says besides is of use nevertheless
  const durable = await look(BOUND_MS, () =>
    withPool(url, true, async (strict) => {
      await readServer(strict);
      return null;
    }));
  const environment = await look(BOUND_MS, () => readEnvironment(sql));
  const schema = await look(BOUND_MS, async () => {
    await assertMigrated(sql);
    return null;
  });
  const aheadMs = await look(BOUND_MS, () => clockAhead(sql));
  if (!schema.ok) {
    return {
      ...nothingSeen("", "the schema is not of this version"),
      server,
      durable,
      environment,
      schema,
      aheadMs,
    };
  }
  const [callbackKey, wallets, signerRoles, genesis, administrators, comparisons] = await Promise
    .all([
      look(BOUND_MS, () => tryCallbackKey(sql, config)),
      look(BOUND_MS, () => readKeptWallets(sql)),
      look(BOUND_MS, () => readSignerRoles(sql)),
      look(BOUND_MS, () => readGenesis(sql)),
      look(BOUND_MS, () => readAdministratorKeys(sql, MOST_KEYS)),
      look(BOUND_MS, () => newestReports(sql)),
    ]);
  return {
    server,
    durable,
    environment,
    schema,
    aheadMs,
    callbackKey,
    wallets,
    signerRoles,
    genesis,
    administrators,
    comparisons,
  };
}

/**
 * @param reason why the server does not answer
 * @param rest why nothing else was asked
 */
function nothingSeen(reason: string, rest = "the database is not reached"): DatabaseFacts {
  const nothing: Seen<never> = unseen(rest);
  return {
    server: unseen(reason),
    durable: nothing,
    environment: nothing,
    schema: nothing,
    aheadMs: nothing,
    callbackKey: nothing,
    wallets: nothing,
    signerRoles: nothing,
    genesis: nothing,
    administrators: nothing,
    comparisons: nothing,
  };
}

/** The configured database, or the embedded one where its server has run; null: there is none. */
async function databaseUrlOf({ databaseUrl, dataDir }: Config): Promise<string | null> {
  if (databaseUrl !== null) return databaseUrl.reveal();
  const password = await readStored(`${dataDir}/postgres-password`);
  const port = await readStored(`${dataDir}/postgres-port`);
  if (password === null || port === null) return null;
  return `postgres://${ROLE}:${password.trim()}@127.0.0.1:${port.trim()}/${ROLE}`;
}

/** Compares with the middle of the question: the answer takes time both ways. */
async function clockAhead(sql: Sql): Promise<number> {
  const before = Date.now();
  const at = await readDatabaseTime(sql);
  return (before + Date.now()) / 2 - at;
}

/**
 * Tries the key on one secret of each key that encrypted some.
 *
 * @returns how many
 * @throws {Error} where no configured key opens a callback secret that is kept
 */
async function tryCallbackKey(sql: Sql, { callbackSecrets, dataDir }: Config): Promise<number> {
  const { current, earlier } = callbackSecrets;
  const key = current?.reveal() ?? await readStored(`${dataDir}/callback-secrets-key`);
  if (key === null) throw new Error("CALLBACK_SECRETS_KEY is not set");
  const box = await createSecretBox(key, earlier.map((one) => one.reveal()));
  const prefix = `enc1:${box.keyId}:`;
  const kept = [await sampleSecret(sql, prefix), ...await listOtherSecrets(sql, prefix, "", 1)];
  const found = kept.filter((one) => one !== null);
  for (const one of found) await box.open(one.current, one.merchantId);
  return found.length;
}

async function readGenesis(sql: Sql): Promise<ReadonlyMap<Network, string>> {
  const found = new Map<Network, string>();
  for (const network of SERVED_NETWORKS) {
    const genesis = await storeGenesis(sql, network, null);
    if (genesis !== null) found.set(network, genesis);
  }
  return found;
}
