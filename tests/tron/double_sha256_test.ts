import { assertEquals, assertThrows } from "@std/assert";
import { sha256 } from "@noble/hashes/sha2.js";
import fc from "fast-check";
import { doubleSha256Checksum } from "../../chains/tron/double_sha256.ts";

Deno.test("the checksum is that of two rounds of SHA-256, for every length it takes", () => {
  const message = fc.uint8Array({ minLength: 0, maxLength: 55 });
  fc.assert(
    fc.property(message, (bytes) => {
      const expected = new DataView(sha256(sha256(bytes)).buffer).getInt32(0);
      assertEquals(doubleSha256Checksum(bytes), expected);
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("a message that needs a second block is refused, not hashed wrongly", () => {
  assertThrows(() => doubleSha256Checksum(new Uint8Array(56)), RangeError);
});
