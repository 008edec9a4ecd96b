/**
 * Brings a database to the schema of this version of the service.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { logEvent } from "../../log/log_event.ts";
import { requireEnvironment } from "../installation.ts";
import type { AnySql, Sql } from "./connect.ts";

/** One numbered file of `ledger/migrations`. */
export interface Migration {
  /** Four digits. */
  readonly number: string;
  /** File name, for example `0001_settings.sql`. */
  readonly name: string;
  /** SHA-256 of the file, hexadecimal. */
  readonly checksum: string;
  readonly text: string;
}

/** A database and this version of the service do not fit together; the message is one line and names the way out. */
export class MigrationMismatch extends Error {
  override readonly name = "MigrationMismatch";
}

const FOLDER = fileURLToPath(new URL("../migrations/", import.meta.url));
const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;
/** `pg_advisory_xact_lock` key: two nodes that start together migrate one after the other. */
const LOCK_KEY = "7310017263349010021";
const LOCK_TIMEOUT = "60s";
/**
 * Bound of one statement of a migration, milliseconds. One that rewrites a large table takes as long as it takes,
 * and nothing is served meanwhile; ended before, it would begin anew at every start.
 */
export const MIGRATION_STATEMENT_MS = 6 * 60 * 60_000;

interface Applied {
  readonly number: string;
  readonly name: string;
  readonly checksum: string;
}

/**
 * The migrations of this version, in order.
 *
 * @param folder where the files are
 * @throws {Error} when a file name has another shape or two files share a number
 */
export async function readMigrations(folder: string = FOLDER): Promise<readonly Migration[]> {
  const migrations: Migration[] = [];
  for await (const entry of Deno.readDir(folder)) {
    if (!entry.name.endsWith(".sql")) continue;
    const number = FILE_NAME.exec(entry.name)?.[1];
    if (number === undefined) {
      throw new Error(`Cannot read migrations as a file is not NNNN_name.sql: ${entry.name}`);
    }
    const bytes = await Deno.readFile(join(folder, entry.name));
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    const text = new TextDecoder().decode(bytes);
    migrations.push({ number, name: entry.name, checksum: digest.toHex(), text });
  }
  migrations.sort((a, b) => a.name < b.name ? -1 : 1);
  const twice = migrations.find((migration, i) => migration.number === migrations[i + 1]?.number);
  if (twice) {
    throw new Error(`Cannot read migrations as two files share a number: ${twice.number}`);
  }
  return migrations;
}

/**
 * Applies what is missing, each file in one transaction with its record in `hub.migration`.
 *
 * @param migrations what this version of the service is made for
 * @param environment the one that the database belongs to, or that it is begun in: compared before
 *   anything is changed, as a newer version that is pointed at another environment's database must
 *   not carry that one over. Null compares nothing
 * @returns the names of the files applied now
 * @throws {MigrationMismatch} when the database is newer, or was made by files that have changed
 * @throws {OtherEnvironment} when it was begun in another environment
 */
export async function migrate(
  sql: Sql,
  migrations?: readonly Migration[],
  environment: string | null = null,
): Promise<{ readonly applied: readonly string[] }> {
  const wanted = migrations ?? await readMigrations();
  const applied: string[] = [];
  await sql.begin(async (tx) => {
    await lock(tx);
    await requireOwn(tx, environment);
    await tx`CREATE SCHEMA IF NOT EXISTS hub`;
    await tx`
      CREATE TABLE IF NOT EXISTS hub.migration (
        number     text PRIMARY KEY,
        name       text NOT NULL,
        checksum   text NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT now()
      )`;
    pending(wanted, await readApplied(tx));
  });
  for (const migration of wanted) {
    const done = await sql.begin(async (tx) => {
      await lock(tx);
      // Read again under the lock: another node may have been quicker, and begun it elsewhere.
      await requireOwn(tx, environment);
      const before = await readApplied(tx);
      if (!pending(wanted, before).includes(migration)) return false;
      // of an empty database nothing takes long
      const told = applied.length < before.length ? { migration: migration.name } : null;
      if (told !== null) logEvent("database.migrating", told);
      const since = performance.now();
      await tx.unsafe(migration.text);
      await requireOwn(tx, environment);
      await tx`
        INSERT INTO hub.migration (number, name, checksum)
        VALUES (${migration.number}, ${migration.name}, ${migration.checksum})`;
      if (told !== null) {
        const seconds = ((performance.now() - since) / 1_000).toFixed(1);
        logEvent("database.migrated", { ...told, seconds });
      }
      return true;
    });
    if (done) applied.push(migration.name);
  }
  return { applied };
}

