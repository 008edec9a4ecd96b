/**
 * The PostgreSQL of Debian's package with its default settings, the server that most operators run.
 * Without it its tests say so and the rest runs.
 *
 * @module
 */

import { join } from "node:path";
import {
  clusterPassword,
  createCluster,
  existingCluster,
  ROLE,
  type Settings,
  storedPort,
  storePort,
} from "../../app/postgres/cluster.ts";
import type { EmbeddedPostgres } from "../../app/postgres/embedded.ts";
import { freePort } from "../../app/postgres/free_port.ts";
import {
  type Cluster,
  clusterUrl,
  launch,
  readLockFile,
  stopServer,
} from "../../app/postgres/server.ts";
import { type PostgresBinaries, serverUser } from "../../app/postgres/programs.ts";
import { connect } from "../../ledger/database/connect.ts";
import { DATABASE, needs } from "./permissions.ts";

const VERSIONS = "/usr/lib/postgresql";
/** The first one with `pg_backup_start`, which makes the standby. */
const LEAST_VERSION = 15;
/** Time that a server may take to answer, milliseconds. */
const BOUND_MS = 180_000;

/** Folders of the installed servers' programs, newest first. */
export function debianServers(leastVersion: number): readonly string[] {
  const versions = namesIn(VERSIONS).map(Number).filter((version) => version >= leastVersion);
  return versions.toSorted((a, b) => b - a).map((version) => `${VERSIONS}/${version}/bin`)
    // the package of the client programs has the same folder
    .filter((folder) => namesIn(folder).includes("postgres"));
}

/** Folder of the newest server's programs; null where no server of version 15 or later is. */
function findDebianPostgres(): string | null {
  return debianServers(LEAST_VERSION)[0] ?? null;
}

function namesIn(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].map(({ name }) => name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** `Deno.test` for tests on Debian's server; `Deno.test.ignore` with the reason where it is missing. */
export function testNeedingDebianPostgres(): typeof Deno.test.ignore {
  if (needs(DATABASE)) return Deno.test.ignore;
  if (findDebianPostgres() !== null) return Deno.test;
  // deno-lint-ignore no-console -- the reason belongs in the test run's output
  console.log("skipped as there is no PostgreSQL 15 or later: install Debian's package postgresql");
  return Deno.test.ignore;
}

/** The programs of a server; by default of Debian's newest one. */
export function debianBinaries(
  folder: string | null = findDebianPostgres(),
): PostgresBinaries {
  if (folder === null) throw new Error("Cannot start Debian's PostgreSQL as there is none");
  return {
    initdb: join(folder, "initdb"),
    pgCtl: join(folder, "pg_ctl"),
  };
}

/** Writes where the server listens, and nothing else that is not asked for. */
export async function writeDefaultSettings(
  folder: string,
  port: number,
  settings: Settings,
): Promise<void> {
  // the package's folder of sockets is open to its own account only
  const all = { port, listen_addresses: "127.0.0.1", unix_socket_directories: "", ...settings };
  const lines = Object.entries(all).map(([name, value]) => `${name} = '${value}'\n`);
  await Deno.writeTextFile(join(folder, "engine.conf"), lines.join(""));
}

/** The parts of an own server that tests use. */
export type TestServer = Pick<
  EmbeddedPostgres,
  "url" | "nearestUrl" | "folder" | "port" | "pid" | "stop"
>;

/**
 * Starts a server with default settings on the cluster of a data folder, which is made at the first start.
 *
 * @param programs folder of its programs; by default those of Debian's newest server
 */
export async function startDebianPostgres(
  dataDir: string,
  settings: Settings,
  programs?: string,
): Promise<TestServer> {
  const existing = await existingCluster(dataDir);
  const user = await serverUser(existing);
  const binaries = debianBinaries(programs);
  const folder = existing ?? await createCluster(dataDir, user, binaries, false);
  const password = await clusterPassword(dataDir);
  const cluster: Cluster = { folder: await Deno.realPath(folder), password, user, binaries };
  const port = await storedPort(dataDir) ?? freePort();
  await storePort(dataDir, port);
  await writeDefaultSettings(cluster.folder, port, settings);
  const fault = await launch(cluster, BOUND_MS);
  if (fault !== null) throw new Error(`Cannot start Debian's PostgreSQL: ${fault}`);
  const sql = connect(clusterUrl(cluster, port, "postgres"), { max: 1 });
  try {
    const [named] = await sql`SELECT FROM pg_database WHERE datname = ${ROLE}`;
    if (named === undefined) await sql`CREATE DATABASE ${sql(ROLE)}`;
  } finally {
    await sql.end({ timeout: 5 });
  }
  return {
    url: clusterUrl(cluster, port),
    nearestUrl: clusterUrl(cluster, port),
    folder: cluster.folder,
    port,
    pid: (await readLockFile(cluster.folder))?.pid ?? 0,
    stop: () => stopServer(cluster, 20),
  };
}
