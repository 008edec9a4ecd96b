import { fileURLToPath } from "node:url";
import {
  PASSED_ON,
  printSettings,
  processFlags,
  type ProcessSettings,
} from "./process_settings.ts";

/** After this long a process that was told to stop is ended. */
const STOP_MS = 15_000;

/**
 * Runs the signer's process until it ends. Should this one be killed, the other's standard input
 * closes and it stops as well.
 *
 * @returns its exit code
 */
export async function runProcess(
  settings: ProcessSettings,
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      ...processFlags(settings),
      fileURLToPath(new URL("./process.ts", import.meta.url)),
    ],
    clearEnv: true,
    env: Object.fromEntries(PASSED_ON.flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    })),
    stdin: "piped",
  }).spawn();
  const input = child.stdin.getWriter();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => {
    if (timer !== undefined) return;
    timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    // it may have ended by itself, then there is nothing to close
    input.close().catch(() => {});
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) Deno.addSignalListener(signal, stop);
  await input.write(new TextEncoder().encode(`${printSettings(settings)}\n`));
  const { code } = await child.status;
  clearTimeout(timer);
  return code;
}
