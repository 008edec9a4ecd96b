/**
 * The few protobuf encodings that a TRON transaction needs.
 *
 * @module
 */

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
export function integerField(field: number, value: number): Uint8Array {
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
export function bytesField(field: number, bytes: Uint8Array): Uint8Array {
  const head: number[] = [];
  pushVarint(head, field * 8 + BYTES);
  pushVarint(head, bytes.length);
  const out = new Uint8Array(head.length + bytes.length);
  out.set(head);
  out.set(bytes, head.length);
  return out;
}
