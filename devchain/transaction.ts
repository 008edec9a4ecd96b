/**
 * Transactions between their two forms: protobuf (what is hashed and signed) and the node's JSON.
 * As java-tron, the node packs what it hashes from the JSON's `raw_data` and ignores
 * `raw_data_hex`, so a client whose two forms differ gets SIGERROR here as well.
 *
 * @module
 */

import { sha256 } from "@noble/hashes/sha2.js";
import { fromBase58, isHexAddress } from "./address.ts";
import {
  type ContractType,
  contractTypeNamed,
  contractTypeNumbered,
  type FieldType,
  RESOURCES,
} from "./contract_types.ts";
import { MalformedMessage, type ProtoField, ProtoWriter, readFields } from "./protobuf.ts";

/** A contract's fields as JSON, addresses in hex; absent fields are zero. */
export type ContractValue = Readonly<Record<string, string | number | boolean>>;

/** One call within a transaction. */
export interface ContractCall {
  readonly parameter: { readonly value: ContractValue; readonly type_url: string };
  readonly type: string;
  readonly Permission_id?: number;
}

/** The part that is signed. */
export interface RawData {
  readonly contract: readonly ContractCall[];
  /** Two bytes of the reference block's height, hex. */
  readonly ref_block_bytes?: string;
  /** Bytes 8 to 16 of the reference block's id, hex. */
  readonly ref_block_hash?: string;
  /** Unix milliseconds of block time. */
  readonly expiration?: number;
  /** Memo, hex. */
  readonly data?: string;
  readonly timestamp?: number;
  /** The most the transaction may burn for energy, sun. */
  readonly fee_limit?: number;
}

/** A transaction as the node holds it. */
export interface Transaction {
  readonly txid: string;
  readonly raw: RawData;
  readonly rawHex: string;
  /** 65 bytes each, hex. */
  readonly signatures: readonly string[];
  /** Serialized size with signatures, bytes. */
  readonly size: number;
}

/** Bytes a receipt may add to a transaction, charged with it (java-tron, MAX_RESULT_SIZE_IN_TX). */
export const RESULT_SIZE = 64;

/** The hash that names a transaction and is signed. */
function transactionId(raw: Uint8Array): Uint8Array {
  return sha256(raw);
}

/**
 * Puts a transaction together from its signed bytes.
 *
 * @throws {MalformedMessage} when the bytes are no transaction
 */
export function assemble(rawBytes: Uint8Array, signatures: readonly string[]): Transaction {
  const signed = new ProtoWriter().message(1, rawBytes);
  for (const signature of signatures) signed.message(2, Uint8Array.fromHex(signature));
  return {
    txid: transactionId(rawBytes).toHex(),
    raw: decodeRaw(rawBytes),
    rawHex: rawBytes.toHex(),
    signatures,
    size: signed.finish().length,
  };
}

/**
 * Reads a whole signed transaction in protobuf, as `broadcasthex` takes it.
 *
 * @throws {MalformedMessage} when the bytes are no transaction
 */
export function decodeTransaction(bytes: Uint8Array): Transaction {
  const fields = readFields(bytes);
  const raw = fields.find((field) => field.no === 1);
  if (raw?.kind !== "bytes") {
    throw new MalformedMessage("Cannot read a transaction without raw data");
  }
  const signatures = fields.flatMap((field) =>
    field.no === 2 && field.kind === "bytes" ? [field.value.toHex()] : []
  );
  return assemble(raw.value, signatures);
}

/**
 * Packs the JSON form.
 *
 * @param visible whether addresses are base58 instead of hex
 * @throws {MalformedMessage} when a field has the wrong type
 */
export function encodeRaw(raw: unknown, visible: boolean): Uint8Array {
  const json = asRecord(raw, "raw_data");
  const writer = new ProtoWriter()
    .bytes(1, hexField(json, "ref_block_bytes"))
    .bytes(4, hexField(json, "ref_block_hash"))
    .int(8, intField(json, "expiration"))
    .bytes(10, hexField(json, "data"));
  if (!Array.isArray(json["contract"])) {
    throw new MalformedMessage("Cannot pack a transaction as raw_data.contract is missing");
  }
  for (const entry of json["contract"]) {
    const call = encodeCall(asRecord(entry, "contract"), visible);
    if (call !== null) writer.message(11, call);
  }
  return writer.int(14, intField(json, "timestamp")).int(18, intField(json, "fee_limit")).finish();
}

function encodeCall(json: Record<string, unknown>, visible: boolean): Uint8Array | null {
  const type = contractTypeNamed(String(json["type"]));
  // As java-tron: a contract of an unknown type is left out, the hash then fits no signature.
  if (type === undefined) return null;
  const parameter = asRecord(json["parameter"], "parameter");
  const value = asRecord(parameter["value"], "value");
  const message = new ProtoWriter();
  for (const field of type.fields) encodeField(message, field, value, visible);
  const any = new ProtoWriter()
    .bytes(1, new TextEncoder().encode(typeUrl(type)))
    .bytes(2, message.finish())
    .finish();
  return new ProtoWriter()
    .int(1, type.no)
    .message(2, any)
    .int(5, intField(json, "Permission_id"))
    .finish();
}

