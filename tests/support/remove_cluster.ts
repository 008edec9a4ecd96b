import { dirname, relative, resolve } from "node:path";

/**
 * Removes a stopped embedded cluster with its data folder, also one that lies elsewhere because the
 * server's account cannot enter the data folder.
 *
 * @param dataDir what `startEmbeddedPostgres` was given
 * @param folder the cluster's own folder, `null` when it never started
 */
export async function removeCluster(dataDir: string, folder: string | null): Promise<void> {
  if (folder !== null && relative(resolve(dataDir), folder).startsWith("..")) {
    await Deno.remove(dirname(folder), { recursive: true });
  }
  await Deno.remove(dataDir, { recursive: true });
}
