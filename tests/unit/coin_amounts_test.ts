import { assertEquals } from "@std/assert";
import { z } from "zod";
import { TREASURY, treasuryFaults, treasuryOf } from "../../app/config/treasury.ts";
import { PROFILES } from "../../chains/profiles.ts";
import { amountOf, toTokenUnits } from "../../ledger/money/amount.ts";
import type { Network } from "../../ledger/money/pair.ts";

/** A text, and the coin's smallest units that it is; null: the coin has no such amount. */
const AMOUNTS: readonly (readonly [Network, string, bigint | null])[] = [
  ["TRX", "200", 200_000_000n],
  ["TRX", "0.000001", 1n],
  ["TRX", "0.0000010", 1n],
  ["TRX", "0.0000001", null],
  ["SOL", "0.000000001", 1n],
  ["SOL", "0.0000000001", null],
  ["ETH", "0.000000000000000001", 1n],
  ["ETH", "0.02", 20_000_000_000_000_000n],
  ["BNB", "999999999999999.999999999999999999", 999_999_999_999_999_999_999_999_999_999_999n],
];

Deno.test("an amount of coin is kept to the coin's last decimal, and one with more is refused", () => {
  for (const [network, text, units] of AMOUNTS) {
    const { symbol, decimals } = PROFILES[network].coin;
    const keys = ["LOW_COIN", "FEE_CAP", "FEES_PER_DAY"];
    const given = Object.fromEntries(keys.map((key) => [`${network}_${key}`, text]));
    const faults = treasuryFaults(given, network, false);
    if (units === null) {
      const why = `has more than the ${decimals} decimals of ${symbol}`;
      assertEquals(faults, keys.map((key) => `${network}_${key} ${why}`), text);
      continue;
    }
    assertEquals(faults, [], text);
    const values = z.object(TREASURY).parse({ LOW_COIN: text, FEE_CAP: text, FEES_PER_DAY: text });
    const { feeCap, feesPerDay, low } = treasuryOf(values, network);
    for (const kept of [feeCap, low.coin, feesPerDay ?? ""]) {
      assertEquals(toTokenUnits(amountOf(kept), decimals), units, text);
    }
  }
});
