/**
 * Reads the body of an answer into memory that is used again: blocks of a busy chain are megabytes
 * long, and to make and to forget that much for each cost more than reading it.
 *
 * @module
 */

import { ChainUnavailable } from "../chain.ts";

/** Far above any real block with its receipts; a node cannot fill our memory. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const FIRST_SIZE = 256 * 1024;
/** Room for what a connection gives at once; with less left, the buffer is doubled. */
const LEAST_ROOM = 64 * 1024;
/** Most bytes that are kept for later answers, all buffers together. */
const MAX_IDLE_BYTES = 16 * 1024 * 1024;

const decoder = new TextDecoder();
const idle: ArrayBuffer[] = [];
let idleBytes = 0;

function take(): ArrayBuffer {
  const buffer = idle.pop();
  if (buffer === undefined) return new ArrayBuffer(FIRST_SIZE);
  idleBytes -= buffer.byteLength;
  return buffer;
}

function giveBack(buffer: ArrayBuffer): void {
  if (idleBytes + buffer.byteLength > MAX_IDLE_BYTES) return;
  idleBytes += buffer.byteLength;
  idle.push(buffer);
}

/**
 * A body as text.
 *
 * @param place named when it is too large
 * @throws {ChainUnavailable} `malformed` when it is larger than any real one
 * @throws {Error} when the connection ends before it; then the buffer is left to the collector
 */
export async function readBody(response: Response, place: string): Promise<string> {
  if (response.body === null) return "";
  const reader = response.body.getReader({ mode: "byob" });
  try {
    const bytes = await readAll(reader, place);
    const text = decoder.decode(bytes);
    giveBack(bytes.buffer);
    return text;
  } catch (error) {
    // the rest is not wanted; a connection that failed fails to be given up as well
    await reader.cancel().catch(() => {});
    throw error;
  }
}

async function readAll(
  reader: ReadableStreamBYOBReader,
  place: string,
): Promise<Uint8Array<ArrayBuffer>> {
  let buffer = take();
  let size = 0;
  while (true) {
    if (buffer.byteLength - size < LEAST_ROOM) buffer = buffer.transfer(2 * buffer.byteLength);
    const { value, done } = await reader.read(new Uint8Array(buffer, size));
    if (value === undefined) throw new Error("the body was given up");
    // the same memory, which belongs to the new buffer now
    buffer = value.buffer;
    size += value.byteLength;
    if (done) return new Uint8Array(buffer, 0, size);
    if (size > MAX_BODY_BYTES) {
      throw new ChainUnavailable(
        "malformed",
        `Cannot read an answer as it is larger than ${MAX_BODY_BYTES} bytes: ${place}`,
      );
    }
  }
}
