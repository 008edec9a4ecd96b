import { assert, assertEquals, assertRejects } from "@std/assert";
import { startDevChain } from "../../devchain/start.ts";
import {
  attach,
  broadcast,
  chainTest,
  fundedWallet,
  newWallet,
  receiptOf,
  type TestChain,
  trxTransfer,
  usdtBalance,
  usdtTransfer,
  withChain,
} from "./support/chain.ts";

const COMMAND = new URL("../../app/commands/dev_chain.ts", import.meta.url).pathname;

/** Starts `dev-chain` as a process of its own and waits until it listens. */
async function startProcess(
  dataDir: string,
  port = 0,
): Promise<{ process: Deno.ChildProcess; chain: TestChain }> {
  const process = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-check",
      "--no-prompt",
      "--allow-net=127.0.0.1",
      "--allow-read",
      "--allow-write",
      COMMAND,
      ...["--network", "TRX", "--port", `${port}`, "--data", dataDir, "--block-ms", "0"],
    ],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let output = "";
  const reader = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  while (!output.includes("Faucet: ") || !output.endsWith("\n")) {
    const { value, done } = await reader.read();
    assert(!done, `the chain ended before it listened: ${output}`);
    output += value;
  }
  await reader.cancel();
  const url = /http:\/\/127\.0\.0\.1:(\d+)/.exec(output);
  const usdt = /USDT contract: (\w+)/.exec(output)?.[1] ?? "";
  const faucetAddress = /Faucet: (\w+)/.exec(output)?.[1] ?? "";
  const stop = async () => {
    process.kill("SIGTERM");
    await process.status;
  };
  const chain = { url: url?.[0] ?? "", port: Number(url?.[1]), usdt, faucetAddress, stop };
  return { process, chain: attach(chain, dataDir) };
}

chainTest(
  "after kill -9 blocks, pool, forced failures and settings are as they were acknowledged",
  async () => {
    const dataDir = await Deno.makeTempDir({ prefix: "dev-chain-" });
    const first = await startProcess(dataDir);
    const payer = await fundedWallet(first.chain, { trx: "100", usdt: "3" });
    const payee = newWallet();
    const waiting = await trxTransfer(first.chain, payer, payee.base58, 5_000_000);
    assertEquals((await broadcast(first.chain, waiting)).result, true);
    await first.chain.post("/dev/config", {
      solidLag: 5,
      faults: [{ path: "*", kind: "revert", times: 1 }],
    });
    const doomed = await usdtTransfer(first.chain, payer, payee.base58, 1n);
    assertEquals((await broadcast(first.chain, doomed)).result, true);
    const acknowledged: string[] = [];
    // Killed in the middle of a stream of broadcasts: what was answered must be there.
    const streaming = (async () => {
      for (let i = 0; i < 10_000; i++) {
        // they outlive a slow start
        const body = { to: payee.base58, amount: "1", expiresInMs: 600_000 };
        acknowledged.push((await first.chain.post("/dev/transfer", body)).txid);
      }
    })();
    const ended = assertRejects(() => streaming);
    while (acknowledged.length < 25) await new Promise((go) => setTimeout(go, 1));
    first.process.kill("SIGKILL");
    await first.process.status;
    await ended;

    const { process, chain } = await startProcess(dataDir, first.chain.port);
    assertEquals(chain.url, first.chain.url);
    assertEquals(chain.usdt, first.chain.usdt);
    assertEquals(chain.faucetAddress, first.chain.faucetAddress);
    assertEquals(await usdtBalance(chain, payer.base58), 3_000_000n, "blocks are there");
    const { txId } = await chain.get("/wallet/gettransactionlistfrompending");
    assertEquals(txId.slice(0, 2), [waiting.txid, doomed.txid], "in the order they came");
    assertEquals(txId.slice(2, acknowledged.length + 2), acknowledged);
    assertEquals((await chain.get("/dev/info")).solidLag, 5);
    await chain.mine();
    assertEquals((await receiptOf(chain, waiting.txid)).id, waiting.txid);
    assertEquals((await receiptOf(chain, doomed.txid)).receipt.result, "REVERT");
    const paid = BigInt(txId.length - 2) * 1_000_000n;
    assertEquals(await usdtBalance(chain, payee.base58), paid);
    await chain.stop();
    assertEquals((await process.status).code, 0);
    await Deno.remove(dataDir, { recursive: true });
  },
);

