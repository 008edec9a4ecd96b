import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { encode } from "uqr";
import { qrModules } from "../../api/hosted_page/qr_code.tsx";

/** A code as lines of text. */
function drawing(rows: readonly (readonly (boolean | number)[])[]): string {
  return rows.map((row) => row.map((dark) => dark ? "#" : ".").join("")).join("\n");
}

Deno.test("the code of a text is the library's own, the mask that it would choose included", () => {
  const base58 = fc.constantFrom(..."123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz");
  const masks = new Set<number>();
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: base58, minLength: 33, maxLength: 33 }).map((rest) => `T${rest}`),
        // addresses of other networks, and codes of every size that is ever needed
        fc.string({ minLength: 1, maxLength: 120 }),
      ),
      (text) => {
        const { size, dark } = qrModules(text);
        const theirs = encode(text, { ecc: "M", border: 0 });
        masks.add(theirs.maskPattern);
        const rows = Array.from(
          { length: size },
          (_, y) => [...dark.subarray(y * size, (y + 1) * size)],
        );
        assertEquals(drawing(rows), drawing(theirs.data));
      },
    ),
    { numRuns: 300 },
  );
  // the rarest of the eight is one in thirty
  assert(masks.size >= 5);
});
