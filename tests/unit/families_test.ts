import { assertEquals, assertThrows } from "@std/assert";
import { familyOf, FIRST_NETWORKS, SERVED_NETWORKS } from "../../chains/families.ts";
import { PROFILES } from "../../chains/profiles.ts";
import { TRX_DECIMALS } from "../../chains/tron/token_contracts.ts";
import { isExactIn, parseAmount } from "../../ledger/money/amount.ts";
import { NETWORKS } from "../../ledger/money/pair.ts";

Deno.test("every network of the interface has a profile, and those whose family exists are served", () => {
  assertEquals(Object.keys(PROFILES).toSorted(), [...NETWORKS].toSorted());
  assertEquals(SERVED_NETWORKS, ["TRX", "ETH", "BNB", "TRX_SHASTA", "SEP", "tBNB"]);
  assertEquals(FIRST_NETWORKS, ["TRX", "TRX_SHASTA"]);
  for (const network of NETWORKS) {
    if (SERVED_NETWORKS.includes(network)) {
      assertEquals(familyOf(network).name, PROFILES[network].family);
    } else assertThrows(() => familyOf(network), TypeError, network);
  }
});

Deno.test("a profile's amounts are exact in its coin, and its contracts are addresses of its family", () => {
  for (const [network, { coin, defaults }] of Object.entries(PROFILES)) {
    for (const text of [defaults.lowCoin, defaults.feeCap]) {
      const amount = parseAmount(text);
      assertEquals(
        amount !== null && amount > 0n && isExactIn(amount, coin.decimals),
        true,
        network,
      );
    }
  }
  for (const network of SERVED_NETWORKS) {
    for (const contract of Object.values(PROFILES[network].contracts)) {
      assertEquals(familyOf(network).address(contract), contract);
    }
  }
  assertEquals(PROFILES.TRX.coin.decimals, TRX_DECIMALS);
});
