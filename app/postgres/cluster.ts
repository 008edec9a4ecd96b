/**
 * Folder and settings of the embedded PostgreSQL's cluster. Every setting differs from PostgreSQL's
 * default for the reason beside it; durability (fsync, full_page_writes, synchronous_commit) is the
 * default and is named so that it need not be looked up.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import { join, resolve } from "node:path";
import { readStored, storedOrMade, UnusableFolder } from "../open/data_folder.ts";
import {
  canEnter,
  exists,
  isReadOnly,
  type PostgresBinaries,
  runAs,
  type ServerUser,
} from "./programs.ts";

/** Name of the server's role and of its database. */
export const ROLE = "engine";

const PARENTS_OF_HOMELESS_CLUSTERS = ["/var/lib", "/var/tmp"];

const HALF_MADE = "postgres.new-";

function pathFile(dataDir: string): string {
  return join(dataDir, "postgres-path");
}

/**
 * The place of the cluster that a data folder already has.
 *
 * @param dataDir the service's data folder, existing
 * @returns `null` before the first start
 * @throws {UnusableFolder} when it is not where the folder says
 */
export async function existingCluster(dataDir: string): Promise<string | null> {
  const named = (await readStored(pathFile(dataDir)))?.trim() ?? null;
  const path = named ?? resolve(dataDir, "postgres");
  if (await isCluster(path)) return path;
  if (named !== null && !await exists(resolve(named, ".."))) {
    throw new UnusableFolder(
      `Cannot find the cluster that ${pathFile(dataDir)} names: ${named}; ` +
        "bring the folder back, or remove that file to begin with an empty database",
    );
  }
  return null;
}

async function isCluster(path: string): Promise<boolean> {
  try {
    return await exists(join(path, "PG_VERSION"));
  } catch (error) {
    // of another account, which the caller finds out next
    if (error instanceof Deno.errors.PermissionDenied) return true;
    throw error;
  }
}

/**
 * Makes a new cluster: beside the service's other data where the server's account can enter,
 * otherwise in a folder of its own whose name is stored in `postgres-path`.
 *
 * @param dataDir the service's data folder, existing
 * @param user the server's account, `null` for that of this process
 * @param sync true if the new files are flushed to disk before the cluster is used
 * @returns the data directory
 */