/**
 * Makes sure that the database has exactly the schema of this version.
 *
 * @param migrations what this version is made for. A process that serves for long gives what it
 *   read when it started: an upgrade may replace the files on disk under it
 * @throws {MigrationMismatch} when it has not
 */
export async function assertMigrated(
  sql: AnySql,
  migrations?: readonly Migration[],
): Promise<void> {
  const [table] = await sql<{ there: boolean }[]>`
    SELECT to_regclass('hub.migration') IS NOT NULL AS there`;
  const applied = table?.there ? await readApplied(sql) : [];
  const missing = pending(migrations ?? await readMigrations(), applied);
  if (missing.length > 0) {
    // an empty database lacks all of them
    const names = [...new Set([missing[0]?.name, missing.at(-1)?.name])].join(" to ");
    throw new MigrationMismatch(
      `Cannot use the database as migrations are missing (${missing.length}): ${names}; ` +
        "the start of this version of the service applies them",
    );
  }
}

async function lock(tx: AnySql): Promise<void> {
  await tx.unsafe(`SET LOCAL statement_timeout = ${MIGRATION_STATEMENT_MS}`);
  // another node may migrate for hours; a table that is locked by something else is not waited for so long
  await tx`SELECT pg_advisory_xact_lock(${LOCK_KEY})`;
  await tx.unsafe(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
}

/** Compares the environment of a database that has the table for it, or writes it where that is new. */
async function requireOwn(tx: AnySql, environment: string | null): Promise<void> {
  if (environment === null) return;
  // not by to_regclass, whose cache knows nothing of a table that came while the lock was waited for
  const [table] = await tx`
    SELECT FROM pg_tables WHERE schemaname = 'hub' AND tablename = 'installation'`;
  if (table !== undefined) await requireEnvironment(tx, environment);
}

async function readApplied(sql: AnySql): Promise<readonly Applied[]> {
  return await sql<Applied[]>`SELECT number, name, checksum FROM hub.migration ORDER BY number`;
}

/** The migrations that are still to be applied, after making sure that the rest fits. */
function pending(
  migrations: readonly Migration[],
  applied: readonly Applied[],
): readonly Migration[] {
  const known = new Map(migrations.map((migration) => [migration.number, migration]));
  for (const row of applied) {
    const file = known.get(row.number);
    if (file === undefined) {
      throw new MigrationMismatch(
        `Cannot use the database as a newer version of the service made it: migration ${row.name}; ` +
          "start that version or a newer one, or restore a backup from before the upgrade",
      );
    }
    if (file.checksum !== row.checksum) {
      throw new MigrationMismatch(
        `Cannot use the database as a migration has changed since it was applied: ${file.name}; ` +
          "put the files of ledger/migrations back as the release has them, or start the version that made the database",
      );
    }
  }
  const last = applied.at(-1)?.number ?? "";
  const done = new Set(applied.map((row) => row.number));
  const missing = migrations.filter((migration) => !done.has(migration.number));
  const late = missing.find((migration) => migration.number < last);
  if (late) {
    throw new MigrationMismatch(
      `Cannot use the database as a migration was added before one that is applied: ${late.name}; ` +
        `give it a number after ${last}`,
    );
  }
  return missing;
}
