import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  chainTest,
  fundedWallet,
  GWEI,
  type Json,
  signedBy,
  tokenOf,
  usdtOf,
  withChain,
  withEthers,
} from "./support/chain.ts";

const TREASURY = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

chainTest(
  "ethers reads a new chain: its number, its tokens, the money of its treasury",
  async () => {
    for (
      const [network, chainId, decimals] of [["ETH", 1_337_001n, 6n], [
        "tBNB",
        1_337_097n,
        18n,
      ]] as const
    ) {
      await withChain(async (chain) => {
        await withEthers(chain, async (provider) => {
          assertEquals((await provider.getNetwork()).chainId, chainId);
          assertEquals(await provider.getBalance(TREASURY), 100n * 10n ** 18n);
          for (const address of [chain.usdt, chain.usdc ?? ""]) {
            const token = await tokenOf(provider, address);
            assertEquals(await token.getFunction("decimals")(), decimals);
            assertEquals(
              await token.getFunction("balanceOf")(TREASURY),
              1_000_000n * 10n ** decimals,
            );
          }
        });
      }, { network, treasury: TREASURY });
    }
  },
);

chainTest(
  "ethers sends a token and finds receipt, log and balances; what waits is counted",
  async () => {
    await withChain(async (chain) => {
      const payer = await fundedWallet(chain, { coin: "1", usdt: "5" });
      await withEthers(chain, async (provider) => {
        const usdt = await tokenOf(provider, chain.usdt);
        const transfer = usdt.connect(payer.connect(provider)).getFunction("transfer");
        const sent = await transfer(TREASURY, 2_000_000n);
        assertEquals((await provider.getTransaction(sent.hash))?.blockNumber, null);
        assertEquals(await provider.getTransactionReceipt(sent.hash), null);
        assertEquals(await provider.getTransactionCount(payer.address, "pending"), 1);
        assertEquals(await provider.getTransactionCount(payer.address), 0);
        await chain.mine();
        const receipt = await provider.getTransactionReceipt(sent.hash);
        assertEquals(receipt?.status, 1);
        assertEquals(receipt?.logs.length, 1);
        assertEquals(usdt.interface.parseLog(receipt!.logs[0]!)?.args.toArray(), [
          payer.address,
          TREASURY,
          2_000_000n,
        ]);
        const [inBlock] = await chain.rpc("eth_getBlockReceipts", receipt?.blockHash);
        assertEquals(inBlock.transactionHash, sent.hash);
        assertEquals(await usdt.getFunction("balanceOf")(payer.address), 3_000_000n);
      });
    });
  },
);

chainTest("final and safe are the lag's, and calls and logs by these tags as well", async () => {
  await withChain(async (chain) => {
    const { address } = await fundedWallet(chain, { usdt: "1" });
    const heightOf = async (tag: string) =>
      Number((await chain.rpc("eth_getBlockByNumber", tag, false)).number);
    assertEquals([await heightOf("finalized"), await heightOf("safe")], [0, 0]);
    assertEquals(await usdtOf(chain, address, "finalized"), 0n);
    await chain.mine(4);
    assertEquals([await heightOf("latest"), await heightOf("finalized")], [5, 2]);
    assertEquals(await usdtOf(chain, address, "finalized"), 1_000_000n);
    const logs = { address: chain.usdt, fromBlock: "0x0", toBlock: "finalized" };
    assertEquals((await chain.rpc("eth_getLogs", logs)).length, 1);
    await chain.post("/dev/config", { solidLag: 1 });
    assertEquals(await heightOf("finalized"), 4);
    await chain.post("/dev/config", { solidLag: 5 });
    assertEquals(await heightOf("finalized"), 4, "what was final stays so");
  });
});

