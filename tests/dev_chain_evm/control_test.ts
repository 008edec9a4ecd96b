import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  chainTest,
  fundedWallet,
  GWEI,
  type Json,
  signedBy,
  type TestChain,
  tokenOf,
  usdtOf,
  withChain,
  withEthers,
} from "./support/chain.ts";

const PAYEE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

async function statusOf(chain: TestChain, txid: string): Promise<string | null> {
  return (await chain.rpc("eth_getTransactionReceipt", txid))?.status ?? null;
}

chainTest("the faucet pays USDT, USDC and coin, each in its decimals", async () => {
  await withChain(async (chain) => {
    for (
      const [amount, currency] of [["1.5", "USDT"], ["2.5", "USDC"], ["3", "BNB"], ["4", "coin"]]
    ) {
      await chain.post("/dev/transfer", { to: PAYEE, amount, currency });
    }
    await chain.mine();
    const unit = 10n ** 18n;
    assertEquals(await usdtOf(chain, PAYEE), 3n * unit / 2n);
    assertEquals(BigInt(await chain.rpc("eth_getBalance", PAYEE, "latest")), 7n * unit);
    await withEthers(chain, async (provider) => {
      const usdc = await tokenOf(provider, chain.usdc ?? "");
      assertEquals(await usdc.getFunction("balanceOf")(PAYEE), 5n * unit / 2n);
    });
  }, { network: "BNB" });
});

