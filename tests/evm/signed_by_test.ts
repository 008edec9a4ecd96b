/** The proof of a transaction's sender, held to another library, and what nodes may say of it. @module */

import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Signature, Transaction, type TransactionLike, Wallet } from "ethers";
import { createEvmChain } from "../../chains/evm/evm_chain.ts";
import { bytesOfFields } from "../../chains/evm/read/transaction_bytes.ts";
import { signedBy } from "../../chains/evm/signed_by.ts";
import { testNeeding } from "../support/permissions.ts";
import { addressOf, composeBlock, HOT } from "./support/block_fixture.ts";
import { startScriptedRpc } from "./support/scripted_rpc.ts";

const test = testNeeding({ net: true });

const WALLET = new Wallet(`0x${"17".repeat(32)}`);
const OTHER = new Wallet(`0x${"18".repeat(32)}`);
const TO = addressOf(7);
const FEES = { maxFeePerGas: 3n, maxPriorityFeePerGas: 1n };
const AUTHORIZATION = {
  address: TO,
  chainId: 1n,
  nonce: 3n,
  signature: Signature.from({ r: `0x${"11".repeat(32)}`, s: `0x${"12".repeat(32)}`, yParity: 1 }),
};

/** A transaction of each type, and of each kind of untyped one. */
const TYPES: Readonly<Record<string, TransactionLike>> = {
  "without a type": { type: 0, gasPrice: 2n },
  "without a type and a chain": { type: 0, gasPrice: 2n, chainId: 0n },
  "of type 1": { type: 1, gasPrice: 2n, accessList: [[TO, [`0x${"05".repeat(32)}`]]] },
  "of type 2": { type: 2, ...FEES, data: "0x1234" },
  "of type 3": {
    type: 3,
    ...FEES,
    maxFeePerBlobGas: 9n,
    blobVersionedHashes: [`0x01${"00".repeat(31)}`],
  },
  "of type 4": { type: 4, ...FEES, authorizationList: [AUTHORIZATION] },
  "that makes a contract": { type: 2, ...FEES, to: null, data: "0x60016000" },
};

function signed(more: TransactionLike, wallet = WALLET): Transaction {
  const transaction = Transaction.from({
    chainId: 1n,
    nonce: 42,
    to: TO,
    value: 5n,
    gasLimit: 21_000n,
    ...more,
  });
  transaction.signature = wallet.signingKey.sign(transaction.unsignedHash);
  return transaction;
}

/** A transaction as nodes show it: quantities without zeros before them. */
function fieldsOf(one: Transaction): Record<string, unknown> {
  const quantity = (value: bigint | number | null) =>
    value === null ? undefined : `0x${value.toString(16)}`;
  const { signature } = one;
  if (signature === null) throw new Error("It is not signed");
  return {
    hash: one.hash,
    blockHash: `0x${"ab".repeat(32)}`,
    blockNumber: "0x1",
    // told, and worth nothing
    from: HOT,
    type: quantity(one.type),
    nonce: quantity(one.nonce),
    gas: quantity(one.gasLimit),
    to: one.to,
    value: quantity(one.value),
    input: one.data,
    ...(one.type === 0 && one.chainId === 0n ? {} : { chainId: quantity(one.chainId) }),
    gasPrice: quantity(one.gasPrice ?? 2n),
    ...(one.type === null || one.type < 2 ? {} : {
      maxFeePerGas: quantity(one.maxFeePerGas),
      maxPriorityFeePerGas: quantity(one.maxPriorityFeePerGas),
    }),
    ...(one.type === 3
      ? {
        maxFeePerBlobGas: quantity(one.maxFeePerBlobGas),
        blobVersionedHashes: one.blobVersionedHashes,
      }
      : {}),
    ...(one.type === null || one.type === 0
      ? { v: quantity(BigInt(signature.networkV ?? signature.v)) }
      : {
        accessList: one.accessList,
        v: quantity(signature.yParity),
        yParity: quantity(signature.yParity),
      }),
    ...(one.type === 4
      ? {
        authorizationList: one.authorizationList?.map((each) => ({
          address: each.address,
          chainId: quantity(each.chainId),
          nonce: quantity(each.nonce),
          yParity: quantity(each.signature.yParity),
          r: quantity(BigInt(each.signature.r)),
          s: quantity(BigInt(each.signature.s)),
        })),
      }
      : {}),
    r: quantity(BigInt(signature.r)),
    s: quantity(BigInt(signature.s)),
  };
}

for (const [kind, more] of Object.entries(TYPES)) {
  Deno.test(`sender and nonce of a transaction ${kind} are those of its signature, from bytes and from fields`, () => {
    for (const nonce of [0, 1, 127, 128, 300]) {
      const one = signed({ ...more, nonce });
      const proven = { txid: one.hash ?? "", sender: WALLET.address, nonce };
      assertEquals(signedBy(one.serialized, 1), proven);
      const bytes = bytesOfFields(fieldsOf(one));
      assertEquals(bytes, one.serialized);
    }
  });
}

Deno.test("bytes of another chain, of an unknown type or cut off prove nothing", () => {
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
