import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { createBase58check } from "@scure/base";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import {
  addressFromLogHex,
  addressOfPublicKey,
  addressToHex,
  addressToLogHex,
  tronAddress,
} from "../../chains/tron/address.ts";
import { addressChecksum } from "../../chains/tron/checksum.ts";
import { loadTronweb, testWithTronweb } from "./support/tronweb_offline.ts";

const base58check = createBase58check(sha256);
const USDT = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";
const USDT_HEX = "41a614f803b6fd780986a42c78ec9c7f77e6ded13c";
const body = fc.uint8Array({ minLength: 20, maxLength: 20 })
  .filter((bytes) => bytes.subarray(0, 16).some((byte) => byte !== 0));

Deno.test("the published USDT contract has its published hex form", () => {
  assertEquals(addressToHex(USDT), USDT_HEX);
  assertEquals(addressToLogHex(USDT), USDT_HEX.slice(2));
  assertEquals(addressFromLogHex(USDT_HEX.slice(2)), USDT);
});

testWithTronweb("any address has the text that tronweb gives it", async () => {
  const { TronWeb } = await loadTronweb();
  fc.assert(
    fc.property(body, (bytes) => {
      const hex = bytesToHex(bytes);
      const text = addressFromLogHex(hex);
      assertEquals(text, TronWeb.address.fromHex(`41${hex}`));
      assertEquals(addressToHex(text), `41${hex}`);
      assertEquals(tronAddress(text), text);
    }),
    { numRuns: 300 },
  );
});

Deno.test("any 20 bytes survive being written and read, those of zeros and ones too", () => {
  const edges = [new Uint8Array(20), new Uint8Array(20).fill(0xff)];
  fc.assert(
    fc.property(body, (bytes) => {
      const hex = bytesToHex(bytes);
      assertEquals(addressToLogHex(addressFromLogHex(hex)), hex);
    }),
    { examples: edges.map((bytes) => [bytes]) },
  );
});

Deno.test("what is not 40 hex digits has no text", () => {
  for (const hex of ["", "a".repeat(39), "a".repeat(42), "g".repeat(40), ` ${"a".repeat(39)}`]) {
    assertThrows(() => addressFromLogHex(hex), RangeError);
  }
});

Deno.test("bytes of another length or prefix are no address, whatever their checksum", () => {
  for (
    const [length, prefix] of [[20, 0x41], [22, 0x41], [21, 0x40], [21, 0x42], [21, 0]] as const
  ) {
    const text = base58check.encode(new Uint8Array(length).fill(0xab).fill(prefix, 0, 1));
    assertEquals(tronAddress(text), null, text);
  }
});

Deno.test("one changed character makes an address invalid", () => {
  const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
  const change = fc.tuple(body, fc.integer({ min: 1, max: 33 }), fc.integer({ min: 0, max: 57 }));
  fc.assert(fc.property(change, ([bytes, place, letter]) => {
    const text = addressFromLogHex(bytesToHex(bytes));
    const changed = text.slice(0, place) + alphabet[letter] + text.slice(place + 1);
    assertEquals(tronAddress(changed), changed === text ? text : null);
  }));
});

for (
  const text of [
    "",
    "T",
    USDT_HEX,
    `0x${USDT_HEX.slice(2)}`,
    USDT.toLowerCase(),
    ` ${USDT}`,
    `${USDT} `,
    USDT.slice(0, 33),
    `${USDT}t`,
    "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj60",
    "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLjé6",
    "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
  ]
) {
  Deno.test(`no merchant may name this as a destination: "${text}"`, () => {
    assertEquals(tronAddress(text), null);
    assertThrows(() => addressToHex(text), RangeError);
  });
}

for (const last of ["00000000", "00000001", "01000009", "ffffffff"]) {
  Deno.test(`the zero address and the chain's own programs are no destination: ..${last}`, () => {
    const text = addressFromLogHex("0".repeat(32) + last);
    assertEquals([tronAddress(text), addressToHex(text)], [null, `41${"0".repeat(32)}${last}`]);
  });
}

testWithTronweb("a public key has the address that tronweb gives its private key", async () => {
  const { TronWeb } = await loadTronweb();
  const keys = fc.uint8Array({ minLength: 32, maxLength: 32 })
    .filter((key) => secp256k1.utils.isValidSecretKey(key));
  fc.assert(
    fc.property(keys, (key) => {
      const expected = TronWeb.address.fromPrivateKey(bytesToHex(key));
      assertEquals(addressOfPublicKey(secp256k1.getPublicKey(key)), expected);
      assertEquals(addressOfPublicKey(secp256k1.getPublicKey(key, false)), expected);
    }),
    { numRuns: 20 },
  );
});

Deno.test("the checksum is the begin of SHA-256 twice, of any 21 bytes and of nothing behind them", () => {
  const payload = fc.uint8Array({ minLength: 21, maxLength: 21 });
  fc.assert(
    fc.property(payload, fc.uint8Array({ maxLength: 8 }), (bytes, behind) => {
      const sum = sha256(sha256(bytes));
      const expected = new DataView(sum.buffer, sum.byteOffset).getUint32(0);
      assertEquals(addressChecksum(Uint8Array.of(...bytes, ...behind)), expected);
    }),
    {
      numRuns: 500,
      examples: [0, 0xff].map((byte) => [new Uint8Array(21).fill(byte), new Uint8Array()]),
    },
  );
});

Deno.test("34 characters are an address where the library says so, whatever they are", () => {
  const character = fc.constantFrom(
    ..."123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0l",
  );
  const text = fc.array(character, { minLength: 34, maxLength: 34 }).map((all) => all.join(""));
  fc.assert(fc.property(text, (one) => assertEquals(tronAddress(one), ofLibrary(one))));
  // one digit of an address is another: none but the address itself is one
  fc.assert(
    fc.property(body, fc.nat(33), character, (bytes, at, other) => {
      const address = addressFromLogHex(bytesToHex(bytes));
      const one = address.slice(0, at) + other + address.slice(at + 1);
      assertEquals(tronAddress(one), ofLibrary(one));
    }),
    { numRuns: 500 },
  );
});

/** An address by the library alone. */
function ofLibrary(text: string): string | null {
  try {
    const bytes = base58check.decode(text);
    return bytes.length === 21 && bytes[0] === 0x41 && text.length === 34 ? text : null;
  } catch {
    return null;
  }
}
