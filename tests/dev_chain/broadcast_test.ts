import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { ProtoWriter } from "../../devchain/protobuf.ts";
import {
  bodyOf,
  broadcast,
  chainTest,
  fundedWallet,
  newWallet,
  receiptOf,
  sign,
  signed,
  sunBalance,
  textOf,
  trxTransfer,
  usdtTransfer,
  withChain,
} from "./support/chain.ts";

/** Asserts the shape of a refusal: status 200, hex message, no `result`. */
function assertRefused(answer: Record<string, string>, code: string, text: string): void {
  assertEquals(answer["code"], code);
  assertFalse("result" in answer, "a refusal has no result");
  assertMatch(answer["txid"] ?? "", /^[0-9a-f]{64}$/);
  assertStringIncludes(textOf(answer["message"] ?? ""), text);
}

chainTest(
  "every refusal of a broadcast has its code, a hex message and no result",
  () =>
    withChain(async (chain) => {
      const payer = await fundedWallet(chain, { trx: "10", usdt: "5" });
      const payee = newWallet();
      const good = await trxTransfer(chain, payer, chain.faucetAddress, 1);

      assertRefused(await broadcast(chain, sign(good, newWallet())), "SIGERROR", "is signed by");
      assertRefused(await broadcast(chain, { ...good, signatures: [] }), "SIGERROR", "miss sig");
      const twice = [...good.signatures, ...good.signatures];
      assertRefused(
        await broadcast(chain, { ...good, signatures: twice }),
        "SIGERROR",
        "count is 2",
      );
      const bad = ["ff".repeat(64) + "1b"];
      assertRefused(
        await broadcast(chain, { ...good, signatures: bad }),
        "SIGERROR",
        "Header byte",
      );

      // The node hashes raw_data, not raw_data_hex: a client whose forms differ signs something else.
      const body = bodyOf(good);
      const tampered = { ...good.raw, timestamp: 5 };
      assertRefused(
        await chain.post("/wallet/broadcasttransaction", { ...body, raw_data: tampered }),
        "SIGERROR",
        "is signed by",
      );

      const stranger = await trxTransfer(chain, payee, chain.faucetAddress, 1);
      assertRefused(await broadcast(chain, stranger), "CONTRACT_VALIDATE_ERROR", "does not exist");
      const tooMuch = await trxTransfer(chain, payer, chain.faucetAddress, 10_000_001);
      assertRefused(await broadcast(chain, tooMuch), "CONTRACT_VALIDATE_ERROR", "not sufficient");
      const toSelf = await trxTransfer(chain, payer, payer.base58, 1);
      assertRefused(await broadcast(chain, toSelf), "CONTRACT_VALIDATE_ERROR", "to yourself");
      const nothing = await trxTransfer(chain, payer, chain.faucetAddress, 0);
      assertRefused(await broadcast(chain, nothing), "CONTRACT_VALIDATE_ERROR", "greater than 0");
      const greedy = await usdtTransfer(chain, payer, payee.base58, 1n, {
        feeLimit: 15_000_000_001,
      });
      assertRefused(await broadcast(chain, greedy), "CONTRACT_VALIDATE_ERROR", "feeLimit must be");
      const noContract = await signed(chain, payer, "TriggerSmartContract", {
        contract_address: payee.address,
        data: "a9059cbb",
      });
      assertRefused(await broadcast(chain, noContract), "CONTRACT_VALIDATE_ERROR", "No contract");

      const late = await trxTransfer(chain, payer, chain.faucetAddress, 1, { expiresInMs: 0 });
      assertRefused(await broadcast(chain, late), "TRANSACTION_EXPIRATION_ERROR", "expired");
      const day = 24 * 60 * 60 * 1000;
      const far = await trxTransfer(chain, payer, chain.faucetAddress, 1, { expiresInMs: day + 1 });
      assertRefused(await broadcast(chain, far), "TRANSACTION_EXPIRATION_ERROR", "expired");

      const memo = { ...good.raw, data: "00".repeat(600 * 1024) };
      const big = await chain.post("/wallet/broadcasttransaction", { ...body, raw_data: memo });
      assertRefused(big, "SIGERROR", "is signed by");

      assertEquals(await broadcast(chain, good), { result: true, txid: good.txid });
      assertRefused(await broadcast(chain, good), "DUP_TRANSACTION_ERROR", "Dup transaction.");
      await chain.mine();
      assertRefused(await broadcast(chain, good), "DUP_TRANSACTION_ERROR", "Dup transaction.");
    }),
);

