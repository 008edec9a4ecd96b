import { assert, assertEquals, assertGreater, assertRejects } from "@std/assert";
import {
  bodyOf,
  broadcast,
  chainTest,
  fundedWallet,
  included,
  newWallet,
  receiptOf,
  type TestChain,
  textOf,
  trxTransfer,
  usdtBalance,
  usdtTransfer,
  withChain,
} from "./support/chain.ts";

const BROADCAST = "/wallet/broadcasttransaction";

const faults = (chain: TestChain, ...list: unknown[]) =>
  chain.post("/dev/config", { faults: list });

chainTest(
  "error-500 and busy-429 answer so many times and then no more",
  () =>
    withChain(async (chain) => {
      await faults(
        chain,
        { path: "*", kind: "error-500", times: 2 },
        { path: "/wallet/getnowblock", kind: "busy-429", times: 1 },
      );
      const statuses = [];
      for (let i = 0; i < 4; i++) {
        const response = await fetch(chain.url + "/wallet/getnowblock");
        await response.body?.cancel();
        statuses.push(response.status);
        if (response.status === 429) assertEquals(response.headers.get("retry-after"), "1");
      }
      assertEquals(statuses, [500, 500, 429, 200]);
      assertEquals((await chain.get("/dev/info")).faults, []);
      for (const status of [403, 503]) {
        await faults(chain, { path: "*", kind: "busy-429", status, times: 1 });
        const response = await fetch(chain.url + "/wallet/getnowblock");
        await response.body?.cancel();
        assertEquals([response.status, response.headers.get("retry-after")], [status, null]);
      }
    }),
);

chainTest(
  "a fault is limited to its path, and faults given anew replace the old ones",
  () =>
    withChain(async (chain) => {
      await faults(chain, { path: "/walletsolidity/*", kind: "error-500" });
      assertEquals((await chain.get("/wallet/getnowblock")).blockID.length, 64);
      const solid = await fetch(chain.url + "/walletsolidity/getnowblock");
      await solid.body?.cancel();
      assertEquals(solid.status, 500);
      await faults(chain);
      assertEquals((await chain.get("/walletsolidity/getnowblock")).blockID.length, 64);
    }),
);

chainTest("timeout never answers while the client waits", () =>
  withChain(async (chain) => {
    await faults(chain, { path: "/wallet/getnowblock", kind: "timeout", times: 1 });
    const signal = AbortSignal.timeout(1_000);
    await assertRejects(() => fetch(chain.url + "/wallet/getnowblock", { signal }));
    assertEquals((await chain.get("/wallet/getnowblock")).blockID.length, 64);
  }));

chainTest(
  "a late failure hides an answer whose request was carried out",
  () =>
    withChain(async (chain) => {
      const payer = await fundedWallet(chain, { trx: "10" });
      const transfer = await trxTransfer(chain, payer, chain.faucetAddress, 1);
      await faults(chain, { path: BROADCAST, kind: "error-500", times: 1, late: true });
      const response = await fetch(chain.url + BROADCAST, {
        method: "POST",
        body: JSON.stringify(bodyOf(transfer)),
      });
      await response.body?.cancel();
      assertEquals(response.status, 500);
      await chain.mine();
      assertEquals((await receiptOf(chain, transfer.txid)).id, transfer.txid);
    }),
);

chainTest(
  "lost-broadcast answers success and forgets the transaction",
  () =>
    withChain(async (chain) => {
      const payer = await fundedWallet(chain, { trx: "10" });
      const transfer = await trxTransfer(chain, payer, chain.faucetAddress, 1);
      await faults(chain, { path: "*", kind: "lost-broadcast", times: 1 });
      assertEquals(await broadcast(chain, transfer), { result: true, txid: transfer.txid });
      await chain.mine();
      assertEquals(await receiptOf(chain, transfer.txid), {});
      assertEquals((await included(chain, transfer)).id, transfer.txid, "the same bytes again");
    }),
);

chainTest(
  "silent-accept answers an error and keeps the transaction",
  () =>
    withChain(async (chain) => {
      const payer = await fundedWallet(chain, { trx: "10" });
      for (const code of ["OTHER_ERROR", "SIGERROR"]) {
        const transfer = await trxTransfer(chain, payer, chain.faucetAddress, 1);
        await faults(chain, { path: BROADCAST, kind: "silent-accept", times: 1, code });
        const answer = await broadcast(chain, transfer);
        assertEquals(answer.code, code);
        assert(textOf(answer.message).length > 0);
        await chain.mine();
        assertEquals((await receiptOf(chain, transfer.txid)).id, transfer.txid);
      }
    }),
);

chainTest(
  "duplicate answers DUP at first sight, with or without keeping the transaction",
  () =>
    withChain(async (chain) => {
      const payer = await fundedWallet(chain, { trx: "10" });
      for (const forget of [false, true]) {
        const transfer = await trxTransfer(chain, payer, chain.faucetAddress, 1);
        await faults(chain, { path: BROADCAST, kind: "duplicate", times: 1, forget });
        assertEquals((await broadcast(chain, transfer)).code, "DUP_TRANSACTION_ERROR");
        await chain.mine();
        const kept = "id" in await receiptOf(chain, transfer.txid);
        assertEquals(kept, !forget);
      }
    }),
);

