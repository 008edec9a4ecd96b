import { assert, assertEquals } from "@std/assert";
import { chainTest, temporaryFolder } from "./support/chain.ts";

const ROOT = new URL("../../", import.meta.url);

/** The development chain alone, with the permissions of its task; running once it has written its place. */
async function startAlone(dataDir: string) {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--frozen", "--cached-only", "--quiet", "--no-prompt", "-P=dev-chain"],
      ...["app/commands/dev_chain.ts", "--network", "ETH", "--port", "0", "--data", dataDir],
      ...["--block-ms", "0"],
    ],
    cwd: ROOT,
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = child.stdout.getReader();
  let text = "";
  while (!text.includes("http://")) {
    const { value, done } = await reader.read();
    assert(!done, `it has ended: ${text}`);
    text += new TextDecoder().decode(value);
  }
  return {
    async end(signal: Deno.Signal) {
      child.kill(signal);
      await child.status;
      await reader.cancel();
    },
  };
}

async function anvilOf(dataDir: string): Promise<number> {
  return JSON.parse(await Deno.readTextFile(`${dataDir}/dev-chain-ETH/anvil.port`)).pid;
}

async function lives(pid: number): Promise<boolean> {
  try {
    // one that has ended, of which its parent has not heard yet, has no command line any more
    return await Deno.readTextFile(`/proc/${pid}/cmdline`) !== "";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

chainTest("an orderly stop ends the anvil that a killed owner left", async () => {
  const dataDir = await temporaryFolder();
  const killed = await startAlone(dataDir);
  const pid = await anvilOf(dataDir);
  await killed.end("SIGKILL");
  assert(await lives(pid));
  const next = await startAlone(dataDir);
  assertEquals(await anvilOf(dataDir), pid, "it is found");
  await next.end("SIGTERM");
  // a process that is ended takes a moment to be gone
  for (let looks = 0; looks < 200 && await lives(pid); looks++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const isLeft = await lives(pid);
  if (isLeft) Deno.kill(pid, "SIGKILL");
  assertEquals(isLeft, false, "it was left");
});
