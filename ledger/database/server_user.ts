/**
 * Who the embedded PostgreSQL runs as. PostgreSQL refuses to run as root, so a service started by
 * root hands it to an unprivileged account.
 *
 * @module
 */

import { dirname } from "node:path";

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
 * @param clusterFolder where the cluster lies; when it is there already, its owner is the answer
 * @returns the account, or `null` when that is the account of this process
 * @throws {Error} when this process runs as root and knows no other account, or when it does not
 *   and the cluster belongs to somebody else
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
 * Whether an account may pass through a folder and all folders above it.
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
