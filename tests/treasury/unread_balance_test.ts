import { assertEquals } from "@std/assert";
import { HotLiquidity } from "../../actors/treasury/liquidity.ts";
import { treasuryActors } from "../../actors/treasury/treasury_actor.ts";
import type { TreasuryStatus } from "../../actors/treasury/treasury_deps.ts";
import { LowFunds } from "../../actors/treasury/funds.ts";
import { ChainUnavailable } from "../../chains/chain.ts";
import type { OutgoingAsset } from "../../ledger/money/pair.ts";
import { amount } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { nodeOf } from "../support/node_of.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("an asset whose balance cannot be read is unknown, and the liquidity of all others stays what it is", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const board = new HotLiquidity();
  let broken: readonly OutgoingAsset[] = [];
  let status: TreasuryStatus | undefined;
  const chain = paperChain("TRX", {
    balanceOf: (_address, asset) =>
      broken.includes(asset)
        ? Promise.reject(new ChainUnavailable("server-error", "OTHER_ERROR: CPU timeout"))
        : Promise.resolve(amount("1000")),
  });
  const actor = await treasuryActors(nodeOf(sql, chain, {
    // balances are read at every look
    pollMs: 0,
    onLook: (network, currencies) => board.begin(network, currencies),
    onLiquidity: (network, liquidity) => board.end(network, liquidity),
    onStatus: (_network, now) => status = now,
  })).activate("TRX");
  const left = () => [board.left("TRX", "USDT"), board.left("TRX", "USDC")];
  /** Payouts that are reserved, paid, and the wallet filled again. */
  const look = async (times: number) => {
    for (let n = 0; n < times; n++) {
      for (const currency of ["USDT", "USDC"] as const) {
        board.reserved([{ network: "TRX", currency, amount: amount("100") }]);
      }
      await actor.receive({ type: "poll" });
    }
  };
  await look(1);
  assertEquals(left(), [amount("1000"), amount("1000")]);
  for (
    const [assets, usdt, usdc, coin] of [
      [["USDC"], "1000", null, "1000"],
      [["native"], "1000", "1000", null],
      [["USDT", "USDC", "native"], null, null, null],
      [[], "1000", "1000", "1000"],
    ] as const
  ) {
    broken = assets;
    await look(12);
    const expected = [usdt, usdc].map((text) => text === null ? null : amount(text));
    assertEquals(left(), expected, `${assets} cannot be read`);
    if (assets.length === 3) continue;
    assertEquals(status?.coin?.balance ?? null, coin === null ? null : amount(coin));
    assertEquals(status?.funds.has("USDC"), usdc !== null);
    assertEquals(status?.unreadable, assets);
  }
});

Deno.test("an asset that was low stays low while its balance cannot be read", () => {
  const low = { native: amount("10"), USDT: amount("100"), USDC: amount("100") };
  const watch = new LowFunds("TRX", low, 0);
  const fund = (text: string) => ({ balance: amount(text), free: amount(text) });
  const short = { coin: fund("1"), funds: new Map([["USDC" as const, fund("5")]]) };
  const words = ["coin: 1 of at least 10", "USDC: 5 of at least 100"];
  assertEquals(watch.poll(short, 1), words);
  assertEquals(watch.poll({ coin: null, funds: new Map() }, 2), words);
  assertEquals(watch.poll({ coin: fund("20"), funds: new Map() }, 3), words.slice(1));
});
