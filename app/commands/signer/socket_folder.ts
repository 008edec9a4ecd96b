/**
 * The folder of the signer's socket, and the group that may enter it.
 *
 * @module
 */

/**
 * Number of a group of this machine.
 *
 * @param group its name, or the number itself
 * @throws {Error} when no group has the name
 */
export async function groupNumber(group: string): Promise<number> {
  if (/^\d+$/.test(group)) return Number(group);
  const groups = (await Deno.readTextFile("/etc/group")).split("\n").map((line) => line.split(":"));
  const number = groups.find(([name]) => name === group)?.[2];
  if (number !== undefined && /^\d+$/.test(number)) return Number(number);
  throw new Error(`Cannot sign as SIGNER_SOCKET_GROUP names no group of this machine: ${group}`);
}

/**
 * Makes the folder where it is missing: for its owner alone, or for a group to pass through. One that
 * exists is left as it is, and checked when the socket is listened on.
 *
 * @param group null: for its owner alone
 * @throws {Error} when the signer's user is no member of the group
 */
export async function makeSocketFolder(folder: string, group: number | null): Promise<void> {
  try {
    await Deno.stat(folder);
    return;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  if (group === null) return;
  try {
    await Deno.chown(folder, null, group);
  } catch (error) {
    if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
    throw new Error(
      `Cannot sign as the signer's user is no member of SIGNER_SOCKET_GROUP: ${group}`,
    );
  }
  await Deno.chmod(folder, 0o710);
}
