import { assert, assertEquals, assertExists, assertFalse } from "@std/assert";
import {
  attach,
  chainTest,
  fundedWallet,
  hexOf,
  newWallet,
  receiptOf,
  sunBalance,
  tronwebOf,
  usdtBalance,
  withChain,
} from "./support/chain.ts";
import { startDevChainInWorker } from "../../app/workers/worker_dev_chain.ts";

chainTest(
  "a USDT transfer built, signed and sent by tronweb moves the money and returns false",
  () =>
    withChain(async (chain) => {
      const payer = await fundedWallet(chain, { trx: "100", usdt: "50" });
      const payee = newWallet();
      const tronweb = await tronwebOf(chain, payer);
      const { transaction } = await tronweb.transactionBuilder.triggerSmartContract(
        chain.usdt,
        "transfer(address,uint256)",
        { feeLimit: 30_000_000, callValue: 0, txLocal: true },
        [{ type: "address", value: payee.base58 }, { type: "uint256", value: "12500000" }],
        payer.base58,
      );
      const sent = await tronweb.trx.sendRawTransaction(await tronweb.trx.sign(transaction));
      assertEquals(sent.result, true);
      assertEquals(Reflect.get(sent, "txid"), transaction.txID);
      assertEquals(await receiptOf(chain, transaction.txID), {}, "no receipt before a block");
      await chain.mine();

      assertEquals(await usdtBalance(chain, payee.base58), 12_500_000n);
      assertEquals(await usdtBalance(chain, payer.base58), 37_500_000n);
      const receipt = await tronweb.trx.getUnconfirmedTransactionInfo(transaction.txID);
      assertEquals(receipt.receipt.result, "SUCCESS");
      assertEquals(receipt.contractResult, ["0".repeat(64)], "transfer returns false");
      assertEquals(receipt.log, [{
        address: hexOf(chain.usdt).slice(2),
        topics: [
          "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
          payer.address.slice(2).padStart(64, "0"),
          payee.address.slice(2).padStart(64, "0"),
        ],
        data: 12_500_000n.toString(16).padStart(64, "0"),
      }]);
      const unsolid = await tronweb.trx.getTransactionInfo(transaction.txID);
      assertEquals(Object.keys(unsolid), [], "not solid yet");
      await chain.mine(3);
      const solid = await tronweb.trx.getTransactionInfo(transaction.txID);
      assertEquals(solid.id, transaction.txID);
      const found = await tronweb.trx.getTransaction(transaction.txID);
      assertEquals(found.ret, [{ contractRet: "SUCCESS" }]);
      assertEquals(found.raw_data_hex, transaction.raw_data_hex);
    }),
);

chainTest(
  "a node-built transaction passes tronweb's own comparison and can be sent",
  () =>
    withChain(async (chain) => {
      const payer = await fundedWallet(chain, { trx: "100", usdt: "5" });
      const tronweb = await tronwebOf(chain, payer);
      const called = await tronweb.transactionBuilder.triggerSmartContract(
        chain.usdt,
        "transfer(address,uint256)",
        { feeLimit: 30_000_000 },
        [{ type: "address", value: chain.faucetAddress }, { type: "uint256", value: "1" }],
        payer.base58,
      );
      const paid = await tronweb.transactionBuilder.sendTrx(chain.faucetAddress, 7, payer.base58);
      for (const transaction of [called.transaction, paid]) {
        const answer = await tronweb.trx.sendRawTransaction(await tronweb.trx.sign(transaction));
        assert(answer.result, JSON.stringify(answer));
      }
      await chain.mine();
      assertEquals(await usdtBalance(chain, payer.base58), 4_999_999n);
    }),
);