chainTest(
  "a fault hides no refusal: a bad transaction stays refused",
  () =>
    withChain(async (chain) => {
      const transfer = await trxTransfer(chain, newWallet(), chain.faucetAddress, 1);
      for (const kind of ["lost-broadcast", "silent-accept", "duplicate"]) {
        await faults(chain, { path: "*", kind, times: 1 });
        assertEquals((await broadcast(chain, transfer)).code, "CONTRACT_VALIDATE_ERROR");
      }
    }),
);

chainTest(
  "lagging-receipts shows a block without its receipts, or without the last of them",
  () =>
    withChain(async (chain) => {
      for (let i = 0; i < 3; i++) {
        await chain.post("/dev/transfer", { to: newWallet().base58, amount: "1" });
      }
      await chain.mine();
      await faults(
        chain,
        { path: "*", kind: "lagging-receipts", times: 1 },
        { path: "*", kind: "lagging-receipts", times: 1, late: true },
      );
      const counts = [];
      for (let i = 0; i < 3; i++) {
        const receipts = await chain.post("/wallet/gettransactioninfobyblocknum", { num: 1 });
        counts.push(receipts.length);
        const { transactions } = await chain.post("/wallet/getblockbynum", { num: 1 });
        assertEquals(transactions.length, 3);
      }
      assertEquals(counts, [0, 2, 3]);
    }),
);

chainTest(
  "revert and out-of-energy end a good transfer in failure, fees burned, also after a reorg",
  () =>
    withChain(async (chain) => {
      const payer = await fundedWallet(chain, { trx: "200", usdt: "5" });
      const payee = newWallet();
      for (const [kind, result] of [["revert", "REVERT"], ["out-of-energy", "OUT_OF_ENERGY"]]) {
        await faults(chain, { path: "*", kind, times: 1 });
        const transfer = await usdtTransfer(chain, payer, payee.base58, 1_000_000n);
        const receipt = await included(chain, transfer);
        assertEquals(receipt.receipt.result, result);
        assertEquals(receipt.result, "FAILED");
        assertGreater(receipt.fee, 0);
        await chain.post("/dev/reorg", { depth: 1 });
        await chain.mine();
        assertEquals((await receiptOf(chain, transfer.txid)).receipt.result, result);
      }
      assertEquals(await usdtBalance(chain, payee.base58), 0n);
      const spared = await trxTransfer(chain, payer, chain.faucetAddress, 1);
      await faults(chain, { path: "*", kind: "revert", times: 1 });
      await included(chain, spared);
      assertEquals((await chain.get("/dev/info")).faults.length, 1, "TRX transfers cannot revert");
    }),
);

chainTest(
  "a probability draws from the seed: the same seed, the same faults",
  () =>
    withChain(async (chain) => {
      const run = async (seed: number) => {
        await chain.post("/dev/config", {
          seed,
          faults: [{ path: "/wallet/getnowblock", kind: "error-500", probability: 0.5 }],
        });
        const statuses = [];
        for (let i = 0; i < 40; i++) {
          const response = await fetch(chain.url + "/wallet/getnowblock");
          await response.body?.cancel();
          statuses.push(response.status);
        }
        return statuses.join();
      };
      const first = await run(7);
      assertEquals(await run(7), first);
      assert(await run(8) !== first);
      assert(first.includes("500") && first.includes("200"));
    }),
);

chainTest("faults in force survive a restart with what is left of their times", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "dev-chain-" });
  await withChain(async (chain) => {
    await faults(chain, { path: "/wallet/getnowblock", kind: "error-500", times: 3 });
    await (await fetch(chain.url + "/wallet/getnowblock")).body?.cancel();
  }, { dataDir });
  await withChain(async (chain) => {
    assertEquals((await chain.get("/dev/info")).faults[0].times, 2);
  }, { dataDir });
  await Deno.remove(dataDir, { recursive: true });
});

chainTest("faults that make no sense are 400 and change nothing", () =>
  withChain(async (chain) => {
    await faults(chain, { path: "*", kind: "lagging-receipts" });
    for (
      const fault of [
        { path: "*", kind: "nonsense" },
        { path: "wallet", kind: "timeout" },
        { path: "*", kind: "timeout", probability: 2 },
        { path: "*", kind: "timeout", times: 0 },
        { path: "*", kind: "busy-429", status: 200 },
        "timeout",
      ]
    ) {
      const { status, json } = await chain.ask("/dev/config", { faults: [fault], solidLag: 9 });
      assertEquals(status, 400);
      assertEquals(typeof json.error, "string");
    }
    const info = await chain.get("/dev/info");
    assertEquals(info.faults.length, 1);
    assertEquals(info.solidLag, 3);
  }));
