/** The data folder is this process's now, or which process works on it. */
export type FolderLock = { readonly ok: true } | { readonly ok: false; readonly owner: string };

/**
 * Locks the data folder until this process ends, however it ends (flock(2)). Two services on one
 * folder would share a database server, ports and a development chain, and each would stop them
 * under the other's feet.
 *
 * @param dataDir an existing folder
 */
export async function lockDataDir(dataDir: string): Promise<FolderLock> {
  const path = `${dataDir}/service.lock`;
  // never closed: the lock is the open file's
  const file = await Deno.open(path, { create: true, read: true, write: true });
  if (!await file.tryLock(true)) {
    file.close();
    return { ok: false, owner: (await Deno.readTextFile(path)).trim() };
  }
  await file.truncate();
  await file.write(new TextEncoder().encode(`${Deno.pid}\n`));
  return { ok: true };
}
