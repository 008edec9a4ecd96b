import { assertEquals, assertFalse, assertGreater } from "@std/assert";
import {
  broadcast,
  chainTest,
  fundedWallet,
  hexOf,
  included,
  newWallet,
  receiptOf,
  signed,
  sunBalance,
  textOf,
  tronwebOf,
  trxTransfer,
  usdtBalance,
  usdtTransfer,
  withChain,
} from "./support/chain.ts";

const ENERGY_PRICE = 100;

chainTest(
  "a transfer to a new holder costs 130,285 energy and one to a holder 64,285",
  () =>
    withChain(async (chain) => {
      const payer = await fundedWallet(chain, { trx: "100", usdt: "5" });
      const payee = newWallet();
      let balance = await sunBalance(chain, payer.base58);
      for (const [index, energy] of [130_285, 64_285].entries()) {
        const transfer = await usdtTransfer(chain, payer, payee.base58, 1_000_000n);
        const { receipt, fee } = await included(chain, transfer);
        assertEquals(receipt.energy_usage_total, energy);
        assertEquals(receipt.energy_fee, energy * ENERGY_PRICE);
        assertFalse("energy_usage" in receipt, "nothing is staked");
        // The first one fits into the free 600 bytes of the day, the second does not.
        assertEquals("net_usage" in receipt, index === 0);
        assertEquals("net_fee" in receipt, index === 1);
        assertEquals(fee, receipt.energy_fee + (receipt.net_fee ?? 0));
        const after = await sunBalance(chain, payer.base58);
        assertEquals(balance - after, fee, "exactly the fee left the account");
        balance = after;
      }
    }),
);

chainTest(
  "a byte beyond the free bandwidth costs 1,000 sun, the result's room included",
  () =>
    withChain(async (chain) => {
      const payer = await fundedWallet(chain, { trx: "100", usdt: "5" });
      await included(chain, await usdtTransfer(chain, payer, chain.faucetAddress, 1n));
      const second = await usdtTransfer(chain, payer, chain.faucetAddress, 2n);
      const { receipt } = await included(chain, second);
      assertEquals(receipt.net_fee, (second.size + 67 + 64) * 1_000);
    }),
);

chainTest(
  "the estimate of a transfer is what it then costs, for both kinds of receiver",
  () =>
    withChain(async (chain) => {
      const payer = await fundedWallet(chain, { trx: "100", usdt: "5" });
      const tronweb = await tronwebOf(chain, payer);
      for (const to of [newWallet().base58, chain.faucetAddress]) {
        const call = [{ type: "address", value: to }, { type: "uint256", value: "1" }];
        const tried = await tronweb.transactionBuilder.triggerConstantContract(
          chain.usdt,
          "transfer(address,uint256)",
          {},
          call,
          payer.base58,
        );
        const estimated = await tronweb.transactionBuilder.estimateEnergy(
          chain.usdt,
          "transfer(address,uint256)",
          {},
          call,
          payer.base58,
        );
        const { receipt } = await included(chain, await usdtTransfer(chain, payer, to, 1n));
        assertEquals(tried.energy_used, receipt.energy_usage_total);
        assertEquals(estimated.energy_required, receipt.energy_usage_total);
        assertGreater(Number(tried.energy_penalty), 0);
      }
      const refused = await chain.post("/wallet/triggerconstantcontract", {
        owner_address: newWallet().address,
        contract_address: hexOf(chain.usdt),
        function_selector: "transfer(address,uint256)",
        parameter: payer.address.slice(2).padStart(64, "0") + "1".padStart(64, "0"),
      });
      assertEquals(textOf(refused.result.message), "REVERT opcode executed");
      assertEquals(refused.transaction.ret, [{ ret: "FAILED" }]);
      const missing = await chain.post("/wallet/triggerconstantcontract", {
        owner_address: payer.address,
        contract_address: payer.address,
        function_selector: "decimals()",
      });
      assertEquals(textOf(missing.result.message), "Smart contract is not exist.");
      assertFalse("result" in missing.result);
    }),
);

chainTest(
  "a transfer beyond the balance is included as REVERT, burns energy and moves nothing",
  () =>
    withChain(async (chain) => {
      const payer = await fundedWallet(chain, { trx: "100", usdt: "5" });
      const payee = newWallet();
      const transfer = await usdtTransfer(chain, payer, payee.base58, 5_000_001n);
      const receipt = await included(chain, transfer);
      assertEquals(receipt.result, "FAILED");
      assertEquals(receipt.receipt.result, "REVERT");
      assertEquals(textOf(receipt.resMessage), "REVERT opcode executed");
      assertGreater(receipt.receipt.energy_fee, 0);
      assertFalse("log" in receipt);
      const found = await chain.post("/wallet/gettransactionbyid", { value: transfer.txid });
      assertEquals(found.ret, [{ contractRet: "REVERT" }]);
      assertEquals(await usdtBalance(chain, payer.base58), 5_000_000n);
      assertEquals(await usdtBalance(chain, payee.base58), 0n);
    }),
);

chainTest(
  "a fee limit that is too small burns itself as OUT_OF_ENERGY and moves nothing",
  () =>
    withChain(async (chain) => {
      const payer = await fundedWallet(chain, { trx: "100", usdt: "5" });
      const before = await sunBalance(chain, payer.base58);
      const feeLimit = 130_285 * ENERGY_PRICE - ENERGY_PRICE;
      const payee = newWallet();
      const receipt = await included(
        chain,
        await usdtTransfer(chain, payer, payee.base58, 1n, { feeLimit }),
      );
      assertEquals(receipt.receipt.result, "OUT_OF_ENERGY");
      assertEquals(receipt.result, "FAILED");
      assertEquals(receipt.fee, feeLimit);
      assertEquals(await sunBalance(chain, payer.base58), before - feeLimit);
      assertEquals(await usdtBalance(chain, payee.base58), 0n);
      const enough = { feeLimit: feeLimit + ENERGY_PRICE };
      const retry = await usdtTransfer(chain, payer, payee.base58, 1n, enough);
      assertEquals((await included(chain, retry)).receipt.result, "SUCCESS");
    }),
);

