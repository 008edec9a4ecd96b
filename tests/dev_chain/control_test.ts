import { assertEquals, assertNotEquals } from "@std/assert";
import { TRANSFER_TOPIC } from "../../devchain/contract.ts";
import { readOptions } from "../../app/commands/dev_chain.ts";
import {
  chainTest,
  fundedWallet,
  hexOf,
  included,
  type Json,
  newWallet,
  receiptOf,
  signed,
  sunBalance,
  usdtBalance,
  withChain,
} from "./support/chain.ts";
import { encodeScript } from "../../devchain/script.ts";

const ERC20_AMOUNT = (log: Json) => BigInt("0x" + log.data);

chainTest(
  "the faucet pays USDT and TRX by real transactions that live 15 s or as long as asked",
  () =>
    withChain(async (chain) => {
      const payee = newWallet();
      const to = payee.base58;
      const sent = await chain.post("/dev/transfer", { to, amount: "0.000001", currency: "USDT" });
      const trx = await chain.post("/dev/transfer", {
        to,
        amount: "2.5",
        currency: "TRX",
        expiresInMs: 90_000,
      });
      assertEquals(Object.keys(sent), ["txid"]);
      const lifetime = async (txid: string) => {
        const { raw_data } = await chain.post("/wallet/gettransactionbyid", { value: txid });
        return raw_data.expiration - raw_data.timestamp;
      };
      const near = (actual: number, expected: number) => Math.abs(actual - expected) < 1_000;
      assertEquals(near(await lifetime(sent.txid), 15_000), true);
      assertEquals(near(await lifetime(trx.txid), 90_000), true);
      await chain.mine();
      assertEquals(await usdtBalance(chain, to), 1n);
      assertEquals(await sunBalance(chain, to), 2_500_000);
    }),
);

chainTest("two equal payments at once are two transactions", () =>
  withChain(async (chain) => {
    const body = { to: newWallet().base58, amount: "1" };
    const pay = () => chain.post("/dev/transfer", body);
    const [first, second] = await Promise.all([pay(), pay()]);
    assertNotEquals(first.txid, second.txid);
    await chain.mine();
    assertEquals(await usdtBalance(chain, body.to), 2_000_000n);
  }));

chainTest(
  "control requests that make no sense are 400 with a reason",
  () =>
    withChain(async (chain) => {
      const to = newWallet().base58;
      const bad: [string, unknown][] = [
        ["/dev/transfer", {}],
        ["/dev/transfer", { to: "nowhere", amount: "1" }],
        ["/dev/transfer", { to: hexOf(to), amount: "1" }],
        ["/dev/transfer", { to, amount: "-1" }],
        ["/dev/transfer", { to, amount: "1.0000001" }],
        ["/dev/transfer", { to, amount: "1e3" }],
        ["/dev/transfer", { to, amount: "1", currency: "DOGE" }],
        ["/dev/transfer", { to, amount: "0", currency: "TRX" }],
        ["/dev/transfer", { to, amount: "1", expiresInMs: 0 }],
        ["/dev/transfer", { to, amount: "9999999999999", currency: "TRX" }],
        ["/dev/mine", { blocks: 0 }],
        ["/dev/mine", { blocks: 1.5 }],
        ["/dev/mine", { blocks: "1" }],
        ["/dev/reorg", { depth: 1 }],
        ["/dev/reorg", { depth: -1 }],
        ["/dev/config", { blockMs: -1 }],
        ["/dev/config", { solidLag: "3" }],
        ["/dev/config", []],
        ["/dev/token", { symbol: "" }],
        ["/dev/emit", { steps: [] }],
        ["/dev/emit", { steps: [{ do: "steal" }] }],
      ];
      for (const [path, body] of bad) {
        const { status, json } = await chain.ask(path, body);
        assertEquals(
          [status, typeof json.error],
          [400, "string"],
          `${path} ${JSON.stringify(body)}`,
        );
      }
      const broken = await fetch(chain.url + "/dev/mine", { method: "POST", body: "{" });
      assertEquals([broken.status, typeof (await broken.json()).error], [400, "string"]);
      assertEquals((await chain.ask("/dev/nothing")).status, 404);
      const read = await fetch(chain.url + "/dev/mine");
      await read.body?.cancel();
      assertEquals(read.status, 405);
      assertEquals((await chain.get("/dev/info")).head, 0, "nothing happened");
    }),
);

