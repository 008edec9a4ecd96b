/**
 * Frames on a byte stream: four bytes with the length of what follows (big-endian), then that many
 * bytes of UTF-8 text.
 *
 * @module
 */

const HEADER_BYTES = 4;

/** A peer that does not keep to the protocol; there is nothing to answer it. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

/** A text as a frame. */
export function frameOf(text: string): Uint8Array<ArrayBuffer> {
  const body = new TextEncoder().encode(text);
  const frame = new Uint8Array(HEADER_BYTES + body.length);
  new DataView(frame.buffer).setUint32(0, body.length);
  frame.set(body, HEADER_BYTES);
  return frame;
}

/** Cuts a stream into frames. Memory is taken for one frame, and only up to the limit. */
export class FrameReader {
  readonly #limit: number;
  readonly #header = new Uint8Array(HEADER_BYTES);
  #body: Uint8Array | null = null;
  /** Bytes of the header, or of the body where there is one. */
  #filled = 0;

  /** @param limit most bytes of one frame */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** True if a frame has begun and not ended. */
  get isPartial(): boolean {
    return this.#filled > 0 || this.#body !== null;
  }

  /**
   * Takes what arrived.
   *
   * @returns the texts of the frames that it completed
   * @throws {ProtocolError} when a frame is empty, larger than the limit, or no UTF-8
   */
  push(bytes: Uint8Array): string[] {
    const frames: string[] = [];
    for (let offset = 0; offset < bytes.length;) {
      const target = this.#body ?? this.#header;
      const part = bytes.subarray(offset, offset + target.length - this.#filled);
      target.set(part, this.#filled);
      this.#filled += part.length;
      offset += part.length;
      if (this.#filled < target.length) break;
      this.#filled = 0;
      if (this.#body === null) {
        this.#body = new Uint8Array(this.#announced());
      } else {
        frames.push(textOf(this.#body));
        this.#body = null;
      }
    }
    return frames;
  }

  #announced(): number {
    const length = new DataView(this.#header.buffer).getUint32(0);
    if (length > 0 && length <= this.#limit) return length;
    throw new ProtocolError(`Cannot read a frame as its size is out of bounds: ${length}`);
  }
}

function textOf(body: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    throw new ProtocolError("Cannot read a frame as it is no UTF-8");
  }
}
