import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { areDistinct, textKey } from "../../chains/text_key.ts";

/** Texts of which many share their ends, and thus their keys. */
const text = fc.tuple(
  fc.constantFrom("", "a", "aaaaa"),
  fc.string({ maxLength: 3 }),
  fc.constantFrom("", "bbbbb"),
)
  .map((parts) => parts.join(""));

Deno.test("texts are distinct just when a set of them is as large, also those that share a key", () => {
  assertEquals(textKey("aaaaa1bbbbb"), textKey("aaaaa2bbbbb"));
  assertEquals(areDistinct(["aaaaa1bbbbb", "aaaaa2bbbbb"]), true);
  assertEquals(areDistinct(["aaaaa1bbbbb", "aaaaa2bbbbb", "aaaaa1bbbbb"]), false);
  fc.assert(
    fc.property(fc.array(text, { maxLength: 12 }), (texts) => {
      assertEquals(areDistinct(texts), new Set(texts).size === texts.length);
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("equal texts have equal keys, whatever larger text they are a piece of", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 70 }), fc.string(), (one, around) => {
      assertEquals(
        textKey((around + one + around).slice(around.length, around.length + one.length)),
        textKey(one),
      );
    }),
  );
});

Deno.test("ids that look alike have keys of their own", () => {
  const ids = Array.from({ length: 10_000 }, (_, n) => `${n}`.padStart(64, "c"));
  assertEquals(new Set(ids.map(textKey)).size, ids.length);
});

Deno.test("ids that differ in one place near an end have keys of their own", () => {
  for (const place of [0, 1, 2, 3, 4, 59, 60, 61, 62, 63]) {
    const ids = Array.from(
      "0123456789abcdef",
      (digit) => "c".repeat(place) + digit.padEnd(64 - place, "c"),
    );
    assertEquals(new Set(ids.map(textKey)).size, ids.length, `${place}`);
  }
});
