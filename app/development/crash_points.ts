/**
 * Arms crash points of a development service, for tests that kill it: one at its start, further
 * ones while it runs.
 *
 * @module
 */

import { join } from "node:path";
import { armCrashPoint } from "../../actors/runtime/crash_point.ts";

/**
 * Arms the crash point that `CRASH_POINT` names, and on every SIGUSR2 the one that the file
 * `crash-point` of the data folder names; the file is gone once the point is armed.
 *
 * @param dataDir the service's data folder
 * @throws {RangeError} when there is no such point
 */
export function openCrashPoints(dataDir: string): void {
  const first = Deno.env.get("CRASH_POINT");
  if (first !== undefined) armCrashPoint(first);
  Deno.addSignalListener("SIGUSR2", () => {
    const file = join(dataDir, "crash-point");
    armCrashPoint(Deno.readTextFileSync(file));
    Deno.removeSync(file);
  });
}
