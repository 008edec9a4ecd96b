/**
 * Builds a TRON transfer locally, byte for byte what tronweb builds (a test holds the two
 * together). A node is never asked to build: it could choose the expiration unnoticed.
 *
 * Field numbers after the public `Tron.proto`: Transaction.raw {1 ref_block_bytes,
 * 4 ref_block_hash, 8 expiration, 11 contract, 14 timestamp, 18 fee_limit}.
 *
 * @module
 */

import { secp256k1 } from "@noble/curves/secp256k1.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";

/** Wire type of a varint field. */
const VARINT = 0;
/** Wire type of a length-delimited field. */
const BYTES = 2;

/** Appends an unsigned varint. */
function pushVarint(out: number[], value: number): void {
  let rest = value;
  while (rest >= 0x80) {
    out.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  out.push(rest);
}

/**
 * Encodes an integer field.
 *
 * @param value whole number from 0 to 2^53 - 1; 0 is left out, as proto3 does
 * @throws {RangeError} when the value is outside that range
 */
function integerField(field: number, value: number): Uint8Array {
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new RangeError(`Cannot encode field ${field} as it is not a whole number: ${value}`);
  }
  if (value === 0) return new Uint8Array(0);
  const out: number[] = [];
  pushVarint(out, field * 8 + VARINT);
  pushVarint(out, value);
  return Uint8Array.from(out);
}

/** Encodes a bytes, string or message field. */
function bytesField(field: number, bytes: Uint8Array): Uint8Array {
  const head: number[] = [];
  pushVarint(head, field * 8 + BYTES);
  pushVarint(head, bytes.length);
  const out = new Uint8Array(head.length + bytes.length);
  out.set(head);
  out.set(bytes, head.length);
  return out;
}

/**
 * Signs a transaction id, deterministically (RFC 6979).
 *
 * @param txid 64 hex digits
 * @param privateKey 32 bytes
 * @returns 130 hex digits: r, s, then recovery 1b or 1c
 */
export function signTransactionId(txid: string, privateKey: Uint8Array): string {
  const signature = secp256k1.sign(hexToBytes(txid), privateKey, {
    prehash: false,
    format: "recovered",
  });
  const recovery = 27 + (signature[0] as number);
  return bytesToHex(signature.subarray(1)) + recovery.toString(16).padStart(2, "0");
}

/** `transfer(address,uint256)`, the first four bytes of its Keccak-256. */
const TRANSFER_SELECTOR = "a9059cbb";

/** The fields of a transaction besides its contract call. */
export interface TransactionHeader {
  /** Low two bytes of the reference block's height, 4 hex digits. */
  readonly refBlockBytes: string;
  /** Bytes 8 to 16 of the reference block's id, 16 hex digits. */
  readonly refBlockHash: string;
  /** Unix milliseconds of block time. */
  readonly expiration: number;
  /** Unix milliseconds; not checked by nodes, but part of the id. */
  readonly timestamp: number;
  /** Sun that may be burnt for energy; 0 for a transfer of TRX. */
  readonly feeLimit: number;
}

/** The call that moves something. All addresses are 42 hex digits starting with `41`. */
export type TransferCall =
  | {
    readonly kind: "token";
    readonly owner: string;
    readonly contract: string;
    readonly to: string;
    /** Integer the contract works with, below 2^256. */
    readonly units: bigint;
  }
  | {
    readonly kind: "native";
    readonly owner: string;
    readonly to: string;
    /** Whole sun, a safe integer. */
    readonly sun: number;
  }
  | {
    /** Delegates energy to `to` without a lock, or undelegates it. */
    readonly kind: "energy";
    readonly action: "delegate" | "undelegate";
    readonly owner: string;
    readonly to: string;
    /** Whole sun of the stake that the energy comes from, a safe integer. */
    readonly sun: number;
  };

/** A built, unsigned transaction. */
export interface BuiltTransaction {
  /** SHA-256 of the raw bytes, 64 hex digits; the signature is not part of it. */
  readonly txid: string;
  /** The JSON object that nodes accept, without its signature. */
  readonly json: Readonly<Record<string, unknown>>;
}

