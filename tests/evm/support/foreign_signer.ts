/** Transactions that another library signs. It asks for the environment when it is loaded. @module */

import { decodeRlp, encodeRlp, Signature, Transaction, type TransactionLike, Wallet } from "ethers";
import { addressOf, HOT } from "./block_fixture.ts";

/** The wallet that signs unless another is named. */
export const WALLET = new Wallet(`0x${"17".repeat(32)}`);
export const OTHER = new Wallet(`0x${"18".repeat(32)}`);
const TO = addressOf(7);
/** Terms of a transaction that pays a base fee. */
export const FEES = { maxFeePerGas: 3n, maxPriorityFeePerGas: 1n };
const AUTHORIZATION = {
  address: TO,
  chainId: 1n,
  nonce: 3n,
  signature: Signature.from({ r: `0x${"11".repeat(32)}`, s: `0x${"12".repeat(32)}`, yParity: 1 }),
};

/** A transaction of each type, and of each kind of untyped one. */
export const TYPES: Readonly<Record<string, TransactionLike>> = {
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

/** A transaction of these terms, signed. */
export function signed(more: TransactionLike, wallet = WALLET): Transaction {
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

/** Fields of a signature. */
interface Fields {
  /** Its parity, or what names it: as it is, of the other point, and a number that is neither. */
  readonly v: { readonly own: string; readonly flipped: string; readonly further: string };
  readonly r: string;
  readonly s: string;
}

/** A transaction's bytes, and the same transaction with its signature's fields written otherwise. */
export function spelled(more: TransactionLike) {
  const one = signed(more);
  const { serialized: bytes, signature, type } = one;
  if (signature === null) throw new Error("It is not signed");
  const head = type === 0 ? "" : bytes.slice(2, 4);
  const list = decodeRlp(`0x${bytes.slice(2 + head.length)}`);
  if (typeof list === "string") throw new Error("It is no list");
  const number = (value: number) => value === 0 ? "0x" : `0x${value.toString(16).padStart(2, "0")}`;
  const even = type !== 0 ? 0 : one.chainId === 0n ? 27 : 35 + 2 * Number(one.chainId);
  const v = {
    own: number(even + signature.yParity),
    flipped: number(even + 1 - signature.yParity),
    further: number(type === 0 && one.chainId === 0n ? 29 : even + 2 + signature.yParity),
  };
  const other = (change: (fields: Fields) => readonly string[]) => {
    const fields = change({ v, r: signature.r, s: signature.s });
    return `0x${head}${encodeRlp([...list.slice(0, -3), ...fields]).slice(2)}`;
  };
  return { bytes, other };
}

/** A transaction as nodes show it: quantities without zeros before them. */
export function fieldsOf(one: Transaction): Record<string, unknown> {
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
