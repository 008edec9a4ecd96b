import { assertEquals } from "@std/assert";
import { agreedRate } from "../../rates/agreed_rate.ts";

function agreed(...rates: string[]): string | undefined {
  return agreedRate(rates.map((rate, at) => ({ rate, at })))?.rate;
}

Deno.test("the rate is the median of the sources that agree", () => {
  assertEquals(agreed("7.1", "7.14", "7.15"), "7.14");
  assertEquals(agreed("7.1", "7.11"), "7.105");
  assertEquals(agreed("1", "1.000000000000000001"), "1.000000000000000001");
});

Deno.test("one source gone wrong moves nothing; two that disagree make no rate", () => {
  assertEquals(agreed("7.1", "7.12", "71"), "7.11");
  assertEquals(agreed("7.1", "7.12", "0.000001"), "7.11");
  assertEquals(agreed("7.1", "7.4"), undefined);
  assertEquals(agreed("1", "2", "3"), undefined);
  assertEquals(agreed("7.1"), undefined);
  assertEquals(agreed(), undefined);
});

Deno.test("a rate is as old as the oldest quote it is made of", () => {
  const quotes = [{ rate: "1", at: 30 }, { rate: "1", at: 10 }, { rate: "9", at: 1 }];
  assertEquals(agreedRate(quotes)?.at, 10);
});
