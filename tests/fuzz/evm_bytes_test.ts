/** Hostile bytes of transactions, held to another library. @module */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { signedBy } from "../../chains/evm/signed_by.ts";
import { testNeeding } from "../support/permissions.ts";

const test = testNeeding({ env: true });

const HALF_ORDER = secp256k1.Point.CURVE().n / 2n;

/** A change of bytes at a place: what is taken away there, and what is put in. */
const change = fc.record({
  at: fc.nat({ max: 400 }),
  away: fc.nat({ max: 3 }),
  put: fc.uint8Array({ maxLength: 3 }),
});

test("of changed bytes is proven what another library reads in them too, or nothing", async () => {
  const { getBytes, hexlify, keccak256, Transaction } = await import("ethers");
  const { signed, TYPES } = await import("../evm/support/foreign_signer.ts");
  const whole = Object.values(TYPES).flatMap((more) =>
    [0, 127, 300].map((nonce) => signed({ ...more, nonce }).serialized)
  );
  const counts = { proven: 0, compared: 0, refused: 0 };
  fc.assert(
    fc.property(
      fc.constantFrom(...whole),
      fc.array(change, { minLength: 1, maxLength: 3 }),
      (original, changes) => {
        const bytes = [...getBytes(original)];
        for (const { at, away, put } of changes) bytes.splice(at % bytes.length, away, ...put);
        const hex = hexlify(new Uint8Array(bytes));
        const found = provenIn(hex);
        const other = readIn(hex);
        if (found === null) {
          counts.refused++;
          assert(other === null || ![0n, 1n].includes(other.chainId), `refused: ${hex}`);
          return;
        }
        counts.proven++;
        assertEquals(found.txid, keccak256(hex));
        // what it reads and would not write so is of no chain: no block has these bytes
        if (other === null) return;
        counts.compared++;
        assertEquals([found.sender, found.nonce], [other.from, other.nonce]);
      },
    ),
    { numRuns: 5_000, seed: 20_261_126 },
  );
  assert(counts.compared > 100 && counts.refused > 500, JSON.stringify(counts));

  function readIn(hex: string) {
    try {
      const read = Transaction.from(hex);
      // a signature in the upper half is in no block (EIP-2), and read by the library all the same
      const isLow = BigInt(read.signature?.s ?? 0) <= HALF_ORDER;
      return isLow && read.serialized === hex && read.from !== null ? read : null;
    } catch {
      // its errors are of many kinds
      return null;
    }
  }
});

/** Proof that the product finds in bytes; null: none. Any other error than its own fails the test. */
function provenIn(hex: string) {
  try {
    return signedBy(hex, 1);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
