/** The proof of a transaction's sender, held to another library, and what nodes may say of it. @module */

import { assertEquals, assertNotEquals, assertRejects, assertThrows } from "@std/assert";
import { createEvmChain } from "../../chains/evm/evm_chain.ts";
import { bytesOfFields } from "../../chains/evm/read/transaction_bytes.ts";
import { signedBy } from "../../chains/evm/signed_by.ts";
import { testNeeding } from "../support/permissions.ts";
import { composeBlock, HOT } from "./support/block_fixture.ts";
import { startScriptedRpc } from "./support/scripted_rpc.ts";

const test = testNeeding({ net: true, env: true });
const load = () => import("./support/foreign_signer.ts");

test("sender and nonce are those of the signature, from bytes and from fields, of each type", async (t) => {
  const { fieldsOf, signed, TYPES, WALLET } = await load();
  for (const [kind, more] of Object.entries(TYPES)) {
    await t.step(kind, () => {
      for (const nonce of [0, 1, 127, 128, 300]) {
        const one = signed({ ...more, nonce });
        const proven = { txid: one.hash ?? "", sender: WALLET.address, nonce, movesNothing: false };
        assertEquals(signedBy(one.serialized, 1), proven);
        const bytes = bytesOfFields(fieldsOf(one));
        assertEquals(bytes, one.serialized);
      }
    });
  }
});

test("a transfer of nothing to its own sender is told from all that may move something", async () => {
  const { FEES, OTHER, signed, TYPES, WALLET } = await load();
  const nothing = { type: 2, ...FEES, to: WALLET.address, value: 0, data: "0x" };
  const moves = (more: Parameters<typeof signed>[0]) =>
    signedBy(signed({ ...nothing, ...more }).serialized, 1).movesNothing;
  assertEquals(moves({}), true);
  assertEquals(moves({ to: OTHER.address }), false);
  assertEquals(moves({ value: 1 }), false);
  assertEquals(moves({ data: "0x00" }), false);
  for (const [kind, more] of Object.entries(TYPES)) {
    if (more.type === 2) continue;
    const one = signed({ ...more, to: WALLET.address, value: 0, data: "0x" });
    assertEquals(signedBy(one.serialized, 1).movesNothing, false, kind);
  }
});

test("bytes of another chain, of an unknown type or cut off prove nothing", async () => {
  const { FEES, signed } = await load();
  const own = signed({ type: 2, ...FEES }).serialized;
  assertThrows(() => signedBy(own, 56), RangeError, "another chain");
  assertThrows(
    () => signedBy(signed({ type: 0, gasPrice: 1n }).serialized, 56),
    RangeError,
    "another chain",
  );
  assertThrows(() => signedBy(`0x05${own.slice(4)}`, 1), RangeError, "type is unknown");
  for (const bad of ["", "0x", own.slice(0, -2), `${own}00`, own.toUpperCase(), "0x02c0", "0xc0"]) {
    assertThrows(() => signedBy(bad, 1), RangeError, "Cannot prove", bad);
  }
});

/** Order of the curve: a signature with `s` is one with `ORDER - s` as well. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

test("a signature that is written in other bytes proves nothing: anyone can write it so, and no block holds that", async (t) => {
  const { FEES, spelled, TYPES } = await load();
  const kinds = { "of type 2": { type: 2, ...FEES }, ...TYPES };
  for (const [kind, more] of Object.entries(kinds)) {
    const { bytes, other } = spelled(more);
    const quantity = (value: bigint) => {
      const digits = value.toString(16);
      return `0x${digits.padStart(digits.length + digits.length % 2, "0")}`;
    };
    const ways: Readonly<Record<string, string>> = {
      "with the other s": other(({ v, r, s }) => [v.flipped, r, quantity(ORDER - BigInt(s))]),
      "with a zero before r": other(({ v, r, s }) => [v.own, `0x00${r.slice(2)}`, s]),
      "with a zero before s": other(({ v, r, s }) => [v.own, r, `0x00${s.slice(2)}`]),
      "with another number for its point": other(({ v, r, s }) => [v.further, r, s]),
      "with a length in more bytes than it needs": bytes.replace(
        /^(0x(?:0[1-4])?)f([89])/,
        (_, head, size) => `${head}${size === "8" ? "f900" : "fa00"}`,
      ),
    };
    for (const [way, text] of Object.entries(ways)) {
      await t.step(`${kind}, ${way}`, () => {
        assertNotEquals(text, bytes);
        assertEquals(signedBy(bytes, 1).nonce, 42);
        assertThrows(() => signedBy(text, 1), RangeError, "Cannot prove");
      });
    }
  }
});

/** A chain of one node, and what it answers about transactions. */
async function withNode(
  answers: Record<string, (params: readonly unknown[]) => unknown>,
  work: (chain: ReturnType<typeof createEvmChain>) => Promise<void>,
): Promise<void> {
  const genesis = composeBlock(0, []);
  await using rpc = startScriptedRpc({
    eth_chainId: () => "0x1",
    eth_getBlockByNumber: () => genesis.head,
    ...answers,
  });
  await work(createEvmChain({
    network: "ETH",
    nodeUrls: [rpc.url],
    contracts: {},
    deposits: { address: () => HOT },
    hotWallet: HOT,
    callsPerSecond: 0,
  }));
}

async function sentOf(chain: ReturnType<typeof createEvmChain>, txid: string) {
  const { life } = chain.capabilities;
  if (life.kind !== "nonce") throw new Error("It counts no nonces");
  return await life.lane.sent(txid);
}

test("whatever a node says of sender and nonce, those of the transaction's own bytes are told", async () => {
  const { FEES, fieldsOf, OTHER, signed, WALLET } = await load();
  const one = signed({ type: 2, ...FEES, nonce: 42 });
  const txid = one.hash ?? "";
  const eventFrom = WALLET.address.slice(2).toLowerCase();
  const proven = { eventFrom, nonce: 42, bytes: one.serialized };
  const fields = fieldsOf(one);
  await withNode({ eth_getTransactionByHash: () => fields }, async (chain) => {
    assertEquals(await sentOf(chain, txid), proven, "its fields are enough");
  });
  // the lie is found, as its fields have another hash; the bytes show the truth
  const lie = { ...fields, nonce: "0x39" };
  await withNode({
    eth_getTransactionByHash: () => lie,
    eth_getRawTransactionByHash: () => one.serialized,
  }, async (chain) => assertEquals(await sentOf(chain, txid), proven));
  const other = signed({ type: 2, ...FEES, nonce: 57 }, OTHER).serialized;
  for (const raw of [null, other, "0x02"]) {
    await withNode({
      eth_getTransactionByHash: () => lie,
      eth_getRawTransactionByHash: () => raw,
    }, async (chain) => {
      await assertRejects(() => sentOf(chain, txid), Error, "shows no bytes of it");
    });
  }
  await withNode({ eth_getTransactionByHash: () => lie }, async (chain) => {
    await assertRejects(() => sentOf(chain, txid), Error, "shows no bytes of it");
  });
  await withNode(
    { eth_getTransactionByHash: () => ({ ...fields, blockHash: null }) },
    async (chain) => {
      assertEquals(await sentOf(chain, txid), null, "it is in no block");
    },
  );
});
