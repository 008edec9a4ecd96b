import { z } from "zod";

const Place = z.object({ pid: z.int().positive().nullable() });

/**
 * Ends the anvils of a data folder. One outlives the service that is killed, for its next start, and one that a later
 * start has found may not be ended by that: after the last start there is nothing that would.
 */
export async function endAnvils(dataDir: string): Promise<void> {
  for await (const { name } of Deno.readDir(dataDir)) {
    if (!name.startsWith("dev-chain-")) continue;
    const text = await readIfThere(`${dataDir}/${name}/anvil.port`);
    const pid = text === null ? null : Place.parse(JSON.parse(text)).pid;
    // another program may have the number by now
    if (pid === null || (await readIfThere(`/proc/${pid}/comm`))?.trim() !== "anvil") continue;
    try {
      Deno.kill(pid, "SIGKILL");
    } catch (error) {
      // it has ended since
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory)) {
      throw error;
    }
    return null;
  }
}