chainTest(
  "a TRX transfer creates its receiver for 1.1 TRX and the next one is free of it",
  () =>
    withChain(async (chain) => {
      const payer = await fundedWallet(chain, { trx: "100" });
      const payee = newWallet();
      const tronweb = await tronwebOf(chain, payer);
      const first = await tronweb.trx.sendTransaction(payee.base58, 10_000_000);
      await chain.mine();
      assertEquals(await sunBalance(chain, payee.base58), 10_000_000);
      assertEquals(await sunBalance(chain, payer.base58), 100_000_000 - 10_000_000 - 1_100_000);
      const receipt = await receiptOf(chain, first.transaction.txID);
      assertEquals(receipt.fee, 1_100_000);
      assertEquals(receipt.receipt, { net_fee: 100_000 });
      assertEquals(receipt.contractResult, [""]);
      assertFalse("contract_address" in receipt);
      assertFalse("log" in receipt);

      const second = await tronweb.trx.sendTransaction(payee.base58, 1);
      await chain.mine();
      const free = await receiptOf(chain, second.transaction.txID);
      assertFalse("fee" in free, "a fee of nothing is absent");
      assertExists(free.receipt.net_usage);
    }),
);

chainTest(
  "approve, allowance and transferFrom move a third party's tokens and return true",
  () =>
    withChain(async (chain) => {
      const owner = await fundedWallet(chain, { trx: "100", usdt: "10" });
      const spender = await fundedWallet(chain, { trx: "100" });
      const payee = newWallet();
      const call = async (
        wallet: typeof owner,
        selector: string,
        parameters: { type: string; value: string }[],
      ) => {
        const tronweb = await tronwebOf(chain, wallet);
        const options = { feeLimit: 50_000_000 };
        const { transaction } = await tronweb.transactionBuilder
          .triggerSmartContract(chain.usdt, selector, options, parameters, wallet.base58);
        await tronweb.trx.sendRawTransaction(await tronweb.trx.sign(transaction));
        await chain.mine();
        return await receiptOf(chain, transaction.txID);
      };
      const address = (value: string) => ({ type: "address", value });
      const number = (value: string) => ({ type: "uint256", value });
      await call(owner, "approve(address,uint256)", [address(spender.base58), number("4000000")]);
      const again = await call(owner, "approve(address,uint256)", [
        address(spender.base58),
        number("9"),
      ]);
      assertEquals(again.receipt.result, "REVERT", "an allowance must be set to zero first");
      const parameters = [address(owner.base58), address(payee.base58), number("3000000")];
      const moved = await call(spender, "transferFrom(address,address,uint256)", parameters);
      assertEquals(moved.receipt.result, "SUCCESS");
      assertEquals(moved.contractResult, ["1".padStart(64, "0")]);
      assertEquals(await usdtBalance(chain, payee.base58), 3_000_000n);
      const beyond = await call(spender, "transferFrom(address,address,uint256)", parameters);
      assertEquals(beyond.receipt.result, "REVERT");
      assertEquals(await usdtBalance(chain, owner.base58), 7_000_000n);
    }),
);

chainTest(
  "in a worker a chain funds the treasury in its first block and keeps its address",
  async () => {
    const dataDir = await Deno.makeTempDir({ prefix: "dev-chain-" });
    const treasury = newWallet();
    const own = { port: 0, blockMs: 0, dataDir, treasury: treasury.base58 };
    const options = { network: "TRX", ...own } as const;
    const entry = new URL("../../app/commands/dev_chain_worker.ts", import.meta.url);
    const first = await startDevChainInWorker(entry, options);
    const chain = attach(first, dataDir);
    const block = await chain.post("/wallet/getblockbynum", { num: 1 });
    assertEquals(block.transactions.length, 2);
    await first.stop();

    const second = await startDevChainInWorker(entry, { ...options, port: first.port });
    assertEquals(second, { ...first, stop: second.stop });
    const again = attach(second, dataDir);
    assertEquals(await usdtBalance(again, treasury.base58), 1_000_000_000_000n);
    assertEquals(await sunBalance(again, treasury.base58), 100_000_000_000);
    assertEquals((await again.get("/dev/info")).head, 1, "a restart funds nothing again");
    await second.stop();
    await Deno.remove(dataDir, { recursive: true });
  },
);
