/**
 * The hash of a block as its header makes it. What a header has under its hash is the same at every node that names the
 * hash: the root of its receipts, its time, the price that all of it paid.
 *
 * Fields after the execution specifications of Ethereum, in their order; BNB Smart Chain has the same.
 *
 * @module
 */

import { keccak } from "./keccak.ts";
import { RlpWriter } from "./rlp_writer.ts";

/** Fields that every header has. */
const FIELDS = [
  "parentHash",
  "sha3Uncles",
  "miner",
  "stateRoot",
  "transactionsRoot",
  "receiptsRoot",
  "logsBloom",
  "difficulty",
  "number",
  "gasLimit",
  "gasUsed",
  "timestamp",
  "extraData",
  "mixHash",
  "nonce",
] as const;
/** Fields that later upgrades have put behind them, each where all before it are. */
const LATER_FIELDS = [
  "baseFeePerGas",
  "withdrawalsRoot",
  "blobGasUsed",
  "excessBlobGas",
  "parentBeaconBlockRoot",
  "requestsHash",
] as const;
/** Fields that are numbers, which have no leading zeros. */
const NUMBERS: ReadonlySet<string> = new Set([
  "difficulty",
  "number",
  "gasLimit",
  "gasUsed",
  "timestamp",
  "baseFeePerGas",
  "blobGasUsed",
  "excessBlobGas",
]);
const HEX = /^0x[0-9a-f]*$/i;

const writer = new RlpWriter();

/** A field as bytes in hexadecimal; null for what is none. */
function bytesOf(name: string, value: unknown): string | null {
  if (typeof value !== "string" || !HEX.test(value)) return null;
  if (!NUMBERS.has(name)) return value.length % 2 === 0 ? value : null;
  const digits = value.slice(2).replace(/^0+/, "");
  return digits.length % 2 === 0 ? `0x${digits}` : `0x0${digits}`;
}

/**
 * True for a header whose fields have its hash. False as well where a later upgrade has given it fields that are not
 * known here: then nothing is known of what its hash stands for.
 *
 * @param header as a node answers it
 */
export function hasOwnHash(header: Readonly<Record<string, unknown>>): boolean {
  const fields: string[] = [];
  const later = LATER_FIELDS.filter((name) => (header[name] ?? null) !== null);
  for (const name of [...FIELDS, ...later]) {
    const bytes = bytesOf(name, header[name]);
    if (bytes === null) return false;
    fields.push(bytes);
  }
  writer.reset();
  for (const bytes of fields.toReversed()) writer.hex(bytes);
  writer.list(0);
  return `0x${keccak(writer.bytes()).toHex()}` === header["hash"];
}