chainTest("bad input is 400 with a reason and changes nothing", async () => {
  await withChain(async (chain) => {
    const before = await chain.info();
    const refused: readonly [string, Json, RegExp][] = [
      ["/dev/transfer", {}, /to must be an address/],
      ["/dev/transfer", { to: PAYEE.replace("C5", "c5"), amount: "1" }, /its case checked/],
      ["/dev/transfer", { to: PAYEE, amount: "1.0000001" }, /at most 6 decimals/],
      ["/dev/transfer", { to: PAYEE, amount: "1", currency: "TRX" }, /USDT, USDC or ETH/],
      ["/dev/transfer", { to: PAYEE, amount: "99999999999" }, /contract refuses.*exceeds balance/],
      ["/dev/transfer", { to: PAYEE, amount: "9999999999", currency: "coin" }, /node refuses/],
      ["/dev/mine", { blocks: 0 }, /blocks must be a whole number/],
      ["/dev/reorg", { depth: 1 }, /block 0 is final/],
      ["/dev/reorg", { drop: "yes" }, /drop must be true or false/],
      ["/dev/config", { blockMs: -1 }, /blockMs must be/],
      ["/dev/config", { faults: [{ kind: "out-of-energy" }] }, /kind must be one of/],
      ["/dev/config", { faults: [{ path: "/wallet", kind: "revert" }] }, /be a method/],
      ["/dev/emit", { steps: [] }, /steps must be a list/],
      ["/dev/emit", { steps: [{ do: "dance" }] }, /a step must do/],
      ["/dev/emit", { steps: [{ do: "log", topics: ["0x11"] }] }, /64 hex digits/],
      ["/dev/token-switches", {}, /nothing to switch/],
      ["/dev/token-switches", { token: "USDC", feeBasisPoints: 1 }, /USDT's alone/],
      ["/dev/token-switches", { block: ["x"] }, /block must be an address/],
      ["/dev/basefee", {}, /gwei must be/],
      ["/dev/basefee", { gwei: "-1" }, /must be a decimal/],
      ["/dev/evict", { txid: "0x12" }, /No such transaction waits/],
      ["/dev/use-nonce", { key: "0x12" }, /key must be 64 hex digits/],
    ];
    for (const [path, body, reason] of refused) {
      const { status, json } = await chain.send(path, body);
      assertEquals(status, 400, `${path} ${JSON.stringify(body)}: ${JSON.stringify(json)}`);
      assertMatch(json.error, reason);
    }
    assertEquals((await chain.send("/dev/nothing")).status, 404);
    const get = await fetch(`${chain.url}/dev/mine`);
    assertEquals([get.status, await get.json()], [405, { error: "Use POST" }]);
    assertEquals(await chain.info(), before);
  });
});

chainTest("what offers less than the base fee waits until that falls", async () => {
  await withChain(async (chain) => {
    const wallet = await fundedWallet(chain, { coin: "1" });
    const raw = await signedBy(chain, wallet, { maxFeePerGas: 5n * GWEI });
    const early = await chain.rpc("eth_sendRawTransaction", raw);
    assertEquals(await chain.post("/dev/basefee", { gwei: "8.5" }), { baseFeeWei: "8500000000" });
    const late = await chain.rpc(
      "eth_sendRawTransaction",
      await signedBy(chain, wallet, { maxFeePerGas: 5n * GWEI }),
    );
    const { baseFeePerGas } = await chain.rpc("eth_feeHistory", "0x1", "latest", []);
    assertEquals(BigInt(baseFeePerGas.at(-1)), 85n * GWEI / 10n, "asked for beforehand");
    await chain.mine(3);
    const { baseFeePerGas: held } = await chain.rpc("eth_getBlockByNumber", "latest", false);
    assertEquals(BigInt(held), 85n * GWEI / 10n, "held");
    assertEquals([await statusOf(chain, early), await statusOf(chain, late)], [null, null]);
    assertEquals((await chain.info()).pending, 2);
    await chain.post("/dev/basefee", { gwei: "2" });
    await chain.mine();
    assertEquals([await statusOf(chain, early), await statusOf(chain, late)], ["0x1", "0x1"]);
    await chain.post("/dev/basefee", { gwei: null });
    await chain.mine(2);
    const block = await chain.rpc("eth_getBlockByNumber", "latest", false);
    assert(BigInt(block.baseFeePerGas) < 2n * GWEI, "it follows the blocks' use");
  });
});

chainTest("an evicted transaction is gone until it is sent again", async () => {
  await withChain(async (chain) => {
    const wallet = await fundedWallet(chain, { coin: "1" });
    const raw = await signedBy(chain, wallet);
    const txid = await chain.rpc("eth_sendRawTransaction", raw);
    assertEquals(await chain.post("/dev/evict", { txid }), { pending: 0 });
    assertEquals(await chain.rpc("eth_getTransactionByHash", txid), null);
    await chain.mine();
    assertEquals(await chain.rpc("eth_getTransactionByHash", txid), null);
    assertEquals(await chain.rpc("eth_sendRawTransaction", raw), txid);
    await chain.mine();
    assertEquals(await statusOf(chain, txid), "0x1");
  });
});

chainTest("another program with the key takes the next nonce, also from what waits", async () => {
  await withChain(async (chain) => {
    const wallet = await fundedWallet(chain, { coin: "1" });
    const own = await chain.rpc("eth_sendRawTransaction", await signedBy(chain, wallet));
    const { txid } = await chain.post("/dev/use-nonce", { key: wallet.privateKey });
    await chain.mine();
    assertEquals([await statusOf(chain, own), await statusOf(chain, txid)], [null, "0x1"]);
    assertEquals(await chain.rpc("eth_getTransactionCount", wallet.address, "latest"), "0x1");
    const later = await chain.post("/dev/use-nonce", { key: wallet.privateKey, nonce: 3 });
    await chain.mine();
    assertEquals(await statusOf(chain, later.txid), null, "it waits for those before");
  });
});

chainTest(
  "one transaction takes several steps: moves, events that move nothing, bare logs",
  async () => {
    await withChain(async (chain) => {
      const { txid } = await chain.post("/dev/emit", {
        steps: [
          { do: "transfer", to: PAYEE, amount: "7" },
          { do: "event", token: "USDC", from: PAYEE, to: PAYEE, amount: "9" },
          { do: "log", topics: [`0x${"11".repeat(32)}`], data: "0x1234" },
        ],
      });
      const failing = await chain.post("/dev/emit", {
        steps: [{ do: "transfer", to: PAYEE, amount: "5" }, { do: "revert" }],
      });
      await chain.mine();
      const { logs } = await chain.rpc("eth_getTransactionReceipt", txid);
      assertEquals(logs.map((log: Json) => [log.address, log.topics.length, Number(log.data)]), [
        [chain.usdt.toLowerCase(), 3, 7],
        [chain.usdc?.toLowerCase(), 3, 9],
        ["0xde00000000000000000000000000000000000003", 1, 0x1234],
      ]);
      assertEquals(await usdtOf(chain, PAYEE), 7n);
      assertEquals(await statusOf(chain, failing.txid), "0x0");
    });
  },
);

chainTest("tokens are paused, take a fee and block addresses as their issuers can", async () => {
  await withChain(async (chain) => {
    const payer = await fundedWallet(chain, { coin: "1", usdt: "10" });
    const data = (value: bigint) =>
      `0xa9059cbb${PAYEE.slice(2).padStart(64, "0")}${value.toString(16).padStart(64, "0")}`;
    const pay = async (): Promise<string | null> => {
      const raw = await signedBy(chain, payer, {
        to: chain.usdt,
        value: 0n,
        data: data(1_000_000n),
      });
      const txid = await chain.rpc("eth_sendRawTransaction", raw);
      await chain.mine();
      return await statusOf(chain, txid);
    };
    const switchTo = async (switches: Json) => {
      await chain.post("/dev/token-switches", switches);
      await chain.mine();
    };
    await switchTo({ feeBasisPoints: 100, maximumFee: "5000" });
    assertEquals(await pay(), "0x1");
    assertEquals(await usdtOf(chain, PAYEE), 995_000n);
    await switchTo({ paused: true });
    assertEquals(await pay(), "0x0");
    await switchTo({ paused: false, block: [payer.address] });
    assertEquals(await pay(), "0x0");
    await switchTo({ unblock: [payer.address] });
    assertEquals(await pay(), "0x1");
    await switchTo({ token: "USDC", block: [PAYEE] });
    const body = { to: PAYEE, amount: "1", currency: "USDC" };
    assertMatch((await chain.send("/dev/transfer", body)).json.error, /blocked receiver/);
  });
});

chainTest("the node is reached from this machine alone", async () => {
  const refused = await Promise.allSettled([
    withChain(() => Promise.resolve(), { hostname: "0.0.0.0" }),
    withChain(() => Promise.resolve(), { network: "../x" }),
    withChain(() => Promise.resolve(), { network: "TRX" }),
    withChain(() => Promise.resolve(), { treasury: "0x12" }),
  ]);
  const reasons = refused.map((one) => one.status === "rejected" ? one.reason.message : "started");
  assertMatch(reasons[0], /for this machine only/);
  assertMatch(reasons[1], /none of EVM|malformed/);
  assertMatch(reasons[2], /none of EVM/);
  assertMatch(reasons[3], /treasury as its address is malformed/);
});
