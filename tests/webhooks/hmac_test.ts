import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { createHmac } from "node:crypto";
import { hmacSha256 } from "../../webhooks/hmac.ts";

Deno.test("the HMAC is the one of RFC 4231", () => {
  const cases = [
    [
      new Uint8Array(20).fill(0x0b),
      "Hi There",
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
    ],
    [
      new TextEncoder().encode("Jefe"),
      "what do ya want for nothing?",
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    ],
    [
      new Uint8Array(131).fill(0xaa),
      "Test Using Larger Than Block-Size Key - Hash Key First",
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
    ],
  ] as const;
  for (const [key, message, expected] of cases) {
    assertEquals(hmacSha256(key, message, "hex"), expected);
  }
});

Deno.test("it is the platform's, for keys and texts of any length", () => {
  const lengths = fc.oneof(fc.integer({ min: 0, max: 200 }), fc.constantFrom(63, 64, 65, 10_000));
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 130 }),
      fc.string({ unit: "grapheme", maxLength: 40 }),
      lengths,
      (key, text, length) => {
        const message = text + "x".repeat(length) + text;
        for (const encoding of ["hex", "base64"] as const) {
          assertEquals(
            hmacSha256(key, message, encoding),
            createHmac("sha256", key).update(message).digest(encoding),
          );
        }
      },
    ),
  );
});
