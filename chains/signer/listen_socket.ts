import { dirname } from "node:path";

/**
 * Listens on a unix socket that only its owner can reach: mode 0600, in a folder of mode 0700. A
 * socket that nobody listens on any more is replaced; one that is alive is not.
 *
 * @param path absolute; its folder exists
 * @throws {Error} when somebody listens there, when the path is something else than a socket, or
 *   when others may enter its folder
 */
export async function listenSocket(path: string): Promise<Deno.UnixListener> {
  const folder = dirname(path);
  const { mode } = await Deno.stat(folder);
  if (mode !== null && (mode & 0o077) !== 0) {
    const digits = (mode & 0o777).toString(8);
    throw new Error(`Cannot listen as others may enter the socket's folder: ${folder} (${digits})`);
  }
  await removeStale(path);
  const listener = Deno.listen({ transport: "unix", path });
  await Deno.chmod(path, 0o600);
  return listener;
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
