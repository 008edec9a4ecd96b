/**
 * Blocks and receipts as nodes answer them, composed by hand after the public specification of the execution
 * API. Their roots are made by a plain trie on viem's RLP, which shares no line with the one that is
 * tested.
 *
 * @module
 */

import { keccak256, toRlp } from "viem/utils";
import { TRANSFER_TOPIC } from "../../../chains/evm/read/receipt_logs.ts";

type Hex = `0x${string}`;
// deno-lint-ignore no-explicit-any -- members of RLP are nested as they please
type Rlp = any;

/** A contract that counts as money in the tests, and one that does not. */
export const USDT = "0xdac17f958d2ee523a2206206994597c13d831ec7";
export const FAKE = "0x00000000000000000000000000000000000fa4e0";
export const HOT = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";

/** The 32-byte hash that stands for a name. */
export function hashOf(name: string): Hex {
  return keccak256(new TextEncoder().encode(name));
}

/** An address that stands for a number, `0x` and 40 lower-case digits. */
export function addressOf(n: number): Hex {
  return `0x${(0x1000n + BigInt(n)).toString(16).padStart(40, "a")}`;
}

/** A number as a topic or as data. */
export function word(value: bigint | string): Hex {
  return `0x${BigInt(value).toString(16).padStart(64, "0")}`;
}

/** A log as it is written down in a test. */
export interface LogSpec {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

/** The log of a transfer. */
export function transferLog(
  from: string,
  to: string,
  value: bigint,
  address: string = USDT,
): LogSpec {
  return { address, topics: [TRANSFER_TOPIC, word(from), word(to)], data: word(value) };
}

/** A transaction as it is written down in a test. */
export interface TransactionSpec {
  readonly txid?: string;
  readonly type?: number;
  readonly status?: 0 | 1;
  /** State after it, in the place of its status, as in a block before Byzantium. */
  readonly root?: string;
  readonly from?: string;
  readonly gasUsed?: number;
  readonly logs?: readonly LogSpec[];
}

/** A block with its receipts, as JSON. */
export interface BlockFixture {
  // deno-lint-ignore no-explicit-any -- JSON
  readonly head: any;
  // deno-lint-ignore no-explicit-any -- JSON
  readonly receipts: any[];
}

const BLOOM: Hex = `0x${"00".repeat(256)}`;
const PRICE = 2_000_000_000n;

function quantity(value: number | bigint): Hex {
  return `0x${value.toString(16)}`;
}

function rlpNumber(value: number): Hex {
  if (value === 0) return "0x";
  const digits = value.toString(16);
  return `0x${digits.length % 2 === 0 ? digits : `0${digits}`}`;
}

/** A block at a height. */
export function composeBlock(
  height: number,
  transactions: readonly TransactionSpec[],
  { hash = hashOf(`block ${height}`), parentHash = hashOf(`block ${height - 1}`) } = {},
): BlockFixture {
  let gas = 0;
  let logIndex = 0;
  const receipts = transactions.map((spec, i) => {
    const { type = 2, status = 1, from = addressOf(9_000 + i), gasUsed = 41_000 + i } = spec;
    gas += gasUsed;
    const transactionHash = spec.txid ?? hashOf(`transaction ${height}/${i}`);
    return {
      transactionHash,
      transactionIndex: quantity(i),
      blockHash: hash,
      blockNumber: quantity(height),
      from,
      to: USDT,
      contractAddress: null,
      type: quantity(type),
      ...(spec.root === undefined ? { status: quantity(status) } : { root: spec.root }),
      cumulativeGasUsed: quantity(gas),
      gasUsed: quantity(gasUsed),
      effectiveGasPrice: quantity(PRICE),
      logsBloom: BLOOM,
      logs: (spec.logs ?? []).map((log) => ({
        ...log,
        blockHash: hash,
        transactionHash,
        logIndex: quantity(logIndex++),
        removed: false,
      })),
    };
  });
  const head = {
    number: quantity(height),
    hash,
    parentHash,
    timestamp: quantity(1_700_000_000 + 12 * height),
    gasUsed: quantity(gas),
    receiptsRoot: plainRoot(receipts.map(plainReceipt)),
    transactions: receipts.map(({ transactionHash }) => transactionHash),
    baseFeePerGas: quantity(1_000_000_000),
  };
  return { head, receipts };
}

/** The bytes of a receipt in the trie (EIP-2718). */
// deno-lint-ignore no-explicit-any -- JSON
export function plainReceipt(receipt: any): Hex {
  const list = toRlp([
    receipt.root ?? (receipt.status === "0x1" ? "0x01" : "0x"),
    rlpNumber(Number(receipt.cumulativeGasUsed)),
    receipt.logsBloom,
    receipt.logs.map((log: LogSpec) => [log.address, [...log.topics], log.data]),
  ] as Rlp);
  const type = Number(receipt.type);
  return type === 0 ? list : `0x${type.toString(16).padStart(2, "0")}${list.slice(2)}`;
}

/** The root of a list, by the definition in the yellow paper, as plainly as it can be written. */
export function plainRoot(values: readonly Hex[]): Hex {
  if (values.length === 0) return keccak256("0x80");
  const items = values.map((value, i): readonly [string, Hex] => [
    toRlp(rlpNumber(i)).slice(2),
    value,
  ]);
  return keccak256(toRlp(plainNode(items)));
}

function plainNode(items: readonly (readonly [string, Hex])[]): Rlp {
  const [[first, value] = ["", "0x" as Hex]] = items;
  if (items.length === 1) return [prefixed(first, true), value];
  let shared = 0;
  while (items.every(([key]) => key.length > shared && key[shared] === first[shared])) shared++;
  const after = (n: number, chosen = items) =>
    chosen.map(([key, content]): readonly [string, Hex] => [key.slice(n), content]);
  if (shared > 0) return [prefixed(first.slice(0, shared), false), link(plainNode(after(shared)))];
  const branches = [..."0123456789abcdef"].map((digit) => {
    const below = items.filter(([key]) => key.startsWith(digit));
    return below.length === 0 ? "0x" : link(plainNode(after(1, below)));
  });
  return [...branches, "0x"];
}

function link(node: Rlp): Rlp {
  const encoded = toRlp(node);
  return (encoded.length - 2) / 2 < 32 ? node : keccak256(encoded);
}

function prefixed(path: string, isLeaf: boolean): Hex {
  const mark = (isLeaf ? 2 : 0) + path.length % 2;
  return `0x${path.length % 2 === 1 ? `${mark}${path}` : `${mark}0${path}`}`;
}
