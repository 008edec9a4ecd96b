import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  chainTest,
  fundedWallet,
  type Json,
  signedBy,
  type TestChain,
  usdtOf,
  withChain,
} from "./support/chain.ts";

const PAYEE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

async function put(chain: TestChain, ...faults: Json[]): Promise<void> {
  await chain.post("/dev/config", { faults });
}

async function usdtPayment(chain: TestChain, wallet: Parameters<typeof signedBy>[1]) {
  const data = `0xa9059cbb${PAYEE.slice(2).padStart(64, "0")}${"1".padStart(64, "0")}`;
  return await signedBy(chain, wallet, { to: chain.usdt, value: 0n, data });
}

chainTest("errors, busy answers and silence are a server's in front of the node", async () => {
  await withChain(async (chain) => {
    const call = { jsonrpc: "2.0", id: 1, method: "eth_blockNumber", params: [] };
    const statusOf = async (body: unknown, signal?: AbortSignal) => {
      const text = JSON.stringify(body);
      const init = { method: "POST", body: text, ...(signal === undefined ? {} : { signal }) };
      const response = await fetch(chain.url, init);
      await response.body?.cancel();
      return [response.status, response.headers.get("retry-after")];
    };
    await put(chain, { kind: "error-500", path: "eth_blockNumber", times: 1 });
    assertEquals(await statusOf({ ...call, method: "eth_chainId" }), [200, null]);
    assertEquals(await statusOf([{ ...call, method: "eth_chainId" }, call]), [500, null]);
    assertEquals(await statusOf(call), [200, null]);
    await put(chain, { kind: "busy-429", times: 1 }, { kind: "busy-429", status: 503, times: 1 });
    assertEquals([await statusOf(call), await statusOf(call)], [[429, "1"], [503, null]]);
    await put(chain, { kind: "timeout", path: "eth_*" });
    const outcome = await statusOf(call, AbortSignal.timeout(300)).catch(({ name }) => name);
    assertEquals(outcome, "TimeoutError");
    await put(chain, { kind: "error-500", path: "eth_sendRawTransaction", late: true });
    const wallet = await fundedWallet(chain, { coin: "1" });
    const raw = await signedBy(chain, wallet);
    assertEquals(
      await statusOf({ ...call, method: "eth_sendRawTransaction", params: [raw] }),
      [500, null],
    );
    assertEquals((await chain.info()).pending, 1, "carried out all the same");
  });
});

chainTest(
  "broadcasts are lost, kept in silence, or answered with an error that is none",
  async () => {
    await withChain(async (chain) => {
      const wallet = await fundedWallet(chain, { coin: "1" });
      const kinds: readonly [Json, RegExp | null, boolean][] = [
        [{ kind: "lost-broadcast" }, null, false],
        [{ kind: "silent-accept", code: "internal error" }, /^internal error$/, true],
        [{ kind: "duplicate" }, /^already known$/, true],
        [{ kind: "duplicate", forget: true }, /^already known$/, false],
        [{ kind: "nonce-too-low" }, /^nonce too low$/, true],
        [{ kind: "nonce-too-low", forget: true }, /^nonce too low$/, false],
        [{ kind: "underpriced" }, /^replacement transaction underpriced$/, true],
        [{ kind: "underpriced", forget: true }, /^replacement transaction underpriced$/, false],
      ];
      for (const [fault, message, isKept] of kinds) {
        await put(chain, { ...fault, times: 1 });
        const raw = await signedBy(chain, wallet);
        const answer = await chain.ask("eth_sendRawTransaction", raw);
        if (message === null) assertMatch(answer.result, /^0x/);
        else assertMatch(answer.error.message, message);
        assertEquals((await chain.info()).pending, isKept ? 1 : 0, JSON.stringify(fault));
        await chain.mine();
      }
      await put(chain, { kind: "lost-broadcast" });
      const stale = await signedBy(chain, wallet, { nonce: 0 });
      assertMatch(
        await chain.refusal("eth_sendRawTransaction", stale),
        /nonce too low/,
        "no refusal is hidden",
      );
    });
  },
);

