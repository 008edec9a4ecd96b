/**
 * Headers of blocks with the hash of their fields, made by viem's RLP, which shares no line with the one that is tested.
 *
 * @module
 */

import { keccak256, toRlp } from "viem/utils";
import { EMPTY_ROOT } from "../../../chains/evm/read/ordered_trie.ts";
import type { BlockFixture } from "./block_fixture.ts";

type Hex = `0x${string}`;

const ZERO: Hex = `0x${"0".repeat(64)}`;

/** The first block of Ethereum, by its specification; its fields are in the order of the hash. */
export const FIRST_OF_ETHEREUM = {
  hash: "0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3",
  parentHash: ZERO,
  sha3Uncles: "0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347",
  miner: `0x${"0".repeat(40)}`,
  stateRoot: "0xd7f8974fb5ac78d9ac099b9ad5018bedc2ce0a72dad1827a1709da30580f0544",
  transactionsRoot: EMPTY_ROOT,
  receiptsRoot: EMPTY_ROOT,
  logsBloom: `0x${"0".repeat(512)}`,
  difficulty: "0x400000000",
  number: "0x0",
  gasLimit: "0x1388",
  gasUsed: "0x0",
  timestamp: "0x0",
  extraData: "0x11bbe8db4e347b4e8c937c1c8370e4b5ed33adb3db69cbdb7a38e1e50b1b82fa",
  mixHash: ZERO,
  nonce: "0x0000000000000042",
};

const NUMBERS = new Set([
  "difficulty",
  "number",
  "gasLimit",
  "gasUsed",
  "timestamp",
  "baseFeePerGas",
  "blobGasUsed",
  "excessBlobGas",
]);

function itemOf(name: string, value: string): Hex {
  if (!NUMBERS.has(name)) return value as Hex;
  const number = BigInt(value);
  if (number === 0n) return "0x";
  const digits = number.toString(16);
  return `0x${digits.length % 2 === 0 ? digits : `0${digits}`}`;
}

/** A header of these fields after those that every one has, with their hash. */
export function headerOf(fields: Readonly<Record<string, string>>): Record<string, string> {
  const all: Record<string, string> = { ...FIRST_OF_ETHEREUM, ...fields };
  const items = Object.entries(all).filter(([name]) => name !== "hash");
  return { ...all, hash: keccak256(toRlp(items.map(([name, value]) => itemOf(name, value)))) };
}

/** The same block with a whole header, whose hash it and its receipts have. */
export function withOwnHash({ head, receipts }: BlockFixture): BlockFixture {
  const { transactions, ...fields } = head;
  const header = headerOf(fields);
  const blockHash = header["hash"];
  return {
    head: { ...header, transactions },
    receipts: receipts.map((receipt) => ({
      ...receipt,
      blockHash,
      logs: receipt.logs.map((log: object) => ({ ...log, blockHash })),
    })),
  };
}
