/**
 * Bodies of answers as they are sent.
 *
 * @module
 */

import { delay } from "../../ledger/database/delay.ts";
import type { Answer } from "./answer.ts";
import { type EncodedBody, Pieces, WrittenRows } from "./written_rows.ts";

/** A body as it is sent; null: none. */
export type Written = string | Uint8Array<ArrayBuffer> | EncodedBody | null;

/** Shorter lists are written at once. */
const MANY_ROWS = 10;

/**
 * Writes the body of an answer. A list of large rows is written in portions, between which others
 * are served: one thread writes for everybody.
 */
export function writeBody(body: Answer["body"]): Written | Promise<Written> {
  if (body === null || typeof body === "string" || body instanceof Uint8Array) return body;
  if (Array.isArray(body)) return JSON.stringify(body);
  const entries = Object.entries(body);
  return entries.some(([, value]) => isList(value)) ? writeFields(entries) : JSON.stringify(body);
}

/** Writes the body of an answer that is known to be small. */
export function writeSmall(body: Answer["body"]): Written {
  const isWritten = body === null || typeof body === "string" || body instanceof Uint8Array;
  return isWritten ? body : JSON.stringify(body);
}

function isList(value: unknown): boolean {
  return value instanceof WrittenRows || (Array.isArray(value) && value.length >= MANY_ROWS);
}

async function writeFields(
  entries: readonly (readonly [string, unknown])[],
): Promise<string | EncodedBody> {
  const out = new Pieces();
  let before = "{";
  for (const [name, value] of entries) {
    if (value === undefined) continue;
    out.add(`${before}${JSON.stringify(name)}:`);
    before = ",";
    if (value instanceof WrittenRows) value.writeTo(out);
    else if (Array.isArray(value)) await writeRows(value, out);
    else out.add(JSON.stringify(value) ?? "null");
  }
  out.add(before === "{" ? "{}" : "}");
  return out.finish();
}

/** Writes a list; after each portion others have their turn. */
async function writeRows(rows: readonly unknown[], out: Pieces): Promise<void> {
  out.add("[");
  for (let i = 0; i < rows.length; i++) {
    const { complete } = out;
    out.add((i === 0 ? "" : ",") + (JSON.stringify(rows[i]) ?? "null"));
    if (out.complete > complete) await delay(0);
  }
  out.add("]");
}

/** Bytes of a body, or, of a text, its characters. */
export function sizeOf(written: Written): number {
  if (written === null) return 0;
  if (typeof written === "string") return written.length;
  return written instanceof Uint8Array ? written.byteLength : written.bytes;
}