chainTest(
  "a payer without TRX for the energy runs out of energy",
  () =>
    withChain(async (chain) => {
      const payer = await fundedWallet(chain, { trx: "1", usdt: "5" });
      const transfer = await usdtTransfer(chain, payer, chain.faucetAddress, 1n);
      const receipt = await included(chain, transfer);
      assertEquals(receipt.receipt.result, "OUT_OF_ENERGY");
      assertEquals(receipt.fee, 1_000_000);
      assertEquals(await sunBalance(chain, payer.base58), 0);
    }),
);

chainTest(
  "delegated energy pays for a sweep and comes back used",
  () =>
    withChain(async (chain) => {
      const treasury = await fundedWallet(chain, { trx: "20000" });
      const deposit = await fundedWallet(chain, { trx: "1", usdt: "5" });
      const tronweb = await tronwebOf(chain, treasury);
      const build = tronweb.transactionBuilder;
      const send = async (unsigned: Parameters<typeof tronweb.trx.sign>[0]) => {
        if (typeof unsigned === "string") throw new TypeError("a transaction is needed");
        const answer = await tronweb.trx.sendRawTransaction(await tronweb.trx.sign(unsigned));
        assertEquals(answer.result, true, JSON.stringify(answer));
        await chain.mine();
      };
      await send(await build.freezeBalanceV2(10_000_000_000, "ENERGY", treasury.base58));
      const stranger = newWallet();
      const early = await signed(chain, treasury, "DelegateResourceContract", {
        resource: "ENERGY",
        balance: 1_000_000,
        receiver_address: stranger.address,
      });
      const refused = await broadcast(chain, early);
      assertEquals(
        refused.code,
        "CONTRACT_VALIDATE_ERROR",
        "a fresh address cannot be delegated to",
      );

      await send(
        await build.delegateResource(8_000_000_000, deposit.base58, "ENERGY", treasury.base58),
      );
      const resources = await tronweb.trx.getAccountResources(deposit.base58);
      assertGreater(resources.EnergyLimit, 64_285);
      const loan = await chain.post("/wallet/getdelegatedresourcev2", {
        fromAddress: treasury.address,
        toAddress: deposit.address,
      });
      assertEquals(loan.delegatedResource[0].frozen_balance_for_energy, 8_000_000_000);

      const { receipt } = await included(
        chain,
        await usdtTransfer(chain, deposit, chain.faucetAddress, 5_000_000n),
      );
      assertEquals(receipt.energy_usage, 64_285);
      assertFalse("energy_fee" in receipt, "nothing was burned");

      await send(
        await build.undelegateResource(8_000_000_000, deposit.base58, "ENERGY", treasury.base58),
      );
      const used = await tronweb.trx.getAccountResources(treasury.base58);
      assertGreater(used.EnergyUsed, 64_000);
      const most = await chain.post("/wallet/getcandelegatedmaxsize", {
        owner_address: treasury.address,
        type: 1,
      });
      assertGreater(
        10_000_000_000 - 6_000_000_000,
        most.max_size,
        "used energy cannot be lent again",
      );
      assertEquals(
        await chain.post("/wallet/getdelegatedresourcev2", {
          fromAddress: treasury.address,
          toAddress: deposit.address,
        }),
        {},
      );
    }),
);

chainTest("unstaked TRX waits 14 days of block time", () =>
  withChain(async (chain) => {
    const owner = await fundedWallet(chain, { trx: "100" });
    const stake = { frozen_balance: 50_000_000, resource: "ENERGY" };
    await included(chain, await signed(chain, owner, "FreezeBalanceV2Contract", stake));
    const unstake = { unfreeze_balance: 50_000_000, resource: "ENERGY" };
    await included(chain, await signed(chain, owner, "UnfreezeBalanceV2Contract", unstake));
    const withdraw = () => signed(chain, owner, "WithdrawExpireUnfreezeContract", {});
    assertEquals((await broadcast(chain, await withdraw())).code, "CONTRACT_VALIDATE_ERROR");
    const day = 24 * 60 * 60 * 1000;
    await chain.post("/dev/mine", { blocks: 15, intervalMs: day });
    await included(chain, await withdraw());
    assertEquals(await sunBalance(chain, owner.base58), 100_000_000);
  }));

chainTest("the fees the node announces are the fees it charges", () =>
  withChain(async (chain) => {
    const payer = await fundedWallet(chain, { trx: "100" });
    const parameters = await (await tronwebOf(chain, payer)).trx.getChainParameters();
    const value = (key: string) => parameters.find((entry) => entry.key === key)?.value;
    assertEquals(value("getEnergyFee"), ENERGY_PRICE);
    assertEquals(value("getTransactionFee"), 1_000);
    assertEquals(value("getFreeNetLimit"), 600);
    const transfer = await trxTransfer(chain, payer, newWallet().base58, 1);
    await included(chain, transfer);
    const { fee } = await receiptOf(chain, transfer.txid);
    const create = Number(value("getCreateAccountFee"));
    assertEquals(fee, Number(value("getCreateNewAccountFeeInSystemContract")) + create);
  }));