/**
 * The ABI arguments of `transfer(address,uint256)`.
 *
 * @param to 42 hex digits starting with `41`
 * @param units below 2^256
 * @returns 128 hex digits
 * @throws {RangeError} when the number does not fit
 */
export function transferArguments(to: string, units: bigint): string {
  if (units < 0n || units >= 1n << 256n) {
    throw new RangeError(`Cannot encode a token amount as it does not fit 256 bits: ${units}`);
  }
  return to.slice(2).padStart(64, "0") + units.toString(16).padStart(64, "0");
}

interface ContractParts {
  readonly type:
    | "TriggerSmartContract"
    | "TransferContract"
    | "DelegateResourceContract"
    | "UnDelegateResourceContract";
  readonly typeNumber: number;
  readonly value: Readonly<Record<string, string | number>>;
  readonly encoded: Uint8Array;
}

/** Energy in the `ResourceCode` of TRON's `common.proto`. */
const ENERGY = 1;

/** The delegation of energy in both forms; fields after the public `balance_contract.proto`. */
function delegationParts(call: Extract<TransferCall, { kind: "energy" }>): ContractParts {
  const delegates = call.action === "delegate";
  return {
    type: delegates ? "DelegateResourceContract" : "UnDelegateResourceContract",
    typeNumber: delegates ? 57 : 58,
    value: {
      owner_address: call.owner,
      receiver_address: call.to,
      balance: call.sun,
      resource: "ENERGY",
    },
    encoded: concatBytes(
      bytesField(1, hexToBytes(call.owner)),
      integerField(2, ENERGY),
      integerField(3, call.sun),
      bytesField(4, hexToBytes(call.to)),
    ),
  };
}

/** The contract of a transfer in both forms, JSON and protobuf. */
function contractParts(call: TransferCall): ContractParts {
  if (call.kind === "energy") return delegationParts(call);
  if (call.kind === "native") {
    return {
      type: "TransferContract",
      typeNumber: 1,
      value: { to_address: call.to, owner_address: call.owner, amount: call.sun },
      encoded: concatBytes(
        bytesField(1, hexToBytes(call.owner)),
        bytesField(2, hexToBytes(call.to)),
        integerField(3, call.sun),
      ),
    };
  }
  const data = TRANSFER_SELECTOR + transferArguments(call.to, call.units);
  return {
    type: "TriggerSmartContract",
    typeNumber: 31,
    value: { data, owner_address: call.owner, contract_address: call.contract },
    encoded: concatBytes(
      bytesField(1, hexToBytes(call.owner)),
      bytesField(2, hexToBytes(call.contract)),
      bytesField(4, hexToBytes(data)),
    ),
  };
}

/**
 * Builds a transfer.
 *
 * @throws {RangeError} when a number does not fit its field
 */
export function buildTransferTransaction(
  call: TransferCall,
  header: TransactionHeader,
): BuiltTransaction {
  const contract = contractParts(call);
  const typeUrl = `type.googleapis.com/protocol.${contract.type}`;
  const any = concatBytes(bytesField(1, utf8ToBytes(typeUrl)), bytesField(2, contract.encoded));
  const raw = concatBytes(
    bytesField(1, hexToBytes(header.refBlockBytes)),
    bytesField(4, hexToBytes(header.refBlockHash)),
    integerField(8, header.expiration),
    bytesField(11, concatBytes(integerField(1, contract.typeNumber), bytesField(2, any))),
    integerField(14, header.timestamp),
    integerField(18, header.feeLimit),
  );
  const txid = bytesToHex(sha256(raw));
  return {
    txid,
    json: {
      visible: false,
      txID: txid,
      raw_data_hex: bytesToHex(raw),
      raw_data: {
        contract: [{
          parameter: { value: contract.value, type_url: typeUrl },
          type: contract.type,
        }],
        ref_block_bytes: header.refBlockBytes,
        ref_block_hash: header.refBlockHash,
        expiration: header.expiration,
        timestamp: header.timestamp,
        ...(header.feeLimit === 0 ? {} : { fee_limit: header.feeLimit }),
      },
    },
  };
}
