import { assert, assertEquals, assertFalse, assertGreater, assertNotEquals } from "@std/assert";
import { sha256 } from "@noble/hashes/sha2.js";
import { ProtoWriter } from "../../devchain/protobuf.ts";
import { recoverAddress } from "../../devchain/signature.ts";
import {
  chainTest,
  fundedWallet,
  hexOf,
  type Json,
  newWallet,
  receiptOf,
  type TestChain,
  tronwebOf,
  usdtBalance,
  withChain,
} from "./support/chain.ts";

const pay = (chain: TestChain, to: string, amount = "1") =>
  chain.post("/dev/transfer", { to, amount });

function assertHeaderHolds(block: Json): void {
  const raw = block.block_header.raw_data;
  const bytes = (hex: string) => Uint8Array.fromHex(hex);
  const header = new ProtoWriter().int(1, raw.timestamp).bytes(2, bytes(raw.txTrieRoot))
    .bytes(3, bytes(raw.parentHash)).int(7, raw.number ?? 0).bytes(9, bytes(raw.witness_address))
    .int(10, raw.version).finish();
  const digest = sha256(header);
  const height = (raw.number ?? 0).toString(16).padStart(16, "0");
  assertEquals(block.blockID, height + digest.toHex().slice(16));
  const producer = recoverAddress(digest, block.block_header.witness_signature);
  assertEquals(producer, raw.witness_address);
}

chainTest(
  "block ids name height and header, parents link, and times only grow",
  () =>
    withChain(async (chain) => {
      await pay(chain, newWallet().base58);
      await chain.mine(4);
      const { block: blocks } = await chain.post("/wallet/getblockbylimitnext", {
        startNum: 0,
        endNum: 5,
      });
      assertEquals(blocks.length, 5);
      for (const [height, block] of blocks.entries()) {
        assertHeaderHolds(block);
        assertEquals(block.block_header.raw_data.number ?? 0, height);
        if (height === 0) continue;
        const [raw, parent] = [block.block_header.raw_data, blocks[height - 1]];
        assertEquals(raw.parentHash, parent.blockID);
        assertGreater(raw.timestamp, parent.block_header.raw_data.timestamp);
      }
      assertFalse("number" in blocks[0].block_header.raw_data, "zero is absent");
    }),
);

chainTest(
  "an empty block has no transactions field and an empty list of receipts",
  () =>
    withChain(async (chain) => {
      await chain.mine();
      const block = await chain.post("/wallet/getblockbynum", { num: 1 });
      assertFalse("transactions" in block);
      assertEquals(block.block_header.raw_data.txTrieRoot, "0".repeat(64));
      assertEquals(await chain.post("/wallet/gettransactioninfobyblocknum", { num: 1 }), []);
      assertEquals(await chain.post("/wallet/gettransactioninfobyblocknum", { num: 0 }), {});
      assertEquals(await chain.post("/wallet/gettransactioninfobyblocknum", { num: 9 }), []);
      assertEquals(await chain.post("/wallet/getblockbynum", { num: 9 }), {});
      assertEquals(await chain.post("/wallet/getblockbyid", { value: "00".repeat(32) }), {});
      const limits = { startNum: 5, endNum: 9 };
      assertEquals(await chain.post("/wallet/getblockbylimitnext", limits), { block: [] });
      const tooMany = { startNum: 0, endNum: 101 };
      assertEquals(await chain.post("/wallet/getblockbylimitnext", tooMany), {});
    }),
);

chainTest(
  "a block's receipts are its transactions, in order, whichever way they are read",
  () =>
    withChain(async (chain) => {
      const payee = newWallet();
      for (let i = 1; i <= 5; i++) await pay(chain, payee.base58, `${i}`);
      await chain.mine();
      const block = await chain.get("/wallet/getnowblock");
      const receipts = await chain.get("/wallet/gettransactioninfobyblocknum?num=1");
      const ids = block.transactions.map((transaction: Json) => transaction.txID);
      assertEquals(receipts.map((receipt: Json) => receipt.id), ids);
      for (const [index, txid] of ids.entries()) {
        assertEquals(await receiptOf(chain, txid), receipts[index]);
        const alone = await chain.post("/wallet/gettransactionbyid", { value: txid });
        assertEquals(alone, block.transactions[index]);
        assertEquals(sha256(Uint8Array.fromHex(alone.raw_data_hex)).toHex(), txid);
      }
      assertEquals(await chain.get(`/wallet/getblockbyid?value=${block.blockID}`), block);
      const { transactions: _, ...header } = block;
      assertEquals(await chain.post("/wallet/getblock", { detail: false }), header);
      assertEquals(await chain.post("/wallet/getblock", { id_or_num: "1", detail: true }), block);
      assertEquals(await chain.post("/wallet/getblock", { id_or_num: block.blockID }), header);
      assertEquals(await chain.get("/wallet/getblockbylatestnum?num=1"), { block: [block] });
      assertEquals(await chain.get("/wallet/gettransactioncountbyblocknum?num=1"), { count: 5 });
    }),
);

