import { fileURLToPath } from "node:url";
import type { Load, LoadResult } from "./load.ts";

/** True when wrk can be run. */
export async function hasWrk(): Promise<boolean> {
  try {
    // wrk -v prints its version and ends with 1
    await new Deno.Command("wrk", { args: ["-v"], stdout: "null", stderr: "null" }).output();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

const SCRIPT = fileURLToPath(new URL("./withdrawals.lua", import.meta.url));

/** Runs wrk; one thread, because it shares its cores with what it measures. */
export async function runWrk(load: Load): Promise<LoadResult> {
  const { success, stdout, stderr } = await new Deno.Command("wrk", {
    args: [
      "--threads=1",
      `--connections=${load.connections}`,
      `--duration=${load.seconds}s`,
      "--timeout=10s",
      `--script=${SCRIPT}`,
      `${load.url}/api/withdrawals`,
      "--",
      load.name,
      load.keysFile,
      load.destinationsFile,
    ],
  }).output();
  const said = new TextDecoder().decode(stdout);
  const line = said.split("\n").find((text) => text.startsWith("RESULT "));
  if (!success || line === undefined) {
    throw new Error(
      `Cannot measure as wrk failed: ${said.slice(-500)}${new TextDecoder().decode(stderr)}`,
    );
  }
  const result: LoadResult = JSON.parse(line.slice("RESULT ".length));
  return result;
}
