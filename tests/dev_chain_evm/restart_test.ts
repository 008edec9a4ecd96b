import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import type { Wallet } from "ethers";
import {
  anvilPid,
  chainTest,
  fundedWallet,
  type Json,
  signedBy,
  temporaryFolder,
  type TestChain,
  usdtOf,
  withChain,
} from "./support/chain.ts";
import type { Life, Word } from "./support/mortal_worker.ts";

const PAYEE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const COMMAND = new URL("../../app/commands/dev_chain.ts", import.meta.url).pathname;

/** A signed transfer of 1 USDT. */
async function payment(chain: TestChain, wallet: Wallet, nonce: number): Promise<string> {
  const data = `0xa9059cbb${PAYEE.slice(2).padStart(64, "0")}${"f4240".padStart(64, "0")}`;
  return await signedBy(chain, wallet, { to: chain.usdt, value: 0n, data, nonce });
}

/** Everything that a chain shows of its blocks. */
async function blocksOf(chain: TestChain): Promise<Json[]> {
  const { head } = await chain.info();
  const blocks = [];
  for (let height = 0; height <= head; height++) {
    const number = `0x${height.toString(16)}`;
    blocks.push([
      await chain.rpc("eth_getBlockByNumber", number, true),
      await chain.rpc("eth_getBlockReceipts", number),
    ]);
  }
  return blocks;
}

chainTest(
  "a start builds the same chain up: blocks, receipts, pool, settings, faults",
  async () => {
    const dataDir = await temporaryFolder();
    let before: Json;
    await withChain(async (chain) => {
      const wallet = await fundedWallet(chain, { coin: "1", usdt: "5" });
      await chain.rpc("eth_sendRawTransaction", await payment(chain, wallet, 0));
      await chain.post("/dev/mine", { blocks: 2, intervalMs: 60_000 });
      await chain.post("/dev/reorg", { depth: 2 });
      await chain.post("/dev/basefee", { gwei: "3" });
      await chain.mine();
      const evicted = await chain.rpc(
        "eth_sendRawTransaction",
        await payment(chain, wallet, 1),
      );
      await chain.post("/dev/evict", { txid: evicted });
      await chain.rpc("eth_sendRawTransaction", await payment(chain, wallet, 2));
      const faults = [{ path: "eth_getBlockReceipts", kind: "receipts-null", times: 3 }];
      await chain.post("/dev/config", { solidLag: 1, faults });
      await chain.post("/dev/config", { faults: [] });
      before = [await chain.info(), await blocksOf(chain), await usdtOf(chain, PAYEE)];
    }, { dataDir });
    await withChain(async (chain) => {
      assertEquals([await chain.info(), await blocksOf(chain), await usdtOf(chain, PAYEE)], before);
      assertEquals(await chain.post("/dev/reorg", { depth: 1 }), { head: 1, solid: 1 });
    }, { dataDir });
  },
);

chainTest("what was configured lasts until the chain is started differently", async () => {
  const dataDir = await temporaryFolder();
  await withChain((chain) => chain.post("/dev/config", { solidLag: 7 }), { dataDir });
  await withChain(async (chain) => assertEquals((await chain.info()).solidLag, 7), { dataDir });
  await withChain(async (chain) => assertEquals((await chain.info()).solidLag, 2), {
    dataDir,
    solidLag: 2,
  });
});

chainTest("a long journal begins anew at a final block, and the chain stays the same", async () => {
  const dataDir = await temporaryFolder();
  const states = async () =>
    (await Array.fromAsync(Deno.readDir(`${dataDir}/dev-chain-ETH`))).map(({ name }) => name)
      .filter((name) => name.startsWith("state-"));
  let before: Json;
  await withChain(async (chain) => {
    const wallet = await fundedWallet(chain, { coin: "1", usdt: "5" });
    await chain.rpc("eth_sendRawTransaction", await payment(chain, wallet, 0));
    await chain.mine(505);
    await chain.post("/dev/reorg", { depth: 3 });
    await chain.mine(2);
    const newest = await chain.rpc("eth_getBlockByNumber", "latest", false);
    before = [await chain.info(), newest, await usdtOf(chain, PAYEE)];
  }, { dataDir });
  const [state, ...others] = await states();
  assertEquals(others, []);
  assertMatch(state ?? "", /^state-4\d\d-/);
  await withChain(async (chain) => {
    const newest = await chain.rpc("eth_getBlockByNumber", "latest", false);
    assertEquals([await chain.info(), newest, await usdtOf(chain, PAYEE)], before);
    assertEquals((await chain.rpc("eth_getBlockReceipts", "0x2")).length, 1, "old ones too");
    await chain.post("/dev/reorg", { depth: 2 });
    await chain.mine(4);
  }, { dataDir });
});