chainTest("a chain that was reorganised and stopped goes on from there", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "dev-chain-" });
  const payee = newWallet();
  const before = await withResult(dataDir, async (chain) => {
    await chain.mine(5);
    await chain.post("/dev/transfer", { to: payee.base58, amount: "4" });
    await chain.mine(2);
    await chain.post("/dev/reorg", { depth: 2 });
    await chain.post("/dev/mine", { blocks: 1, intervalMs: 60_000 });
    return await chain.get("/dev/info");
  });
  const after = await withResult(dataDir, async (chain) => {
    const info = await chain.get("/dev/info");
    assertEquals(await usdtBalance(chain, payee.base58), 4_000_000n);
    assertEquals(await chain.post("/dev/reorg", { depth: 1 }), { head: 5, solid: 4 });
    assertEquals(await usdtBalance(chain, payee.base58), 0n, "unsolid blocks can still be dropped");
    return info;
  });
  assertEquals({ ...after, time: 0 }, { ...before, time: 0 });
  await Deno.remove(dataDir, { recursive: true });
});

chainTest(
  "what was configured lasts over a restart until the chain is started differently",
  async () => {
    const dataDir = await Deno.makeTempDir({ prefix: "dev-chain-" });
    const pace = (chain: TestChain) => chain.get("/dev/info");
    await withResult(dataDir, (chain) => chain.post("/dev/config", { solidLag: 7 }));
    assertEquals((await withResult(dataDir, pace)).solidLag, 7);
    assertEquals((await withResult(dataDir, pace, { solidLag: 2 })).solidLag, 2);
    await Deno.remove(dataDir, { recursive: true });
  },
);

chainTest("two processes cannot open one chain, and each network has its own", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "dev-chain-" });
  await withChain(async (chain) => {
    const options = { network: "TRX", dataDir, port: 0, blockMs: 0 };
    await assertRejects(() => startDevChain(options), Error, "in use or broken");
    const shasta = await startDevChain({ ...options, network: "TRX_SHASTA" });
    assert(shasta.usdt !== chain.usdt);
    await shasta.stop();
  }, { dataDir });
  await Deno.remove(dataDir, { recursive: true });
});

chainTest("a chain is for this machine only and its name is no path", async () => {
  const options = { network: "TRX", dataDir: "unused", port: 0 };
  await assertRejects(() => startDevChain({ ...options, hostname: "0.0.0.0" }), RangeError);
  await assertRejects(() => startDevChain({ ...options, network: "../x" }), RangeError);
});

async function withResult<T>(
  dataDir: string,
  work: (chain: TestChain) => Promise<T>,
  options: { solidLag?: number } = {},
): Promise<T> {
  let result: T | undefined;
  await withChain(async (chain) => {
    result = await work(chain);
  }, { dataDir, ...options });
  if (result === undefined) throw new Error("the work had no result");
  return result;
}

chainTest(
  "a commit that a crash cut off is none, and a folder of an older version is refused",
  async () => {
    const dataDir = await Deno.makeTempDir({ prefix: "dev-chain-" });
    const folder = `${dataDir}/dev-chain-TRX`;
    await withResult(dataDir, (chain) => chain.mine(2));
    const whole = await Deno.readTextFile(`${folder}/chain.journal`);
    const half = whole.trimEnd().split("\n").at(-1)?.slice(0, 40) ?? "";
    await Deno.writeTextFile(`${folder}/chain.journal`, half, { append: true });
    await Deno.writeTextFile(`${folder}/blocks.text`, "{", { append: true });
    const { head } = await withResult(dataDir, async (chain) => {
      const info = await chain.get("/dev/info");
      await chain.mine(1);
      return info;
    });
    assertEquals(head, 2);
    assertEquals((await withResult(dataDir, (chain) => chain.get("/dev/info"))).head, 3);
    const damaged = whole.replace("{", "[");
    await Deno.writeTextFile(`${folder}/chain.journal`, damaged);
    const options = { network: "TRX", dataDir, port: 0, blockMs: 0 };
    await assertRejects(() => startDevChain(options), Error, "in use or broken");
    await Deno.writeTextFile(`${folder}/chain.sqlite`, "");
    await assertRejects(() => startDevChain(options), Error, "of an older version");
    await Deno.remove(dataDir, { recursive: true });
  },
);
