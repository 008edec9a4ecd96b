import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { DEEPEST, hasInexactNumber, parseStrictJson } from "../../api/http/strict_json.ts";
import { parseQuery } from "../../api/http/request_url.ts";

function fault(text: string): string {
  const parsed = parseStrictJson(text);
  return parsed.kind === "fault" ? parsed.code : "value";
}

Deno.test("every JSON value of ordinary text is read as JSON.parse reads it", () => {
  fc.assert(fc.property(
    fc.jsonValue({ stringUnit: "grapheme", maxDepth: 6 }),
    fc.constantFrom(undefined, 2),
    (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      if (text.includes('"__proto__"') || text.includes("\\u0000")) return;
      const parsed = parseStrictJson(text);
      assert(parsed.kind === "value", text);
      assertEquals(JSON.stringify(parsed.value), JSON.stringify(value));
    },
  ));
});

Deno.test("a name that occurs twice is found at any depth, however it is spelled", () => {
  assertEquals(fault('{"a":1,"a":1}'), "duplicate_key");
  assertEquals(fault('{"a":1,"\\u0061":2}'), "duplicate_key");
  assertEquals(fault('[{"x":{"b":1,"c":2,"b":3}}]'), "duplicate_key");
  assertEquals(fault('{"a":{"a":1},"b":[{"a":1},{"a":2}]}'), "value");
  assertEquals(fault('{"a":"x:\\":y","b:":{}}'), "value");
});

Deno.test("a number that does not read back as it was written is known by what holds it", () => {
  const holds = (text: string) => {
    const parsed = parseStrictJson(text);
    assert(parsed.kind === "value", text);
    return hasInexactNumber(parsed.value as object);
  };
  fc.assert(fc.property(
    fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
    fc.nat(30),
    fc.integer({ min: -20, max: 20 }),
    (number, places, power) => {
      const digits = String(number < 0n ? -number : number).padStart(places + 1, "0");
      const [whole, fraction] = [digits.slice(0, digits.length - places), digits.slice(-places)];
      const sign = number < 0n ? "-" : "";
      const text = `${sign}${whole}${places === 0 ? "" : `.${fraction}`}e${power}`;
      // both as whole numbers of 10^-60
      const written = number * 10n ** BigInt(60 - places + power);
      assertEquals(holds(`[${text}]`), written !== exactly(String(Number(text))), text);
    },
  ));
  assertEquals(holds('{"a":1.5,"b":{"c":12345678901234567890}}'), false);
  assertEquals(holds('["123456789012345678901","1e400"]'), false);
});

/** A number as JavaScript writes it, in 10^-60. */
function exactly(text: string): bigint {
  const [mantissa = "", power = "0"] = text.split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  return BigInt(whole + fraction) * 10n ** BigInt(60 + Number(power) - fraction.length);
}

Deno.test("depth is bounded before anything recurses", () => {
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  assertEquals(fault(nested(DEEPEST)), "value");
  assertEquals(fault(nested(DEEPEST + 1)), "too_deep");
  assertEquals(fault("[".repeat(60_000)), "too_deep");
  assertEquals(fault(`"${"[".repeat(60_000)}"`), "value");
});

Deno.test("what cannot be stored is refused, as a value and as a name", () => {
  for (const text of ['"\\u0000"', '"\\ud800"', '"\\udc00\\ud800"', '["a","\\u0000"]']) {
    assertEquals(fault(text), "forbidden_text", text);
  }
  assertEquals(fault('{"\\ud800":1}'), "forbidden_text");
  assertEquals(fault('"\\ud83d\\ude00"'), "value");
  assertEquals(fault('{"__proto__":1}'), "forbidden_key");
  assertEquals(fault('{"a":{"__proto__":{}}}'), "forbidden_key");
});

Deno.test("text that is no JSON is malformed", () => {
  for (const text of ["", "{", "{'a':1}", '{"a":1,}', "undefined", "NaN", '"\u0001"', "1 2"]) {
    assertEquals(fault(text), "malformed", text);
  }
});

Deno.test("a query is read as it was written", () => {
  const fields = (url: string) => {
    const query = parseQuery(url);
    return query.kind === "fields" ? query.fields : query.code;
  };
  assertEquals(fields("http://a/b"), {});
  assertEquals(fields("http://a/b?"), {});
  assertEquals(fields("http://a/b?x=1&y=a%20b+c&z"), { x: "1", y: "a b c", z: "" });
  assertEquals(fields("http://a/b?x=1#y=2"), { x: "1" });
  assertEquals(fields("http://a/b?x=1&x=2"), "duplicate_key");
  assertEquals(fields("http://a/b?x=%f"), "malformed");
  assertEquals(fields("http://a/b?x=%C0%80"), "malformed");
  assertEquals(fields("http://a/b?%00=1"), "forbidden_text");
  fc.assert(fc.property(
    fc.dictionary(fc.string({ minLength: 1, unit: "grapheme" }), fc.string({ unit: "grapheme" })),
    (sent) => {
      if (Object.entries(sent).flat().some((text) => text.includes("\0"))) return;
      if (Object.hasOwn(sent, "__proto__")) return;
      const text = new URLSearchParams(sent).toString();
      assertEquals({ ...fields(`http://a/b?${text}`) as object }, { ...sent });
    },
  ));
});

Deno.test("a number of 60,000 digits is read in no more time than it takes to walk over it", () => {
  const began = performance.now();
  const parsed = parseStrictJson(`{"amount":1${"0".repeat(60_000)}1}`);
  assert(parsed.kind === "value" && hasInexactNumber(parsed.value as object));
  // quadratic it took eight seconds
  assert(performance.now() - began < 3_000);
});
