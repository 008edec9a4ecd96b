import { dirname } from "node:path";

/**
 * Listens on a unix socket that only its owner can reach (mode 0600, in a folder of mode 0700), or a
 * group as well (0660, in a folder of that group which its members may enter and not change). A socket
 * without a listener is replaced; one that is alive is not.
 *
 * @param path absolute; its folder exists
 * @param group number of the group; null: its owner alone
 * @throws {Error} when another process listens there, when the path is something else than a socket,
 *   when others may enter its folder, or when the group may not enter it or may change it
 */
export async function listenSocket(
  path: string,
  group: number | null = null,
): Promise<Deno.UnixListener> {
  await requireFolder(dirname(path), group);
  await removeStale(path);
  const listener = Deno.listen({ transport: "unix", path });
  try {
    // the owner alone could connect until here, as the umask lets no other write
    await Deno.chmod(path, 0o600);
    if (group === null) return listener;
    await Deno.chown(path, null, group);
    await Deno.chmod(path, 0o660);
    return listener;
  } catch (error) {
    listener.close();
    if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
    throw new Error(`Cannot listen as the signer's user is no member of the group: ${group}`);
  }
}

async function requireFolder(folder: string, group: number | null): Promise<void> {
  const { mode, gid } = await Deno.stat(folder);
  if (mode === null) return;
  const digits = (mode & 0o777).toString(8);
  if ((mode & (group === null ? 0o077 : 0o007)) !== 0) {
    throw new Error(`Cannot listen as others may enter the socket's folder: ${folder} (${digits})`);
  }
  if (group === null) return;
  if (gid !== group || (mode & 0o010) === 0) {
    throw new Error(
      `Cannot listen as the group ${group} may not enter the socket's folder, give it that group and mode 710: ${folder} (${digits})`,
    );
  }
  if ((mode & 0o020) !== 0) {
    throw new Error(
      `Cannot listen as the group may change the socket's folder, give it mode 710: ${folder} (${digits})`,
    );
  }
}

async function removeStale(path: string): Promise<void> {
  try {
    const { isSocket } = await Deno.lstat(path);
    if (isSocket !== true) throw new Error(`Cannot listen as the path is no socket: ${path}`);
    const connection = await Deno.connect({ transport: "unix", path });
    connection.close();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    if (!(error instanceof Deno.errors.ConnectionRefused)) throw error;
    await Deno.remove(path);
    return;
  }
  throw new Error(`Cannot listen as another signer does: ${path}`);
}