chainTest(
  "a batch is answered in its order, with what the node answers itself among it",
  async () => {
    await withChain(async (chain) => {
      const wallet = await fundedWallet(chain, { coin: "1" });
      const raw = await signedBy(chain, wallet);
      const call = (id: number, method: string, ...params: unknown[]) => ({
        jsonrpc: "2.0",
        id,
        method,
        params,
      });
      const { json } = await chain.send("", [
        call(4, "eth_blockNumber"),
        call(3, "eth_sendRawTransaction", raw),
        call(2, "anvil_mine", "0x1"),
        { nonsense: true },
        call(1, "eth_getBlockByNumber", "finalized", false),
      ]);
      assertEquals(json.map(({ id }: Json) => id), [4, 3, 2, null, 1]);
      assertEquals(json[0].result, "0x1");
      assertMatch(json[1].result, /^0x[0-9a-f]{64}$/);
      assertEquals(json[2].error.code, -32_601);
      assertEquals(json[3].error.code, -32_600);
      assertEquals(json[4].result.number, "0x0");
    });
  },
);

chainTest("what only anvil has, and keys that a node would hold, are refused", async () => {
  await withChain(async (chain) => {
    for (
      const method of [
        ...["evm_mine", "anvil_reorg", "anvil_setBalance", "hardhat_mine", "anvil_dumpState"],
        ...["eth_sendTransaction", "eth_sendUnsignedTransaction", "eth_accounts", "personal_sign"],
      ]
    ) {
      assertMatch(await chain.refusal(method), /does not exist/, method);
    }
    assertEquals((await chain.info()).head, 0);
  });
});

chainTest(
  "a page in the developer's browser reaches neither the proxy nor anvil behind it",
  async () => {
    await withChain(async (chain) => {
      const { port } = JSON.parse(
        await Deno.readTextFile(`${chain.dataDir}/dev-chain-${chain.network}/anvil.port`),
      );
      for (const url of [chain.url, `http://127.0.0.1:${port}`]) {
        // what a browser asks before it sends another site's JSON
        const response = await fetch(url, {
          method: "OPTIONS",
          headers: {
            origin: "https://elsewhere.example",
            "access-control-request-method": "POST",
            "access-control-request-headers": "content-type",
          },
        });
        await response.body?.cancel();
        assertEquals(response.headers.get("access-control-allow-origin"), null, url);
      }
    });
  },
);

chainTest("a replacement has to offer a tenth more of both fees", async () => {
  await withChain(async (chain) => {
    const wallet = await fundedWallet(chain, { coin: "1" });
    const offer = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint) =>
      signedBy(chain, wallet, { nonce: 0, maxFeePerGas, maxPriorityFeePerGas });
    const first = await offer(10n * GWEI, 2n * GWEI);
    const txid = await chain.rpc("eth_sendRawTransaction", first);
    assertEquals(await chain.refusal("eth_sendRawTransaction", first), "already known");
    for (const [cap, tip] of [[105n, 21n], [112n, 21n], [105n, 23n]] as const) {
      const raw = await offer(cap * GWEI / 10n, tip * GWEI / 10n);
      assertEquals(
        await chain.refusal("eth_sendRawTransaction", raw),
        "replacement transaction underpriced",
      );
    }
    const bumped = await offer(112n * GWEI / 10n, 224n * GWEI / 100n);
    const other = await chain.rpc("eth_sendRawTransaction", bumped);
    assertEquals(await chain.rpc("eth_getTransactionByHash", txid), null);
    await chain.mine();
    assertEquals((await chain.rpc("eth_getTransactionReceipt", other)).status, "0x1");
    assertMatch(await chain.refusal("eth_sendRawTransaction", first), /nonce too low/);
  });
});