chainTest("the first block stays the same whatever the state's dump holds besides", async () => {
  const dataDir = await temporaryFolder();
  const folder = `${dataDir}/dev-chain-ETH`;
  let first: Json;
  await withChain(async (chain) => {
    first = await chain.rpc("eth_getBlockByNumber", "0x0", false);
  }, { dataDir });
  for await (const { name } of Deno.readDir(folder)) {
    if (!name.startsWith("state-")) continue;
    // an anvil that was built up again has its own first block in its next dump as well
    const state = await unpacked(await Deno.readTextFile(`${folder}/${name}`));
    const own = state.blocks.find(({ header }: Json) => BigInt(header.number) === 0n);
    const foreign = { ...own, header: { ...own.header, timestamp: "0x1" } };
    const doubled = { ...state, blocks: [...state.blocks, foreign] };
    await Deno.writeTextFile(`${folder}/${name}`, await packed(doubled));
  }
  await withChain(async (chain) => {
    assertEquals(await chain.rpc("eth_getBlockByNumber", "0x0", false), first);
  }, { dataDir });
});

async function unpacked(dump: string): Promise<Json> {
  const bytes = Uint8Array.fromHex(dump.slice(2));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return await new Response(stream).json();
}

async function packed(state: Json): Promise<string> {
  const stream = new Blob([JSON.stringify(state)]).stream()
    .pipeThrough(new CompressionStream("gzip"));
  return `0x${(await new Response(stream).bytes()).toHex()}`;
}

chainTest(
  "anvil that is killed at any of its calls is built up anew, and nothing is lost",
  async () => {
    const dataDir = await temporaryFolder();
    await withChain(async (chain) => {
      const wallet = await fundedWallet(chain, { coin: "1", usdt: "1000" });
      const original = globalThis.fetch;
      let left = Infinity;
      globalThis.fetch = async (input, init) => {
        const isAnvil = !String(input).startsWith(chain.url);
        if (isAnvil && left-- === 0) Deno.kill(await anvilPid(dataDir, "ETH"), "SIGKILL");
        return await original(input, init);
      };
      try {
        let nonce = 0;
        let isAlive = false;
        for (let calls = 0; !isAlive; calls++) {
          left = calls;
          const txid = await chain.rpc(
            "eth_sendRawTransaction",
            await payment(chain, wallet, nonce++),
          );
          await chain.mine();
          await chain.post("/dev/reorg", { depth: 1 });
          const later = await chain.rpc(
            "eth_sendRawTransaction",
            await payment(chain, wallet, nonce++),
          );
          await chain.mine();
          const { blockHash } = await chain.rpc("eth_getTransactionReceipt", txid);
          const other = await chain.rpc("eth_getTransactionReceipt", later);
          assertEquals(other.blockHash, blockHash, `killed before call ${calls}`);
          assertEquals(await usdtOf(chain, PAYEE), BigInt(nonce) * 1_000_000n);
          isAlive = left >= 0;
        }
        assert(nonce > 30, `so many steps are known: ${nonce}`);
      } finally {
        globalThis.fetch = original;
      }
    }, { dataDir });
  },
);

/** Lets a proxy live in a worker until it stops for good, or has done all. */
async function liveOnce(life: Life): Promise<readonly Word[]> {
  const worker = new Worker(new URL("./support/mortal_worker.ts", import.meta.url), {
    type: "module",
  });
  const { port1, port2 } = new MessageChannel();
  const words: Word[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  worker.addEventListener("error", (event) => reject(new Error(event.message)));
  port1.onmessage = ({ data }) => {
    words.push(data);
    if (data.tells === "dead" || data.tells === "lived") resolve();
  };
  worker.postMessage(life, [port2]);
  try {
    await promise;
  } finally {
    worker.terminate();
    port1.close();
  }
  await untilUnlocked(`${life.dataDir}/dev-chain-ETH/lock`);
  return words;
}

/** A worker that is terminated closes its files a moment later. */
async function untilUnlocked(path: string): Promise<void> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    using file = await Deno.open(path, { write: true });
    if (await file.tryLock(true)) return;
    assert(Date.now() < deadline, "the worker lives on");
    await new Promise((go) => setTimeout(go, 5));
  }
}

