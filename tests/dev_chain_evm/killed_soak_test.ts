import { assert } from "@std/assert";
import { until } from "../support/until.ts";
import { chainTest, temporaryFolder } from "./support/chain.ts";

const ROOT = new URL("../../", import.meta.url);

/** Process ids of the anvils that folders of a folder name. */
async function anvilsIn(folder: string): Promise<readonly number[]> {
  const found: number[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    const place = `${folder}/${name}/dev-chain-ETH/anvil.port`;
    const text = await Deno.readTextFile(place).catch((error) => {
      if (error instanceof Deno.errors.NotFound) return "";
      throw error;
    });
    const pid = /"pid":(\d+)/.exec(text)?.[1];
    if (pid !== undefined) found.push(Number(pid));
  }
  return found;
}

function lives(pid: number): boolean {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/comm`).trim() === "anvil";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

chainTest("a soak of lanes that is killed takes its anvil and its folder along", async () => {
  const folder = await temporaryFolder();
  const soak = new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--no-prompt", "--no-check", "--allow-all", "tests/soak/soak.ts"],
      ...["lanes", "--chain", "anvil", "--seeds", "1000"],
    ],
    cwd: ROOT,
    env: { TMPDIR: folder },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const of = { anvils: [] as readonly number[] };
  try {
    await until(async () => (of.anvils = await anvilsIn(folder)).length > 0);
  } finally {
    soak.kill("SIGKILL");
    await soak.status;
  }
  const [pid = 0] = of.anvils;
  assert(pid > 0);
  await until(() => !lives(pid));
  const left = async () => (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
  await until(async () => !(await left()).some((name) => name.startsWith("engine-lanes-")));
});
