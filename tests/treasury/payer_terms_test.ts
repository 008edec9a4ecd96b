/** Terms of deposit addresses that send their own sweeps: no more than the coin that each has. */

import { assertEquals, assertRejects } from "@std/assert";
import { PayerTerms } from "../../actors/treasury/payer_terms.ts";
import { ChainUnavailable } from "../../chains/chain.ts";
import type { LaneAsk } from "../../chains/lane.ts";
import { type Amount, formatAmount } from "../../ledger/money/amount.ts";
import { amount } from "../support/books.ts";

/** Terms that tell the coin that bounds them. */
function bounded(coin: string): LaneAsk & { readonly coin: string } {
  return {
    coin,
    isPassedOver: () => true,
    replacing: () => null,
    cancelling: () => null,
    within: (less: Amount) => bounded(formatAmount(less)),
  };
}

function rig(
  coins: Readonly<Record<string, string | undefined>>,
  answered: (address: string) => Promise<void> = () => Promise.resolve(),
) {
  let now = 0;
  const asked: string[] = [];
  const chain = {
    network: "ETH" as const,
    hotWallet: "hot-wallet",
    deriveAddress: (index: number) => `address-${index}`,
    balanceOf: async (address: string) => {
      asked.push(address);
      await answered(address);
      const coin = coins[address];
      if (coin === undefined) throw new ChainUnavailable("timeout", "Cannot read");
      return amount(coin);
    },
  };
  const terms = new PayerTerms(chain, 100, () => now);
  return {
    asked,
    pass: (ms: number) => now += ms,
    async of(...payers: readonly string[]) {
      const found = await terms.of(bounded("all"), new Set(payers), payers);
      return [...found].map(([payer, ask]) => `${payer} ${(ask as { coin?: string }).coin}`);
    },
  };
}

Deno.test("an address offers no more than its coin", async () => {
  const { of, asked } = rig({ "address-1": "0.5" });
  assertEquals(await of("1"), ["1 0.5"]);
  assertEquals(asked, ["address-1"]);
});

Deno.test("coin that is told late holds no turn up, is asked for once, and counts in a later turn", async () => {
  const told = Promise.withResolvers<void>();
  const { of, asked } = rig({ "address-1": "0.5" }, () => told.promise);
  assertEquals([await of("1"), await of("1")], [[], []]);
  told.resolve();
  assertEquals([await of("1"), asked], [["1 0.5"], ["address-1"]]);
});

Deno.test("a bug in a late answer is told by the turn that comes next", async () => {
  const told = Promise.withResolvers<void>();
  const { of } = rig({ "address-1": "0.5" }, () => told.promise);
  assertEquals(await of("1"), []);
  told.reject(new TypeError("Cannot read properties of undefined"));
  await assertRejects(() => of("1"), TypeError);
});

Deno.test("an address whose coin cannot be read has no terms, and the others have theirs", async () => {
  const { of } = rig({ "address-2": "2" });
  assertEquals(await of("1", "2"), ["2 2"]);
});

Deno.test("coin is asked for once in a while, of so many addresses in a turn", async () => {
  const coins = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`address-${n}`, "1"]));
  const { of, asked, pass } = rig(coins);
  const payers = Array.from({ length: 40 }, (_, n) => String(n));
  assertEquals((await of(...payers)).length, 25);
  assertEquals((await of(...payers)).length, 40);
  await of(...payers);
  assertEquals(asked.length, 40);
  pass(100);
  await of("7");
  assertEquals(asked.length, 41);
});

Deno.test("of many addresses each has its turn, also where some are answered for by no node", async () => {
  const names = Array.from({ length: 90 }, (_, n) => String(n));
  const coins = Object.fromEntries(names.slice(30).map((name) => [`address-${name}`, "1"]));
  const { of, asked, pass } = rig(coins);
  const served = new Set<string>();
  for (let turn = 0; turn < 4; turn++) {
    for (const found of await of(...names)) served.add(found);
    // what was read is not fresh any more in the next turn
    pass(100);
  }
  assertEquals(new Set(asked).size, 90);
  assertEquals(served.size, 60);
});