chainTest(
  "a transaction on a block of another branch is refused with TAPOS_ERROR",
  () =>
    withChain(async (chain) => {
      const payer = await fundedWallet(chain, { trx: "10" });
      await chain.mine();
      const orphan = await trxTransfer(chain, payer, chain.faucetAddress, 1);
      await chain.post("/dev/reorg", { depth: 1 });
      await chain.mine();
      assertRefused(await broadcast(chain, orphan), "TAPOS_ERROR", "Tapos check error.");
    }),
);

chainTest(
  "an account without free bandwidth and without TRX is refused with BANDWITH_ERROR",
  () =>
    withChain(async (chain) => {
      const payer = await fundedWallet(chain, { trx: "0.000003" });
      const answers = [];
      for (let amount = 1; amount <= 3; amount++) {
        const transfer = await trxTransfer(chain, payer, chain.faucetAddress, 1, {
          timestamp: amount,
        });
        answers.push(await broadcast(chain, transfer));
      }
      assertEquals(answers.map((answer) => answer.code), [undefined, undefined, "BANDWITH_ERROR"]);
      assertRefused(answers[2], "BANDWITH_ERROR", "Account resource insufficient error.");
    }),
);

chainTest(
  "money promised by waiting transactions cannot be promised again",
  () =>
    withChain(async (chain) => {
      const payer = await fundedWallet(chain, { trx: "10" });
      const first = await trxTransfer(chain, payer, chain.faucetAddress, 6_000_000);
      const second = await trxTransfer(chain, payer, chain.faucetAddress, 6_000_001);
      assertEquals((await broadcast(chain, first)).result, true);
      assertRefused(await broadcast(chain, second), "CONTRACT_VALIDATE_ERROR", "not sufficient");
    }),
);

chainTest(
  "a signed transaction over 500 KiB is refused with TOO_BIG_TRANSACTION_ERROR",
  () =>
    withChain(async (chain) => {
      const payer = await fundedWallet(chain, { trx: "10" });
      const data = "00".repeat(500 * 1024);
      const contract_address = payer.address;
      const big = await signed(chain, payer, "TriggerSmartContract", { contract_address, data });
      assertRefused(await broadcast(chain, big), "TOO_BIG_TRANSACTION_ERROR", "too big");
    }),
);

chainTest(
  "a contract type that this chain does not execute is refused, not misread",
  () =>
    withChain(async (chain) => {
      const payer = await fundedWallet(chain, { trx: "10" });
      const good = await trxTransfer(chain, payer, chain.faucetAddress, 1);
      const any = new ProtoWriter().bytes(1, new TextEncoder().encode("x")).finish();
      const vote = new ProtoWriter().int(1, 4).message(2, any).finish();
      const raw = new ProtoWriter().bytes(1, Uint8Array.fromHex(good.raw.ref_block_bytes ?? ""))
        .bytes(4, Uint8Array.fromHex(good.raw.ref_block_hash ?? ""))
        .int(8, good.raw.expiration ?? 0).message(11, vote).finish();
      const whole = new ProtoWriter().message(1, raw).message(2, new Uint8Array(65)).finish();
      const answer = await chain.post("/wallet/broadcasthex", { transaction: whole.toHex() });
      assertEquals(answer.result, false);
      const malformed = await chain.post("/wallet/broadcasthex", { transaction: "ffff" });
      assertStringIncludes(malformed.Error, "InvalidProtocolBufferException");
    }),
);

