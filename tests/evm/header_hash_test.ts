import { assertEquals } from "@std/assert";
import { headSchema } from "../../chains/evm/read/answers.ts";
import { hasOwnHash } from "../../chains/evm/read/header_hash.ts";
import { parseBlock } from "../../chains/evm/read/parse_block.ts";
import { composeBlock, hashOf, HOT } from "./support/block_fixture.ts";
import { MAIN_27107059, TEST_45944645 } from "./support/bnb_headers.ts";
import { FIRST_OF_ETHEREUM, headerOf, withOwnHash } from "./support/header_fixture.ts";

type Hex = `0x${string}`;

/** Fields of later upgrades in their order, and one that no upgrade has yet. */
const LATER: readonly (readonly [string, Hex])[] = [
  ["baseFeePerGas", "0x3b9aca00"],
  ["withdrawalsRoot", hashOf("withdrawals")],
  ["blobGasUsed", "0x20000"],
  ["excessBlobGas", "0x0"],
  ["parentBeaconBlockRoot", hashOf("beacon")],
  ["requestsHash", hashOf("requests")],
  ["notKnownYet", hashOf("not known yet")],
];
/** A header with so many of the later fields. */
const headerWith = (count: number, changes: Readonly<Record<string, string>> = {}) =>
  headerOf({ ...Object.fromEntries(LATER.slice(0, count)), ...changes });

Deno.test("the first block of Ethereum has the hash of its fields", () => {
  assertEquals(hasOwnHash(FIRST_OF_ETHEREUM), true);
});

Deno.test("blocks of BNB Smart Chain have the hashes of their fields, whatever else its nodes say of them", () => {
  for (const header of [MAIN_27107059, TEST_45944645]) {
    const said = { ...header, milliTimestamp: "0x19380a8f0f0", withdrawals: [], size: "0x7f4" };
    assertEquals(hasOwnHash(said), true, header.number);
    for (const name of Object.keys(header)) {
      const other = { ...said, [name]: hashOf("another") };
      assertEquals(hasOwnHash(other), false, `${header.number} ${name}`);
    }
  }
});

Deno.test("a header has the hash of its fields after each upgrade, whatever else its node says of the block", () => {
  for (let count = 0; count < LATER.length; count++) {
    const header = headerWith(count, { number: "0x123456", timestamp: "0x6b082108" });
    assertEquals(
      hasOwnHash({ ...header, size: "0x267", uncles: [], totalDifficulty: "0x0" }),
      true,
    );
  }
});

Deno.test("a header with a field of an upgrade that is not known here is not taken for what its hash is of", () => {
  assertEquals(hasOwnHash(headerWith(LATER.length)), false);
});

Deno.test("a header of which any field is another, is missing or is no bytes has not its hash", () => {
  const header = headerWith(LATER.length - 1);
  for (const name of Object.keys(header)) {
    for (const other of [hashOf("another"), undefined, null, "0xzz", 7, {}]) {
      assertEquals(hasOwnHash({ ...header, [name]: other }), false, `${name} ${other}`);
    }
  }
});

Deno.test("a block says of itself where its hash does not stand for its receipts", () => {
  const context = {
    tokens: new Map(),
    hotWallet: HOT,
  };
  const parsed = (head: Record<string, unknown>) => {
    const answer = parseBlock(headSchema.parse({ ...head, isBound: true }), [], context);
    return answer.kind === "block" ? answer.block.isUnbound ?? "bound" : answer.kind;
  };
  assertEquals(parsed({ ...headerWith(6), transactions: [] }), "bound");
  assertEquals(parsed({ ...headerWith(7), transactions: [] }), true);
  // a hash that another node has named, on a block with other contents
  assertEquals(parsed({ ...headerWith(6), transactions: [], timestamp: "0x7" }), true);
  assertEquals(parsed(composeBlock(7, []).head), true);
  assertEquals(parsed(withOwnHash(composeBlock(7, [])).head), "bound");
});
