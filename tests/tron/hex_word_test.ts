import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { isHexWord } from "../../chains/tron/hex_word.ts";

Deno.test("a word is 64 lower-case hex digits and nothing else", () => {
  const near = fc.string({ unit: fc.constantFrom(..."0123456789abcdefgAF :/@`"), maxLength: 66 });
  const exact = fc.string({
    unit: fc.constantFrom(..."0123456789abcdef"),
    minLength: 63,
    maxLength: 65,
  });
  fc.assert(
    fc.property(fc.oneof(near, exact), (text) => {
      assertEquals(isHexWord(text), /^[0-9a-f]{64}$/.test(text));
    }),
    { numRuns: 1_000 },
  );
  for (const odd of ["/", ":", "`", "g", "A", "é", "\0"]) {
    assertEquals(isHexWord(`${"0".repeat(63)}${odd}`), false);
  }
});