function encodeField(
  writer: ProtoWriter,
  field: FieldType,
  json: Record<string, unknown>,
  visible: boolean,
): void {
  const value = json[field.name];
  if (value === undefined || value === null) return;
  switch (field.kind) {
    case "int":
      writer.int(field.no, intField(json, field.name));
      return;
    case "bool":
      writer.int(field.no, value === true || value === "true" ? 1 : 0);
      return;
    case "resource": {
      const index = typeof value === "number" ? value : RESOURCES.findIndex((r) => r === value);
      if (index < 0) {
        throw new MalformedMessage(`Cannot pack a resource as it is unknown: ${value}`);
      }
      writer.int(field.no, index);
      return;
    }
    case "hex":
      writer.bytes(field.no, hexField(json, field.name));
      return;
    case "address":
      writer.bytes(field.no, Uint8Array.fromHex(addressField(json, field.name, visible)));
      return;
    default:
      throw new TypeError(`Cannot pack a field of unknown kind: ${field.kind satisfies never}`);
  }
}

/**
 * Unpacks what was signed.
 *
 * @throws {MalformedMessage} when the bytes are no raw transaction
 */
function decodeRaw(bytes: Uint8Array): RawData {
  const raw: Record<string, string | number> = {};
  const contract: ContractCall[] = [];
  for (const field of readFields(bytes)) {
    if (field.no === 11 && field.kind === "bytes") contract.push(decodeCall(field.value));
    else if (field.no === 1) raw["ref_block_bytes"] = wireHex(field);
    else if (field.no === 4) raw["ref_block_hash"] = wireHex(field);
    else if (field.no === 8) raw["expiration"] = wireInt(field);
    else if (field.no === 10) raw["data"] = wireHex(field);
    else if (field.no === 14) raw["timestamp"] = wireInt(field);
    else if (field.no === 18) raw["fee_limit"] = wireInt(field);
  }
  return { contract, ...raw };
}

function decodeCall(bytes: Uint8Array): ContractCall {
  const fields = readFields(bytes);
  const number = fields.find((field) => field.no === 1);
  const type = contractTypeNumbered(number === undefined ? 0 : wireInt(number));
  const any = fields.find((field) => field.no === 2);
  const permission = fields.find((field) => field.no === 5);
  const message = any?.kind === "bytes" ? readFields(any.value) : [];
  const url = message.find((field) => field.no === 1);
  const body = message.find((field) => field.no === 2);
  const urlText = url?.kind === "bytes" ? new TextDecoder().decode(url.value) : "";
  if (type !== undefined && urlText !== typeUrl(type)) {
    throw new MalformedMessage(`Cannot read a contract as its type url is wrong: ${urlText}`);
  }
  const value: Record<string, string | number | boolean> = {};
  for (const wire of body?.kind === "bytes" ? readFields(body.value) : []) {
    const field = type?.fields.find((candidate) => candidate.no === wire.no);
    if (field !== undefined) value[field.name] = decodeField(field, wire);
  }
  return {
    parameter: { value, type_url: urlText },
    type: type?.name ?? `Unsupported(${number === undefined ? 0 : wireInt(number)})`,
    ...(permission === undefined ? {} : { Permission_id: wireInt(permission) }),
  };
}

function decodeField(field: FieldType, wire: ProtoField): string | number | boolean {
  switch (field.kind) {
    case "address":
    case "hex":
      return wireHex(wire);
    case "int":
      return wireInt(wire);
    case "bool":
      return wireInt(wire) !== 0;
    case "resource":
      return RESOURCES[wireInt(wire)] ?? String(wireInt(wire));
    default:
      throw new TypeError(`Cannot unpack a field of unknown kind: ${field.kind satisfies never}`);
  }
}

function typeUrl(type: ContractType): string {
  return `type.googleapis.com/protocol.${type.name}`;
}

function wireHex(field: ProtoField): string {
  if (field.kind !== "bytes") throw new MalformedMessage(`Cannot read field ${field.no} as bytes`);
  return field.value.toHex();
}

function wireInt(field: ProtoField): number {
  if (field.kind !== "int") throw new MalformedMessage(`Cannot read field ${field.no} as a number`);
  return field.value;
}

function asRecord(value: unknown, name: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new MalformedMessage(`Cannot read ${name} as it is not an object`);
  }
  return Object.fromEntries(Object.entries(value));
}

function hexField(json: Record<string, unknown>, name: string): Uint8Array {
  const value = json[name];
  if (value === undefined || value === null) return new Uint8Array();
  if (typeof value !== "string" || !/^([0-9a-f]{2})*$/i.test(value)) {
    throw new MalformedMessage(`Cannot read ${name} as it is not hex: ${value}`);
  }
  return Uint8Array.fromHex(value);
}

function intField(json: Record<string, unknown>, name: string): number {
  const value = json[name];
  if (value === undefined || value === null) return 0;
  const number = typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : value;
  if (typeof number !== "number" || !Number.isSafeInteger(number)) {
    throw new MalformedMessage(`Cannot read ${name} as it is not an integer: ${value}`);
  }
  return number;
}

function addressField(json: Record<string, unknown>, name: string, visible: boolean): string {
  const value = json[name];
  if (typeof value !== "string") {
    throw new MalformedMessage(`Cannot read ${name} as it is not an address: ${value}`);
  }
  if (value === "") return "";
  const hex = visible ? fromBase58(value) : value.toLowerCase();
  if (hex === null || !isHexAddress(hex)) {
    throw new MalformedMessage(`Cannot read ${name} as it is not an address: ${value}`);
  }
  return hex;
}
