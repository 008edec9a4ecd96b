import { assert, assertEquals, assertThrows } from "@std/assert";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import fc from "fast-check";
import { getAddress as checksumOf } from "viem/utils";
import {
  addressOfEvent,
  addressOfPublicKey,
  eventAddress,
  evmAddress,
} from "../../chains/evm/address.ts";
import { PROFILES } from "../../chains/profiles.ts";
import { testNeeding } from "../support/permissions.ts";

/** The other library looks at the environment when it is loaded. */
const test = testNeeding({ env: true });

const RUNS = { numRuns: 500, seed: 20_261_126 };
const digits = fc.uint8Array({ minLength: 20, maxLength: 20 })
  .filter((bytes) => bytes.some((byte, i) => byte > 0 && i < 19))
  .map((bytes) => bytes.toHex());

test("an address has the one spelling that other libraries give it, and comes back from it", async () => {
  const { getAddress } = await import("ethers");
  fc.assert(
    fc.property(digits, (event) => {
      const address = addressOfEvent(event);
      assertEquals([address, address], [checksumOf(`0x${event}`), getAddress(`0x${event}`)]);
      assertEquals(eventAddress(address), event);
      for (const text of [address, `0x${event}`, `0x${event.toUpperCase()}`]) {
        assertEquals(evmAddress(text), address, text);
      }
    }),
    RUNS,
  );
});

Deno.test("a text of mixed case is an address with its checksum only: one changed character is found", () => {
  fc.assert(
    fc.property(digits, fc.nat({ max: 39 }), (event, at) => {
      const address = addressOfEvent(event);
      const character = address.charAt(2 + at);
      const other = character === character.toLowerCase()
        ? character.toUpperCase()
        : character.toLowerCase();
      const changed = `${address.slice(0, 2 + at)}${other}${address.slice(3 + at)}`;
      const isOneCase = changed.slice(2) === changed.slice(2).toLowerCase() ||
        changed.slice(2) === changed.slice(2).toUpperCase();
      if (other !== character && !isOneCase) assertEquals(evmAddress(changed), null, changed);
    }),
    RUNS,
  );
});

const NONE: Readonly<Record<string, string>> = {
  "the zero address": `0x${"0".repeat(40)}`,
  "a precompiled contract": `0x${"1".padStart(40, "0")}`,
  "the precompiled contract that is furthest": `0x${"100".padStart(40, "0")}`,
  "a system contract of BNB Smart Chain": `0x${"2005".padStart(40, "0")}`,
  "where tokens are burnt": "0x000000000000000000000000000000000000dEaD",
  "the last one that is kept for them": `0x${"ffff".padStart(40, "0")}`,
  "the contract of validators' deposits": "0x00000000219ab540356cBB839Cbe05303d7705Fa",
  "a contract of the protocol": "0x000F3df6D732807Ef1319fB7B8bB8522d0Beac02",
  "the protocol itself": `0x${"f".repeat(39)}e`,
  "no prefix": "5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
  "a capital prefix": "0X5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
  "a digit less": "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beae",
  "a digit more": "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed0",
  "a space at its end": "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed ",
  "a letter that is no digit": "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaeg",
  "a wrong checksum": "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD",
  "an address of TRON": "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
  "nothing": "",
};

for (const [name, text] of Object.entries(NONE)) {
  Deno.test(`no destination: ${name}`, () => assertEquals(evmAddress(text), null));
}

Deno.test("the first address behind those that are kept is a destination", () => {
  assertEquals(evmAddress(`0x${"10000".padStart(40, "0")}`) === null, false);
});

Deno.test("the examples of EIP-55 are addresses, as they are written there", () => {
  for (
    const text of [
      "0x52908400098527886E0F7030069857D2E4169EE7",
      "0xde709f2102306220921060314715629080e2fb77",
      "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
    ]
  ) assertEquals(evmAddress(text)?.toLowerCase(), text.toLowerCase());
  assertEquals(
    evmAddress("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"),
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  );
});

test("a key has the address that another library computes, compressed or not", async () => {
  const { computeAddress } = await import("ethers");
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (key) => {
      fc.pre(secp256k1.utils.isValidSecretKey(key));
      const expected = computeAddress(`0x${key.toHex()}`);
      for (const isCompressed of [true, false]) {
        assertEquals(addressOfPublicKey(secp256k1.getPublicKey(key, isCompressed)), expected);
      }
    }),
    { ...RUNS, numRuns: 50 },
  );
});

Deno.test("an address in events is 40 lower-case digits and nothing else", () => {
  for (const text of ["", "AB".repeat(20), `0x${"ab".repeat(20)}`, "ab".repeat(19)]) {
    assertThrows(() => addressOfEvent(text), RangeError, text);
  }
  assertThrows(() => eventAddress("0x12"), RangeError, "0x12");
});

Deno.test("contracts of the profiles are in their one spelling", () => {
  const contracts = Object.values(PROFILES).filter(({ family }) => family === "evm")
    .flatMap(({ contracts }) => Object.values(contracts));
  assert(contracts.length >= 5);
  for (const contract of contracts) assertEquals(evmAddress(contract), contract);
});