chainTest(
  "a proxy that is killed at any of its calls to anvil lost nothing that it answered",
  async () => {
    const dataDir = await temporaryFolder();
    const wallets: Wallet[] = [];
    const prepare = async (chain: TestChain, wallet: Wallet) => {
      const nonce = Number(await chain.rpc("eth_getTransactionCount", wallet.address, "latest"));
      const raws = [
        await payment(chain, wallet, nonce),
        await payment(chain, wallet, nonce + 1),
      ] as const;
      return { raws, head: (await chain.info()).head, paid: await usdtOf(chain, PAYEE) };
    };
    const prepared: Awaited<ReturnType<typeof prepare>>[] = [];
    await withChain(async (chain) => {
      const wallet = await fundedWallet(chain, { coin: "1", usdt: "1000" });
      await chain.mine(3);
      wallets.push(wallet);
      prepared.push(await prepare(chain, wallet));
    }, { dataDir });
    let hasLived = false;
    for (let calls = 0; !hasLived; calls += 3) {
      const before = prepared.at(-1)!;
      const phase = calls % 2 === 0 ? "open" : "opening";
      const words = await liveOnce({ dataDir, calls, phase, raws: before.raws, payee: PAYEE });
      hasLived = words.some(({ tells }) => tells === "lived");
      const left = hasLived ? null : await anvilPid(dataDir, "ETH");
      const isBoth = calls % 4 < 2;
      if (left !== null && isBoth) Deno.kill(left, "SIGKILL");
      await withChain(async (chain) => {
        if (left !== null && !isBoth) {
          assertEquals(await anvilPid(dataDir, "ETH"), left, "found again");
        }
        const done = words.flatMap((word) => word.tells === "done" ? [word] : []);
        const heads = done.filter(({ step }) => step !== "sent" && step !== "paid");
        const { head } = await chain.info();
        const last = Number(heads.at(-1)?.value ?? before.head);
        // the step after the last answered one may have been carried out
        assert([last, last + 1, last - 1].includes(head), `head ${head}, answered ${last}`);
        await chain.mine();
        const sent = done.filter(({ step }) => step === "sent");
        for (const { value } of sent) {
          const receipt = await chain.rpc("eth_getTransactionReceipt", value);
          assertEquals(receipt?.status, "0x1", `killed before call ${calls}`);
        }
        const paid = Number((await usdtOf(chain, PAYEE) - before.paid) / 1_000_000n);
        assert([sent.length, sent.length + 1].includes(paid), `paid ${paid}, sent ${sent.length}`);
        prepared.push(await prepare(chain, wallets[0]!));
      }, { dataDir });
    }
  },
);

chainTest("two processes cannot have one chain, and a damaged journal is told", async () => {
  const dataDir = await temporaryFolder();
  await withChain(async () => {
    await assertRejects(
      () => withChain(() => Promise.resolve(), { dataDir }),
      Error,
      "another process holds it",
    );
  }, { dataDir });
  const journal = `${dataDir}/dev-chain-ETH/chain.journal`;
  const whole = await Deno.readTextFile(journal);
  await Deno.writeTextFile(journal, '{"do":"blo', { append: true });
  await withChain((chain) => chain.mine(), { dataDir });
  await Deno.writeTextFile(journal, whole.replace("{", "["));
  await assertRejects(() => withChain(() => Promise.resolve(), { dataDir }), Error, "is damaged");
});

chainTest(
  "the command is killed with anvil amid transfers, and goes on with all of them",
  async () => {
    const dataDir = await temporaryFolder();
    const first = await startCommand(dataDir);
    const acknowledged: string[] = [];
    const streaming = (async () => {
      for (;;) {
        const body = JSON.stringify({ to: PAYEE, amount: "1" });
        const response = await fetch(`${first.url}/dev/transfer`, { method: "POST", body });
        acknowledged.push((await response.json()).txid);
      }
    })();
    const ended = assertRejects(() => streaming);
    const deadline = Date.now() + 60_000;
    while (acknowledged.length < 15) {
      assert(Date.now() < deadline, "transfers come to nothing");
      await new Promise((go) => setTimeout(go, 5));
    }
    first.process.kill("SIGKILL");
    Deno.kill(await anvilPid(dataDir, "ETH"), "SIGKILL");
    await first.process.status;
    await ended;

    const second = await startCommand(dataDir);
    const pid = await anvilPid(dataDir, "ETH");
    second.process.kill("SIGTERM");
    assertEquals((await second.process.status).code, 0);
    assertRejectsKill(pid);
    await withChain(async (chain) => {
      await chain.mine();
      for (const txid of acknowledged) {
        assertEquals((await chain.rpc("eth_getTransactionReceipt", txid))?.status, "0x1");
      }
    }, { dataDir });
  },
);

function assertRejectsKill(pid: number): void {
  let isThere = true;
  try {
    Deno.kill(pid, "SIGCONT");
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    isThere = false;
  }
  assertEquals(isThere, false, "anvil ends with its owner");
}

/** Starts `dev-chain` as a process of its own, with the permissions of its task. */
async function startCommand(dataDir: string) {
  const process = new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--no-check", "--no-prompt", "-P=dev-chain", COMMAND],
      ...["--network", "ETH", "--port", "0", "--data", dataDir, "--block-ms", "100"],
    ],
    cwd: new URL("../../", import.meta.url).pathname,
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
  return { process, url: /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0] ?? "" };
}
