import { fileURLToPath } from "node:url";
import type { SoakWorld } from "./chain_world.ts";

const ENTRY = fileURLToPath(new URL("../../app/commands/reconcile.ts", import.meta.url));
const BOUND_MS = 600_000;

/** Findings of `deno task reconcile` beside the running service, as sentences. */
export async function reconcileWith(
  { service, chain, options }: SoakWorld,
): Promise<readonly string[]> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--allow-all", ENTRY],
    env: { DATA_DIR: service.dataDir, [`${options.network}_NODE_URLS`]: chain.url, NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    signal: AbortSignal.timeout(BOUND_MS),
  }).output();
  if (code === 0) return [];
  const decoder = new TextDecoder();
  return [
    `deno task reconcile ended with ${code}: ${decoder.decode(stdout)}${decoder.decode(stderr)}`,
  ];
}
