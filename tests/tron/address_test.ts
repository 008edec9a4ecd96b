import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import fc from "fast-check";
import { bytesToHex } from "@noble/hashes/utils.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import {
  addressFromLogHex,
  addressOfPublicKey,
  addressToHex,
  addressToLogHex,
  isTronAddress,
} from "../../chains/tron/address.ts";
import { loadTronweb, testWithTronweb } from "./support/tronweb_offline.ts";
import { decodeBase58Check, encodeBase58Check } from "../../chains/tron/base58check.ts";

const USDT = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";
const USDT_HEX = "41a614f803b6fd780986a42c78ec9c7f77e6ded13c";
const body = fc.uint8Array({ minLength: 20, maxLength: 20 });

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
      assert(isTronAddress(text));
    }),
    { numRuns: 300 },
  );
});

Deno.test("any 21 bytes survive base58check, leading zeros too", () => {
  fc.assert(fc.property(fc.uint8Array({ minLength: 21, maxLength: 21 }), (payload) => {
    assertEquals(decodeBase58Check(encodeBase58Check(payload)), payload);
  }));
  const zeros = new Uint8Array(21);
  assertEquals(decodeBase58Check(encodeBase58Check(zeros)), zeros);
  const ones = new Uint8Array(21).fill(0xff);
  assertEquals(decodeBase58Check(encodeBase58Check(ones)), ones);
});

Deno.test("a payload of another length is refused", () => {
  assertThrows(() => encodeBase58Check(new Uint8Array(20)), RangeError);
});

Deno.test("one changed character makes an address invalid", () => {
  const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
  const change = fc.tuple(body, fc.integer({ min: 1, max: 33 }), fc.integer({ min: 0, max: 57 }));
  fc.assert(fc.property(change, ([bytes, place, letter]) => {
    const text = addressFromLogHex(bytesToHex(bytes));
    const changed = text.slice(0, place) + alphabet[letter] + text.slice(place + 1);
    assertEquals(isTronAddress(changed), changed === text);
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
    assertFalse(isTronAddress(text));
    assertThrows(() => addressToHex(text), RangeError);
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