chainTest(
  "a call that is made to fail reverts or uses its gas up, and no other of its sender",
  async () => {
    await withChain(async (chain) => {
      const wallet = await fundedWallet(chain, { coin: "1", usdt: "5" });
      const send = async () =>
        await chain.rpc("eth_sendRawTransaction", await usdtPayment(chain, wallet));
      const first = await send();
      await put(chain, { kind: "revert", times: 1 });
      const reverted = await send();
      const between = await send();
      await put(chain, { kind: "out-of-gas", times: 1 });
      const spent = await send();
      const last = await send();
      await chain.mine(5);
      const receipts = [];
      for (const txid of [first, reverted, between, spent, last]) {
        const { status, gasUsed } = await chain.rpc("eth_getTransactionReceipt", txid);
        receipts.push([status, Number(gasUsed) === 100_000]);
      }
      assertEquals(receipts, [
        ["0x1", false],
        ["0x0", false],
        ["0x1", false],
        ["0x0", true],
        ["0x1", false],
      ]);
      assertEquals(await usdtOf(chain, PAYEE), 3n);
      await chain.post("/dev/transfer", { to: wallet.address, amount: "1" });
    });
  },
);

chainTest("receipts are late, null, short of one or of a log, or another block's", async () => {
  await withChain(async (chain) => {
    await fundedWallet(chain, { usdt: "1" });
    const { address } = await fundedWallet(chain, { coin: "1", usdt: "1" });
    assert(address !== "");
    const { transactions } = await chain.rpc("eth_getBlockByNumber", "latest", false);
    assertEquals(transactions.length, 2);
    const listed = async (fault: Json) => {
      await put(chain, { ...fault, times: 1 });
      return await chain.rpc("eth_getBlockReceipts", "latest");
    };
    const single = async (fault: Json) => {
      await put(chain, { ...fault, times: 1 });
      return await chain.rpc("eth_getTransactionReceipt", transactions[1]);
    };
    const idsOf = (receipts: Json) => receipts.map(({ transactionHash }: Json) => transactionHash);
    assertEquals(await listed({ kind: "lagging-receipts" }), []);
    assertEquals(idsOf(await listed({ kind: "lagging-receipts", late: true })), [transactions[0]]);
    assertEquals(await listed({ kind: "receipts-null" }), null);
    assertEquals(idsOf(await listed({ kind: "receipts-short" })), [transactions[0]]);
    const logsOf = (receipts: Json) => receipts.map(({ logs }: Json) => logs.length);
    assertEquals(logsOf(await listed({ kind: "log-missing" })), [0, 0]);
    const [other] = await listed({ kind: "receipts-of-another" });
    assertEquals(other.blockNumber, "0x1");
    for (const kind of ["lagging-receipts", "receipts-null", "receipts-short"]) {
      assertEquals(await single({ kind }), null, kind);
    }
    assertEquals((await single({ kind: "log-missing" })).logs, []);
    const before = await chain.rpc("eth_getBlockByNumber", "0x1", false);
    assertEquals((await single({ kind: "receipts-of-another" })).blockHash, before.hash);
    assertEquals(logsOf(await chain.rpc("eth_getBlockReceipts", "latest")), [0, 1], "once each");
  });
});

chainTest("finality goes back for some answers, or stands still while it is asked to", async () => {
  await withChain(async (chain) => {
    const final = async () =>
      Number((await chain.rpc("eth_getBlockByNumber", "finalized", false)).number);
    await chain.mine(9);
    assertEquals(await final(), 6);
    await put(chain, { kind: "finality-back", behind: 2, times: 1 });
    assertEquals([await final(), await final()], [4, 6]);
    await put(chain, { kind: "finality-stands" });
    await chain.mine(4);
    assertEquals(await final(), 6);
    assertEquals(await chain.post("/dev/reorg", { depth: 7 }), { head: 6, solid: 6 });
    await put(chain);
    await chain.mine(7);
    assertEquals(await final(), 10);
  });
});