chainTest(
  "a waiting transaction has no receipt and is listed as pending",
  () =>
    withChain(async (chain) => {
      const { txid } = await pay(chain, newWallet().base58);
      assertEquals(await receiptOf(chain, txid), {});
      assertEquals((await chain.post("/wallet/gettransactionbyid", { value: txid })).txID, txid);
      assertEquals(await chain.post("/walletsolidity/gettransactionbyid", { value: txid }), {});
      assertEquals(await chain.get("/wallet/gettransactionlistfrompending"), { txId: [txid] });
      assertEquals(await chain.get("/wallet/getpendingsize"), { pendingSize: 1 });
      await chain.mine();
      assertEquals(await chain.get("/wallet/gettransactionlistfrompending"), {});
      assertEquals(await chain.get(`/wallet/gettransactionfrompending?value=${txid}`), {});
    }),
);

chainTest(
  "the solid view knows nothing above the solid block, balances included",
  () =>
    withChain(async (chain) => {
      const payee = newWallet();
      const { txid } = await pay(chain, payee.base58, "3");
      const to = payee.base58;
      await chain.post("/dev/transfer", { to, amount: "2", currency: "TRX" });
      const solid = (path: string, body: unknown) => chain.post(`/walletsolidity/${path}`, body);
      for (let above = 3; above > 0; above--) {
        await chain.mine();
        assertEquals(await solid("gettransactioninfobyid", { value: txid }), {});
        assertEquals(await solid("gettransactionbyid", { value: txid }), {});
        assertEquals(await solid("getblockbynum", { num: 1 }), {});
        assertEquals(await solid("gettransactioninfobyblocknum", { num: 1 }), []);
        assertEquals(await solid("getaccount", { address: payee.address }), {});
        assertEquals(await usdtBalance(chain, payee.base58, "walletsolidity"), 0n);
        assertEquals(await usdtBalance(chain, payee.base58), 3_000_000n);
      }
      await chain.mine();
      assertEquals((await solid("gettransactioninfobyid", { value: txid })).id, txid);
      assertEquals((await solid("getblock", {})).block_header.raw_data.number, 1);
      assertEquals((await solid("getaccount", { address: payee.address })).balance, 2_000_000);
      assertEquals(await usdtBalance(chain, payee.base58, "walletsolidity"), 3_000_000n);
    }),
);

chainTest(
  "after a reorganisation the transactions return and land in a block with another id",
  () =>
    withChain(async (chain) => {
      const payee = newWallet();
      await chain.mine(3);
      const { txid } = await pay(chain, payee.base58, "3");
      await chain.mine(2);
      const before = await chain.post("/wallet/getblockbynum", { num: 4 });
      assertEquals(await chain.post("/dev/reorg", { depth: 2 }), { head: 3, solid: 2 });
      assertEquals(await receiptOf(chain, txid), {});
      assertEquals(await usdtBalance(chain, payee.base58), 0n, "the state went back as well");
      assertEquals(await chain.post("/wallet/getblockbynum", { num: 4 }), {});
      await chain.mine();
      const after = await chain.post("/wallet/getblockbynum", { num: 4 });
      assertNotEquals(after.blockID, before.blockID);
      assertEquals(after.transactions, before.transactions);
      assertEquals(await usdtBalance(chain, payee.base58), 3_000_000n);
    }),
);

chainTest(
  "a reorganisation with drop makes the transactions vanish, and they can be sent again",
  () =>
    withChain(async (chain) => {
      const payee = newWallet();
      const { txid } = await pay(chain, payee.base58);
      await chain.mine();
      const dropped = await chain.post("/wallet/gettransactionbyid", { value: txid });
      await chain.post("/dev/reorg", { depth: 1, drop: true });
      await chain.mine();
      assertEquals(await chain.post("/wallet/gettransactionbyid", { value: txid }), {});
      const again = await chain.post("/wallet/broadcasttransaction", dropped);
      assertEquals(again, { result: true, txid });
      await chain.mine();
      assertEquals(await usdtBalance(chain, payee.base58), 1_000_000n);
    }),
);