export async function createCluster(
  dataDir: string,
  user: ServerUser | null,
  binaries: PostgresBinaries,
  sync: boolean,
): Promise<string> {
  const target = await placeFor(dataDir, user);
  const parent = resolve(target, "..");
  await removeHalfMade(parent);
  // A cluster appears under its name only when it is whole: half of one could never be started.
  const fresh = await Deno.makeTempDir({ dir: parent, prefix: HALF_MADE });
  try {
    await Deno.chmod(fresh, 0o700);
    const passwordFile = join(fresh, "password");
    await Deno.writeTextFile(passwordFile, await clusterPassword(dataDir), { mode: 0o600 });
    const cluster = join(fresh, "cluster");
    if (user !== null) {
      await Deno.chown(fresh, user.uid, user.gid);
      await Deno.chown(passwordFile, user.uid, user.gid);
    }
    await runInitdb(binaries, user, [
      `--pgdata=${cluster}`,
      `--username=${ROLE}`,
      `--pwfile=${passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale=C",
      // A commit that needs a new segment of the log waits until that is filled with zeros and flushed:
      // 50 ms for the default of 16 MB, 4 ms for this.
      "--wal-segsize=1",
      "--no-instructions",
      ...(sync ? [] : ["--no-sync"]),
    ]);
    await Deno.writeTextFile(
      join(cluster, "postgresql.conf"),
      "\n# Written anew at every start of the service.\ninclude_if_exists 'engine.conf'\n",
      { append: true },
    );
    await Deno.rename(cluster, target);
  } finally {
    await Deno.remove(fresh, { recursive: true });
  }
  return await Deno.realPath(target);
}

/** Removes what a start that was killed left; the caller's lock keeps others from making one now. */
async function removeHalfMade(parent: string): Promise<void> {
  for await (const entry of Deno.readDir(parent)) {
    if (!entry.name.startsWith(HALF_MADE)) continue;
    const path = join(parent, entry.name);
    try {
      await Deno.remove(path, { recursive: true });
    } catch (error) {
      // Its initdb may still be writing; what is left goes with the next new cluster.
      logEvent("postgres.folder_kept", { path, error });
    }
  }
}

async function runInitdb(
  binaries: PostgresBinaries,
  user: ServerUser | null,
  args: readonly string[],
): Promise<void> {
  const { success, text } = await runAs(user, binaries.initdb, args, { boundMs: 60_000 });
  if (success) return;
  throw new Error(
    text.includes("could not look up effective user ID")
      ? `Cannot create the PostgreSQL cluster as this account is not in /etc/passwd: uid ${Deno.uid()}; set DATABASE_URL`
      : `Cannot create the PostgreSQL cluster as initdb failed: ${text}`,
  );
}

async function placeFor(dataDir: string, user: ServerUser | null): Promise<string> {
  const named = (await readStored(pathFile(dataDir)))?.trim() ?? null;
  if (named !== null) return named;
  if (await canEnter(dataDir, user)) return resolve(dataDir, "postgres");
  for (const parent of PARENTS_OF_HOMELESS_CLUSTERS) {
    try {
      if (!(await canEnter(parent, user))) continue;
      const folder = await Deno.makeTempDir({ dir: parent, prefix: "stablecoin-engine-" });
      await Deno.chmod(folder, 0o755);
      const place = join(folder, "postgres");
      await Deno.writeTextFile(pathFile(dataDir), `${place}\n`);
      return place;
    } catch (error) {
      if (!isReadOnly(error)) throw error;
    }
  }
  throw new Error(
    `Cannot place the PostgreSQL cluster as ${user?.name} can enter neither ${dataDir} nor ${
      PARENTS_OF_HOMELESS_CLUSTERS.join(" nor ")
    }; set DATABASE_URL`,
  );
}

/** The password of the server's role, made on first use; only the owner of the data folder reads it. */
export async function clusterPassword(dataDir: string): Promise<string> {
  return (await storedOrMade(join(dataDir, "postgres-password"))).trim();
}

/** The port of the last start, or `null`. */
export async function storedPort(dataDir: string): Promise<number | null> {
  const port = Number(await readStored(join(dataDir, "postgres-port")) ?? "");
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : null;
}

/** Stores the port for the next start. */
export async function storePort(dataDir: string, port: number): Promise<void> {
  await Deno.writeTextFile(join(dataDir, "postgres-port"), `${port}\n`);
}

/** Names and values of PostgreSQL settings. */
export type Settings = Readonly<Record<string, string | number>>;

const SETTINGS: Settings = {
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
  // Reached by password only, over loopback or a socket in the cluster's own folder, which no other
  // account can enter. The name is relative: a server refuses socket paths of more than 107 bytes.
  listen_addresses: "127.0.0.1",
  unix_socket_directories: ".",
  max_connections: 60,
  shared_buffers: "128MB",
  // Few, spread checkpoints: a checkpoint makes each page's next change log the whole page.
  max_wal_size: "2GB",
  min_wal_size: "128MB",
  checkpoint_timeout: "15min",
  // Each journal batch is small; compiling its plan costs more than it saves.
  jit: "off",
  // Reads come from memory here; three I/O workers per cluster would idle.
  io_method: "sync",
  timezone: "UTC",
  log_timezone: "UTC",
  // The log outlives the service that started the server, and stays small: one file per weekday.
  logging_collector: "on",
  log_directory: "log",
  log_filename: "postgresql-%a.log",
  log_rotation_age: "1d",
  log_truncate_on_rotation: "on",
  log_line_prefix: "%m [%p] %a ",
  // The service refuses duplicates by constraint: each would print the values it was refused for.
  log_min_error_statement: "panic",
  log_error_verbosity: "terse",
};

/** Writes the settings of the next start into the cluster. */
export async function writeSettings(
  folder: string,
  port: number,
  overrides: Settings,
): Promise<void> {
  const all = Object.entries({ ...SETTINGS, port, ...overrides });
  const lines = all.map(([name, value]) => `${name} = '${String(value).replaceAll("'", "''")}'`);
  await Deno.writeTextFile(join(folder, "engine.conf"), `${lines.join("\n")}\n`);
}