chainTest(
  "broadcasthex takes the protobuf form and says the message as text",
  () =>
    withChain(async (chain) => {
      const payer = await fundedWallet(chain, { trx: "10" });
      const transfer = await trxTransfer(chain, payer, chain.faucetAddress, 1);
      const hex = new ProtoWriter().message(1, Uint8Array.fromHex(transfer.rawHex))
        .message(2, Uint8Array.fromHex(transfer.signatures[0] ?? "")).finish().toHex();
      const first = await chain.post("/wallet/broadcasthex", { transaction: hex });
      assertEquals([first.result, first.code, first.txid], [true, "SUCCESS", transfer.txid]);
      assertEquals(JSON.parse(first.transaction).txID, transfer.txid);
      const second = await chain.post("/wallet/broadcasthex", { transaction: hex });
      assertEquals([second.result, second.code], [false, "DUP_TRANSACTION_ERROR"]);
      assertEquals(second.message, "Dup transaction.");
    }),
);

chainTest(
  "a visible broadcast has base58 addresses and its refusal is readable text",
  () =>
    withChain(async (chain) => {
      const payer = await fundedWallet(chain, { trx: "10" });
      const transfer = await trxTransfer(chain, payer, chain.faucetAddress, 1);
      const call = transfer.raw.contract[0];
      assert(call !== undefined);
      const value = { owner_address: payer.base58, to_address: chain.faucetAddress, amount: 1 };
      const contract = [{ ...call, parameter: { ...call.parameter, value } }];
      const body = { ...bodyOf(transfer), visible: true, raw_data: { ...transfer.raw, contract } };
      assertEquals((await chain.post("/wallet/broadcasttransaction", body)).txid, transfer.txid);
      const again = await chain.post("/wallet/broadcasttransaction", body);
      assertEquals(again.message, "Dup transaction.");
      const hexed = await chain.post("/wallet/broadcasttransaction", {
        ...bodyOf(transfer),
        visible: true,
      });
      assertStringIncludes(hexed.Error, "class ");
    }),
);

chainTest("2,000 waiting transactions make the node busy", () =>
  withChain(async (chain) => {
    const payer = await fundedWallet(chain, { trx: "1000" });
    const transfers = [];
    const first = await trxTransfer(chain, payer, chain.faucetAddress, 1);
    for (let i = 0; i < 2_000; i += 100) {
      const some = Array.from({ length: 100 }, () =>
        chain.post("/dev/transfer", {
          to: payer.base58,
          amount: "0.000001",
        }));
      transfers.push(...await Promise.all(some));
    }
    assertEquals(new Set(transfers.map((sent) => sent.txid)).size, 2_000);
    assertRefused(await broadcast(chain, first), "SERVER_BUSY", "Server busy.");
    await chain.mine();
    assertEquals((await broadcast(chain, first)).result, true, "room again after a block");
  }));

chainTest(
  "an expired transaction leaves the pool and is never included",
  () =>
    withChain(async (chain) => {
      const payer = await fundedWallet(chain, { trx: "10" });
      const before = await sunBalance(chain, payer.base58);
      const transfer = await trxTransfer(chain, payer, chain.faucetAddress, 1, { expiresInMs: 1 });
      assertEquals((await broadcast(chain, transfer)).result, true);
      // Its block would come later than the expiration: block time is at least the head's plus 1 ms,
      // and the clock has moved on.
      while (Date.now() <= (transfer.raw.expiration ?? 0)) {
        await new Promise((next) => setTimeout(next, 1));
      }
      await chain.mine(10);
      assertEquals(await receiptOf(chain, transfer.txid), {});
      assertEquals(await sunBalance(chain, payer.base58), before);
      assertEquals((await chain.get("/dev/info")).pending, 0);
      assertRefused(await broadcast(chain, transfer), "TRANSACTION_EXPIRATION_ERROR", "expired");
    }),
);
