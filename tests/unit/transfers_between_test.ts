import { assertEquals } from "@std/assert";
import { type Ends, transfersBetween } from "../../chains/transfers_between.ts";
import { otherwise, spelledOnce, TWO_SPELLINGS } from "../support/two_spellings.ts";

const [A, B, C] = [1, 2, 3].map(spelledOnce) as [string, string, string];

function transfer(name: string, from: string, to: string, currency: "USDT" | "USDC" = "USDT") {
  return { name, currency, eventFrom: from, eventTo: to };
}

const TRANSFERS = [
  transfer("a to b", A, B),
  transfer("a to b in USDC", A, B, "USDC"),
  transfer("b to a", B, A),
  transfer("a to c", A, C),
  transfer("a to a", A, A),
];

const CASES: readonly (readonly [string, Ends, readonly string[]])[] = [
  ["both ends", { currency: "USDT", from: A, to: B }, ["a to b"]],
  ["another currency", { currency: "USDC", from: A, to: B }, ["a to b in USDC"]],
  ["only where it goes", { currency: "USDT", to: A }, ["b to a", "a to a"]],
  ["only where it comes from", { currency: "USDT", from: A }, ["a to b", "a to c", "a to a"]],
  ["ends that none has", { currency: "USDT", from: B, to: C }, []],
];

Deno.test("a transfer is found by its ends, whichever spelling they are named in", () => {
  for (const [name, ends, expected] of CASES) {
    const { from, to, currency } = ends;
    const spelled = {
      currency,
      ...(from === undefined ? {} : { from: otherwise(from) }),
      ...(to === undefined ? {} : { to: otherwise(to) }),
    };
    for (const asked of [ends, spelled]) {
      const found = transfersBetween(TWO_SPELLINGS, TRANSFERS, asked);
      assertEquals(found.map((one) => one.name), expected, name);
    }
  }
});
