import { assert, assertEquals } from "@std/assert";
import { ChainUnavailable } from "../../chains/chain.ts";
import { namesBlock } from "../../chains/tron/read/constant_call.ts";
import { formatAmount } from "../../ledger/money/amount.ts";
import { chainTest, newWallet, withChain } from "../dev_chain/support/chain.ts";
import { adapterOver } from "../watcher/support/watch.ts";

const RAW = (ref_block_bytes: string, ref_block_hash: string) => ({
  transaction: { raw_data: { ref_block_bytes, ref_block_hash } },
});

Deno.test("an answer names the block of its state, also where the last digits of heights begin anew", () => {
  const hash = "0".repeat(16) + "0123456789abcdef" + "f".repeat(32);
  const names = (height: number, low: string, part = "0123456789abcdef") =>
    namesBlock(RAW(low, part), { height, hash });
  assertEquals(names(0x1_0010, "0010"), true);
  assertEquals(names(0x1_0010, "0010", "f".repeat(16)), false, "another block of that height");
  assertEquals([names(0x1_0010, "0011"), names(0x1_0010, "000f")], [true, false]);
  assertEquals([names(0x1_ffff, "0000"), names(0x2_0000, "ffff")], [true, false]);
  const silent = { transaction: {} };
  assertEquals(namesBlock(silent, { height: 1, hash }), null);
});

for (const asset of ["USDT", "native"] as const) {
  chainTest(
    `of two nodes behind one address, of which one lags, no ${asset} balance from before is believed`,
    () =>
      withChain(async (chain) => {
        const adapter = adapterOver([chain.url], chain.usdt);
        const { base58: address } = newWallet();
        const currency = asset === "native" ? "TRX" : "USDT";
        let held = 0;
        let read = 0;
        for (let i = 0; i < 12; i++) {
          await chain.post("/dev/config", { faults: [] });
          await chain.post("/dev/transfer", { to: address, amount: "5", currency });
          held += 5;
          await chain.mine(4);
          const checkpoint = await adapter.solid();
          await chain.post("/dev/config", {
            faults: [{ path: "/walletsolidity/*", kind: "two-nodes", behind: 4 }],
          });
          // whichever of the two is the next to answer
          if (i % 2 === 1) await chain.post("/walletsolidity/getblock");
          try {
            const found = await adapter.balanceOf(address, asset, undefined, checkpoint);
            assertEquals(formatAmount(found), String(held));
            read++;
          } catch (error) {
            if (!(error instanceof ChainUnavailable)) throw error;
          }
        }
        assertEquals(adapter.nodes.states.map(({ state }) => state), ["ready"]);
        // the coin's balance does not name its block: it waits for the two to agree
        if (asset === "USDT") assert(read > 0, "a token's balance is read all the same");
        await chain.mine(8);
        const checkpoint = { height: 1, hash: await adapter.block(1, "solid") };
        assert(checkpoint.hash.kind === "block");
        const old = { height: 1, hash: checkpoint.hash.block.hash };
        assertEquals(
          formatAmount(await adapter.balanceOf(address, asset, undefined, old)),
          String(held),
        );
      }),
  );
}