chainTest("a sender whose account is delegated has one transaction waiting", async () => {
  await withChain(async (chain) => {
    const wallet = await fundedWallet(chain, { coin: "1" });
    const chainId = Number(await chain.rpc("eth_chainId"));
    const authorization = await wallet.authorize({ address: chain.usdt, chainId, nonce: 1 });
    const delegating = await signedBy(chain, wallet, {
      type: 4,
      authorizationList: [authorization],
    });
    await chain.rpc("eth_sendRawTransaction", delegating);
    await chain.mine();
    assertMatch(await chain.rpc("eth_getCode", wallet.address, "latest"), /^0xef0100/);
    await chain.rpc("eth_sendRawTransaction", await signedBy(chain, wallet, { to: TREASURY }));
    assertMatch(
      await chain.refusal("eth_sendRawTransaction", await signedBy(chain, wallet)),
      /in-flight transaction limit reached/,
    );
    await chain.mine();
    const gapped = await signedBy(chain, wallet, { nonce: 4, to: TREASURY });
    assertMatch(await chain.refusal("eth_sendRawTransaction", gapped), /gapped-nonce/);
    await chain.rpc("eth_sendRawTransaction", await signedBy(chain, wallet, { to: TREASURY }));
  });
});

chainTest(
  "dropped blocks give their transactions back, or they vanish; a final one is kept",
  async () => {
    await withChain(async (chain) => {
      const { address } = await fundedWallet(chain, { usdt: "1" });
      await chain.mine(2);
      const { txid } = await chain.post("/dev/transfer", { to: address, amount: "2" });
      await chain.mine();
      const before = (await chain.rpc("eth_getTransactionReceipt", txid)).blockHash;
      assertEquals(await chain.post("/dev/reorg", { depth: 2 }), { head: 2, solid: 1 });
      assertEquals(await chain.rpc("eth_getTransactionReceipt", txid), null);
      assertEquals((await chain.rpc("eth_getTransactionByHash", txid)).blockHash, null);
      assertEquals(await usdtOf(chain, address), 1_000_000n);
      await chain.mine(2);
      const receipt = await chain.rpc("eth_getTransactionReceipt", txid);
      assertEquals([receipt.blockNumber, receipt.blockHash === before], ["0x3", false]);
      assertEquals(await chain.rpc("eth_getBlockByHash", before, false), null);

      assertEquals(await chain.post("/dev/reorg", { depth: 2, drop: true }), { head: 2, solid: 1 });
      await chain.mine(2);
      assertEquals(await chain.rpc("eth_getTransactionByHash", txid), null);
      assertEquals(await usdtOf(chain, address), 1_000_000n);
      const { status, json } = await chain.send("/dev/reorg", { depth: 4 });
      assertEquals(status, 400);
      assertMatch(json.error, /block 1 is final/);
    });
  },
);

chainTest(
  "of those that wait the highest tip is first, each sender's in the order of nonces",
  async () => {
    await withChain(async (chain) => {
      const [low, high] = [
        await fundedWallet(chain, { coin: "1" }),
        await fundedWallet(chain, { coin: "1" }),
      ];
      const send = async (wallet: typeof low, nonce: number, tip: bigint) =>
        await chain.rpc(
          "eth_sendRawTransaction",
          await signedBy(chain, wallet, { nonce, maxPriorityFeePerGas: tip * GWEI }),
        );
      const gapped = await send(low, 1, 9n);
      await chain.mine();
      assertEquals((await chain.rpc("eth_getTransactionByHash", gapped)).blockHash, null);
      const cheap = await send(low, 0, 1n);
      const dear = await send(high, 0, 5n);
      await chain.mine();
      const { transactions } = await chain.rpc("eth_getBlockByNumber", "latest", false);
      assertEquals(transactions, [dear, cheap, gapped]);
    });
  },
);

chainTest("blocks are made by the clock", async () => {
  await withChain(async (chain) => {
    const deadline = Date.now() + 30_000;
    while ((await chain.info()).head < 3) {
      assert(Date.now() < deadline, "no block is made");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await chain.post("/dev/config", { blockMs: 0 });
    const { head, time } = await chain.info();
    assertEquals((await chain.post("/dev/mine", { blocks: 2, intervalMs: 60_000 })).head, head + 2);
    assert((await chain.info()).time >= time + 60_000);
    const newest = await chain.rpc("eth_getBlockByNumber", "latest", false);
    assertEquals(Number(newest.timestamp), Math.floor((await chain.info()).time / 1_000));
  }, { blockMs: 50 });
});
