/**
 * The little of protobuf's wire format that TRON transactions and block headers need: varints and
 * length-delimited fields.
 *
 * @module
 */

/** Bytes that are not a message of the expected kind. */
export class MalformedMessage extends Error {
  override readonly name = "MalformedMessage";
}

/** Writes fields in the order of the calls; zero values are left out, as proto3 does. */
export class ProtoWriter {
  readonly #bytes: number[] = [];

  /** A signed 64-bit, enum or bool field. */
  int(field: number, value: number): this {
    if (value === 0) return this;
    this.#varint(field << 3);
    if (!Number.isSafeInteger(value)) {
      throw new MalformedMessage(`Cannot encode a number as it is not a safe integer: ${value}`);
    }
    this.#varint(value);
    return this;
  }

  /** A bytes, string or nested message field; empty is left out. */
  bytes(field: number, value: Uint8Array): this {
    return value.length === 0 ? this : this.message(field, value);
  }

  /** A nested message or repeated element, written even when empty. */
  message(field: number, value: Uint8Array): this {
    this.#varint((field << 3) | 2);
    this.#varint(value.length);
    for (const byte of value) this.#bytes.push(byte);
    return this;
  }

  /** The message so far. */
  finish(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }

  #varint(value: number): void {
    if (value < 0) return this.#bigVarint(BigInt.asUintN(64, BigInt(value)));
    let rest = value;
    while (rest > 0x7f) {
      this.#bytes.push((rest % 128) | 0x80);
      rest = Math.floor(rest / 128);
    }
    this.#bytes.push(rest);
  }

  #bigVarint(value: bigint): void {
    let rest = value;
    while (rest > 0x7fn) {
      this.#bytes.push(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    this.#bytes.push(Number(rest));
  }
}

/** One field as it stands on the wire. */
export type ProtoField =
  | { readonly no: number; readonly kind: "int"; readonly value: number }
  | { readonly no: number; readonly kind: "bytes"; readonly value: Uint8Array };

/**
 * Reads a message's fields in wire order.
 *
 * @throws {MalformedMessage} when the bytes end early, hold another wire type, or a number beyond
 * 2^53
 */
export function readFields(bytes: Uint8Array): ProtoField[] {
  const fields: ProtoField[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw new MalformedMessage("Cannot read a varint as the bytes end");
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) {
        const number = Number(BigInt.asIntN(64, value));
        if (Number.isSafeInteger(number)) return number;
        throw new MalformedMessage(`Cannot read a varint as it is beyond 2^53: ${number}`);
      }
    }
    throw new MalformedMessage("Cannot read a varint as it is longer than 10 bytes");
  };
  while (at < bytes.length) {
    const tag = varint();
    const no = tag >>> 3;
    const wireType = tag & 7;
    if (no === 0) throw new MalformedMessage("Cannot read a field as its number is 0");
    if (wireType === 0) {
      fields.push({ no, kind: "int", value: varint() });
    } else if (wireType === 2) {
      const length = varint();
      if (length < 0 || at + length > bytes.length) {
        throw new MalformedMessage(`Cannot read field ${no} as the bytes end`);
      }
      fields.push({ no, kind: "bytes", value: bytes.subarray(at, at + length) });
      at += length;
    } else {
      throw new MalformedMessage(`Cannot read field ${no} as its wire type is ${wireType}`);
    }
  }
  return fields;
}
