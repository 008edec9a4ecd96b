import { assertEquals, assertNotEquals } from "@std/assert";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import fc from "fast-check";
import { newKey, recoverAddress, signDigest, SignerFinder } from "../../devchain/signature.ts";

/** More than a signer has to sign to be known. */
const MANY = 20;
const { Fn, Fp } = secp256k1.Point;

function digestOf(fill: number): Uint8Array {
  return new Uint8Array(32).fill(fill);
}

/** A finder that knows who signs, and so looks whether it is them before it recovers anybody. */
function knowing(...keys: readonly ReturnType<typeof newKey>[]): SignerFinder {
  const finder = new SignerFinder();
  for (const key of keys) {
    for (let n = 0; n < MANY; n++) {
      const digest = digestOf(n);
      assertEquals(finder.find(digest, signDigest(digest, key), key.address), key.address);
    }
  }
  return finder;
}

/** The same signature as 65 bytes, with parts replaced. */
function signature(r: bigint, s: bigint, v: number): string {
  const hex = (value: bigint) => value.toString(16).padStart(64, "0");
  return hex(r) + hex(s) + v.toString(16).padStart(2, "0");
}

Deno.test("a signer that is known is found just where recovery finds it, whatever is wrong", () => {
  const [key, other] = [newKey(), newKey()];
  const finder = knowing(key, other);
  const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });
  const wrong = fc.constantFrom("nothing", "v", "r", "s", "high s", "digest", "signer", "nonsense");
  let found = 0;
  fc.assert(
    fc.property(bytes, bytes, wrong, fc.integer({ min: 0, max: 255 }), (digest, noise, what, v) => {
      const right = signDigest(digest, what === "signer" ? other : key);
      const [r, s] = [BigInt(`0x${right.slice(0, 64)}`), BigInt(`0x${right.slice(64, 128)}`)];
      const number = BigInt(`0x${noise.toHex()}`);
      const rightV = parseInt(right.slice(128), 16);
      const text = {
        nothing: right,
        signer: right,
        digest: right,
        v: signature(r, s, v),
        r: signature(number, s, rightV),
        s: signature(r, number, rightV),
        "high s": signature(r, Fn.ORDER - s, 55 - rightV),
        nonsense: noise.toHex() + noise.toHex() + "1b",
      }[what] ?? "";
      const of = what === "digest" ? noise : digest;
      const recovered = recoverAddress(of, text);
      for (const expected of [key.address, other.address, null]) {
        assertEquals(finder.find(of, text, expected), recovered, `${what} ${expected}`);
      }
      if (recovered === key.address) found += 1;
    }),
    { numRuns: 300 },
  );
  assertNotEquals(found, 0);
});

Deno.test("the edges of a signature are read as recovery reads them, once the signer is known", () => {
  const key = newKey();
  const finder = knowing(key);
  const digest = digestOf(7);
  const right = signDigest(digest, key);
  const [r, s] = [BigInt(`0x${right.slice(0, 64)}`), BigInt(`0x${right.slice(64, 128)}`)];
  const numbers = [0n, 1n, r, Fn.ORDER - 1n, Fn.ORDER, Fp.ORDER - 1n, Fp.ORDER, 2n ** 256n - 1n];
  for (const first of numbers) {
    for (const second of [...numbers, s]) {
      for (const v of [0, 1, 2, 3, 4, 26, 27, 28, 29, 30, 31, 255]) {
        const text = signature(first, second, v);
        assertEquals(finder.find(digest, text, key.address), recoverAddress(digest, text), text);
      }
    }
  }
  for (const text of ["", right.slice(2), `${right}00`, `0x${right.slice(2)}`]) {
    assertEquals(finder.find(digest, text, key.address), null);
  }
});

Deno.test("a point whose x is above the group's order is told from the one below it", () => {
  // some x from the order on is on the curve; r is what is left of it
  let tried = 0;
  for (let rest = 1n; tried < 3; rest += 1n) {
    for (const v of [29, 30]) {
      const text = signature(rest, 5n, v);
      const digest = digestOf(9);
      const signer = recoverAddress(digest, text);
      if (signer === null) continue;
      tried += 1;
      const finder = new SignerFinder();
      for (let n = 0; n < MANY; n++) assertEquals(finder.find(digest, text, signer), signer);
      for (const other of [27, 28, 29, 30]) {
        const changed = signature(rest, 5n, other);
        assertEquals(finder.find(digest, changed, signer), recoverAddress(digest, changed));
      }
    }
  }
});

Deno.test("however many sign, each of them is found", () => {
  const finder = new SignerFinder();
  const keys = Array.from({ length: 12 }, newKey);
  for (let n = 0; n < MANY; n++) {
    const digest = digestOf(n);
    for (const key of keys) {
      assertEquals(finder.find(digest, signDigest(digest, key), key.address), key.address);
    }
  }
});
