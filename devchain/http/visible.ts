/**
 * Turns the node's hex JSON into the forms that `visible` and `int64_as_string` ask for.
 *
 * @module
 */

import { isHexAddress, toBase58 } from "../address.ts";

/** Fields whose text is hex of UTF-8 (java-tron, HttpSelfFormatFieldName, name fields). */
const TEXT_FIELDS = new Set(["message", "resMessage"]);
/** Numbers that are not int64. */
const SMALL_NUMBERS = new Set(["version", "Permission_id", "code", "witness_id"]);

/**
 * Addresses become base58, messages text; a log's address gets its `41` first.
 *
 * @param value JSON with addresses in hex
 */
export function toVisible(value: unknown, field = ""): unknown {
  if (typeof value === "string") {
    if (TEXT_FIELDS.has(field)) return textOfHex(value);
    if (field === "topics" || field === "data" || field === "parameter") return value;
    if (isHexAddress(value)) return toBase58(value);
    if (field === "address" && /^[0-9a-f]{40}$/.test(value)) return toBase58("41" + value);
    return value;
  }
  if (Array.isArray(value)) return value.map((entry) => toVisible(entry, field));
  return mapObject(value, toVisible);
}

/** 64-bit numbers become texts. */
export function numbersAsText(value: unknown, field = ""): unknown {
  if (typeof value === "number") return SMALL_NUMBERS.has(field) ? value : String(value);
  if (Array.isArray(value)) return value.map((entry) => numbersAsText(entry, field));
  return mapObject(value, numbersAsText);
}

function mapObject(value: unknown, map: (entry: unknown, field: string) => unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([field, entry]) => [field, map(entry, field)]),
  );
}

function textOfHex(hex: string): string {
  return /^([0-9a-f]{2})+$/.test(hex) ? new TextDecoder().decode(Uint8Array.fromHex(hex)) : hex;
}