chainTest(
  "a reorganisation never touches the solid block, and finality never goes back",
  () =>
    withChain(async (chain) => {
      await chain.mine(10);
      const { status, json } = await chain.ask("/dev/reorg", { depth: 4 });
      assertEquals(status, 400);
      assert(json.error.includes("solid"), json.error);
      assertEquals(await chain.post("/dev/reorg", { depth: 3 }), { head: 7, solid: 7 });
      await chain.post("/dev/config", { solidLag: 20 });
      await chain.mine(2);
      assertEquals((await chain.get("/dev/info")).solid, 7);
      await chain.post("/dev/config", { solidLag: 0 });
      assertEquals((await chain.get("/dev/info")).solid, 9);
      assertEquals((await chain.ask("/dev/reorg", { depth: 1 })).status, 400);
    }),
);

chainTest(
  "blocks mined ahead carry block time forward, and transactions live by it",
  () =>
    withChain(async (chain) => {
      const payer = await fundedWallet(chain, { trx: "10" });
      const tronweb = await tronwebOf(chain, payer);
      const unsent = await tronweb.transactionBuilder.sendTrx(chain.faucetAddress, 1, payer.base58);
      await chain.post("/dev/mine", { blocks: 61, intervalMs: 1_000 });
      const late = await tronweb.trx.sendRawTransaction(await tronweb.trx.sign(unsent));
      assertEquals(String(late.code), "TRANSACTION_EXPIRATION_ERROR");
      const { timestamp } = (await chain.get("/wallet/getnowblock")).block_header.raw_data;
      assertGreater(timestamp, Date.now() + 50_000);
      const { txid } = await pay(chain, payer.base58);
      await chain.mine();
      assertEquals((await receiptOf(chain, txid)).receipt.result, "SUCCESS", "built on block time");
    }),
);

chainTest(
  "blocks come by themselves at the pace that was set, until it is set to nothing",
  () =>
    withChain(async (chain) => {
      const height = async () => (await chain.get("/dev/info")).head;
      const until = Date.now() + 60_000;
      while (await height() < 3 && Date.now() < until) await new Promise((go) => setTimeout(go, 5));
      assertGreater(await height(), 2);
      await chain.post("/dev/config", { blockMs: 0 });
      const stopped = await height();
      await new Promise((go) => setTimeout(go, 60));
      assertEquals(await height(), stopped);
    }, { blockMs: 10 }),
);

chainTest(
  "visible answers have base58 addresses, also of logs, and int64 can be asked as text",
  () =>
    withChain(async (chain) => {
      const payee = newWallet();
      const { txid } = await pay(chain, payee.base58);
      await chain.mine();
      const receipt = await chain.get(
        `/wallet/gettransactioninfobyid?value=${txid}&visible=true&int64_as_string=true`,
      );
      assertEquals(receipt.contract_address, chain.usdt);
      assertEquals(receipt.log[0].address, chain.usdt);
      assertEquals(receipt.blockNumber, "1");
      const plain = await receiptOf(chain, txid);
      assertEquals(plain.contract_address, hexOf(chain.usdt));
      assertEquals(plain.log[0].address, hexOf(chain.usdt).slice(2));
      const block = await chain.post("/wallet/getblockbynum", { num: 1, visible: true });
      const value = block.transactions[0].raw_data.contract[0].parameter.value;
      assertEquals(value.owner_address, chain.faucetAddress);
      const account = await chain.post("/wallet/getaccount", {
        address: chain.faucetAddress,
        visible: true,
      });
      assertEquals(account.address, chain.faucetAddress);
      const mixed = await chain.post("/wallet/getaccount", { address: chain.faucetAddress });
      assert(mixed.Error.includes("INVALID hex String"), "base58 needs visible");
    }),
);

chainTest(
  "unknown paths are 404 and wrong methods 405, as Jetty pages",
  () =>
    withChain(async (chain) => {
      const status = async (method: string, path: string) => {
        const response = await fetch(chain.url + path, { method });
        await response.body?.cancel();
        return response.status;
      };
      assertEquals(await status("GET", "/"), 404);
      assertEquals(await status("POST", "/wallet/nosuchpath"), 404);
      assertEquals(await status("POST", "/walletsolidity/broadcasttransaction"), 404);
      assertEquals(await status("GET", "/wallet/broadcasttransaction"), 405);
      assertEquals(await status("PUT", "/wallet/getnowblock"), 405);
      assertEquals(await status("POST", "/wallet/getnowblock"), 200);
      const broken = await fetch(chain.url + "/wallet/getblockbynum", {
        method: "POST",
        body: "{",
      });
      assert((await broken.json()).Error.startsWith("class "));
    }),
);
