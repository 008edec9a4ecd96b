/**
 * A migrated cluster that a checkout keeps, for servers of their own: to copy it takes a small part of what
 * initdb and the migrations take.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { startEmbeddedPostgres } from "../../app/postgres/embedded.ts";
import { existingCluster } from "../../app/postgres/cluster.ts";
import { withFileLock } from "../../app/postgres/file_lock.ts";
import { canEnter, serverUser } from "../../app/postgres/programs.ts";
import { connect } from "../../ledger/database/connect.ts";
import { migrate, readMigrations } from "../../ledger/database/migrate.ts";
import { guardCluster } from "./cluster_guard.ts";
import { removeCluster } from "./remove_cluster.ts";

/** Folder of the kept cluster, under a name that changes with whatever it is made of. */
const KEPT_FOLDER = fileURLToPath(new URL("../output/kept_cluster/", import.meta.url));
/** Bound of the wait for those who make or copy it at the same time. */
const BOUND_MS = 300_000;
const PASSWORD_FILE = "postgres-password";
/** Besides the migrations: how a cluster is made, and by which version of PostgreSQL. */
const MADE_BY = ["../../app/postgres/cluster.ts", "../../deno.json"];

/**
 * Puts a stopped cluster with a migrated database into a data folder that has none, as if a service had
 * started on it before. A folder that the server's account cannot enter is left as it is: the service
 * then makes its cluster elsewhere.
 */
export async function bringCluster(dataDir: string): Promise<void> {
  if (!await canEnter(dataDir, await serverUser(null))) return;
  await Deno.mkdir(KEPT_FOLDER, { recursive: true });
  const kept = join(KEPT_FOLDER, await digest());
  await withFileLock(join(KEPT_FOLDER, "lock"), performance.now() + BOUND_MS, async () => {
    const from = await keptIn(kept) ?? await make(kept);
    const { success, stderr } = await new Deno.Command("cp", {
      args: ["-a", from, join(dataDir, "postgres")],
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).output();
    if (!success) {
      throw new Error(`Cannot copy the kept cluster: ${new TextDecoder().decode(stderr)}`);
    }
    await Deno.copyFile(join(kept, PASSWORD_FILE), join(dataDir, PASSWORD_FILE));
  });
}

/** The cluster's own folder; null where it is not there, or no longer. */
async function keptIn(kept: string): Promise<string | null> {
  try {
    return await existingCluster(kept);
  } catch {
    // what it names elsewhere was removed
    return null;
  }
}

/** Makes the kept cluster; it appears under its name when it is whole and on the disk. */
async function make(kept: string): Promise<string> {
  for await (const { name, isDirectory } of Deno.readDir(KEPT_FOLDER)) {
    if (!isDirectory) continue;
    const old = join(KEPT_FOLDER, name);
    await removeCluster(old, await keptIn(old));
  }
  const draft = await Deno.makeTempDir({ dir: KEPT_FOLDER, prefix: "draft-" });
  await Deno.chmod(draft, 0o755);
  const guard = await guardCluster(draft);
  const server = await startEmbeddedPostgres({
    dataDir: draft,
    supervise: false,
    settings: { autovacuum: "off", min_wal_size: "32MB" },
  });
  try {
    const sql = connect(server.url, { max: 1 });
    try {
      await migrate(sql);
    } finally {
      await sql.end({ timeout: 5 });
    }
  } finally {
    await server.stop();
  }
  await guard.release();
  await Deno.rename(draft, kept);
  const made = await keptIn(kept);
  if (made === null) throw new Error(`Cannot find the cluster that was just made: ${kept}`);
  return made;
}

async function digest(): Promise<string> {
  const texts = await Promise.all(
    MADE_BY.map((path) => Deno.readTextFile(fileURLToPath(new URL(path, import.meta.url)))),
  );
  const sums = (await readMigrations()).map(({ checksum }) => checksum);
  const bytes = new TextEncoder().encode([...texts, ...sums].join("\n"));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex().slice(0, 16);
}
