/**
 * Commands that a page for people shows, run as they stand there.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Programs that the commands of the pages need. */
const PROGRAMS = ["bash", "curl", "jq"];

/** Of these programs those that this machine lacks. */
export async function missingPrograms(): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const program of PROGRAMS) {
    try {
      await new Deno.Command(program, { args: ["--version"] }).output();
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      missing.push(program);
    }
  }
  return missing;
}

/** A command of a page, and what it prints. */
interface Shown {
  readonly command: string;
  readonly printed: string;
}

/** A page's commands in their order; a block of JSON right behind one is what it prints. */
export function commandsOf(page: string): readonly Shown[] {
  const blocks = page.matchAll(/^```sh\n(.*?)^```\n(?:\n```json\n(.*?)^```\n)?/gms);
  return [...blocks].map(([, command = "", printed = ""]) => ({ command, printed }));
}

/**
 * Runs commands one after the other in one shell, and compares what each prints.
 *
 * @param dataDir the folder that `.data` of the page stands for
 */
export async function runCommands(
  t: Deno.TestContext,
  commands: readonly Shown[],
  dataDir: string,
): Promise<void> {
  const marker = "-- the next command --";
  const script = commands.map(({ command }) => command).join(`echo '${marker}'\n`)
    .replaceAll(".data/", `${dataDir}/`);
  const { success, stdout, stderr } = await new Deno.Command("bash", {
    args: ["-euo", "pipefail", "-c", script],
    cwd: ROOT,
    // with the very Deno that runs the tests
    env: {
      DATA_DIR: dataDir,
      NO_COLOR: "1",
      PATH: `${dirname(Deno.execPath())}:${Deno.env.get("PATH")}`,
    },
    signal: AbortSignal.timeout(180_000),
  }).output();
  const printed = new TextDecoder().decode(stdout).split(`${marker}\n`);
  for (const [i, shown] of commands.entries()) {
    await t.step(shown.command.split("\n")[0] ?? "", () => {
      assertEquals(printed[i] ?? "(it was not reached)", shown.printed);
    });
  }
  assert(success, new TextDecoder().decode(stderr));
}