chainTest(
  "info names the network, the token contract and the faucet",
  () =>
    withChain(async (chain) => {
      const { network, usdt, faucetAddress, blockMs, solidLag, head, solid } = await chain.get(
        "/dev/info",
      );
      assertEquals(
        { network, usdt, faucetAddress, blockMs, solidLag, head, solid },
        {
          network: "TRX",
          usdt: chain.usdt,
          faucetAddress: chain.faucetAddress,
          blockMs: 0,
          solidLag: 3,
          head: 0,
          solid: 0,
        },
      );
    }),
);

chainTest(
  "one emitted call can carry several transfers, fake events and events of nothing",
  () =>
    withChain(async (chain) => {
      const payee = newWallet();
      const fake = newWallet();
      const to = payee.base58;
      const { txid } = await chain.post("/dev/emit", {
        steps: [
          { do: "transfer", to, amount: "1000000" },
          { do: "event", token: fake.base58, from: chain.faucetAddress, to, amount: "5000000" },
          { do: "event", from: newWallet().base58, to, amount: "0" },
          { do: "log", address: chain.usdt, topics: [TRANSFER_TOPIC], data: "" },
          { do: "transfer", to, amount: "2000000" },
        ],
      });
      await chain.mine();
      const receipt = await receiptOf(chain, txid);
      assertEquals(receipt.receipt.result, "SUCCESS");
      assertNotEquals(receipt.contract_address, hexOf(chain.usdt), "a contract of its own");
      assertEquals(receipt.log.length, 5);
      assertEquals(receipt.log[1].address, fake.address.slice(2));
      assertEquals([0, 1, 2, 4].map((index) => ERC20_AMOUNT(receipt.log[index])), [
        1_000_000n,
        5_000_000n,
        0n,
        2_000_000n,
      ]);
      assertEquals("data" in receipt.log[3], false, "empty data is absent");
      assertEquals(await usdtBalance(chain, to), 3_000_000n, "only real transfers moved money");
    }),
);

chainTest(
  "an emitted call that reverts moves nothing and logs nothing",
  () =>
    withChain(async (chain) => {
      const to = newWallet().base58;
      const steps = [{ do: "transfer", to, amount: "1000000" }, { do: "revert" }];
      const { txid } = await chain.post("/dev/emit", { steps });
      await chain.mine();
      const receipt = await receiptOf(chain, txid);
      assertEquals(receipt.receipt.result, "REVERT");
      assertEquals("log" in receipt, false);
      assertEquals(await usdtBalance(chain, to), 0n);
    }),
);

chainTest("nobody but the faucet can run a script", () =>
  withChain(async (chain) => {
    const stranger = await fundedWallet(chain, { trx: "100" });
    const { txid } = await chain.post("/dev/emit", { steps: [{ do: "revert" }] });
    await chain.mine();
    const { contract_address } = await receiptOf(chain, txid);
    const data = encodeScript([{
      do: "event",
      token: hexOf(chain.usdt),
      from: stranger.address,
      to: stranger.address,
      amount: "1",
    }]);
    const value = { contract_address, data };
    const call = await signed(chain, stranger, "TriggerSmartContract", value, {
      feeLimit: 50_000_000,
    });
    assertEquals((await included(chain, call)).receipt.result, "REVERT");
  }));

chainTest(
  "a further token can be made and paid out, and its fee takes from what arrives",
  () =>
    withChain(async (chain) => {
      const to = newWallet().base58;
      const token = await chain.post("/dev/token", {
        symbol: "FEE",
        decimals: 2,
        supply: "100000",
        feeBasisPoints: 100,
      });
      await chain.mine();
      const { txid } = await chain.post("/dev/transfer", {
        to,
        amount: "10.50",
        currency: token.address,
      });
      await chain.mine();
      const receipt = await receiptOf(chain, txid);
      assertEquals(receipt.contractResult, ["1".padStart(64, "0")]);
      assertEquals(receipt.log.map(ERC20_AMOUNT), [1_040n, 10n]);
      const contract = await chain.post("/wallet/getcontract", { value: hexOf(token.address) });
      assertEquals(contract.name, "FEE");
      assertEquals(await chain.post("/wallet/getcontract", { value: hexOf(to) }), {});
    }),
);

Deno.test("the command line is read strictly", () => {
  assertEquals(readOptions(["--network", "TRX_SHASTA", "--port", "0", "--data", "x"]), {
    network: "TRX_SHASTA",
    port: 0,
    dataDir: "x",
    blockMs: 1_000,
    solidLag: 3,
  });
  for (
    const args of [["--port", "x"], ["--port", "70000"], ["--network", "NONE"], ["--nonsense"]]
  ) {
    let message = "";
    try {
      readOptions(args);
    } catch (error) {
      message = String(error);
    }
    assertNotEquals(message, "", args.join(" "));
  }
});
