/**
 * Reading request bodies within bounds.
 *
 * @module
 */

/** Largest request body, in bytes. */
export const LARGEST_BODY = 65_536;

/**
 * Pieces of a body without an announced length: reading one takes a tenth of a millisecond of the
 * one thread, however small it is.
 */
export const MOST_PIECES = 256;

/** Buffer of a body without an announced length at first, bytes; doubled where it is too small. */
const FIRST_BUFFER = 2_048;

/** What was read. */
export type BodyText =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "too_large" }
  /** In more than {@linkcode MOST_PIECES} pieces. */
  | { readonly kind: "fragmented" }
  /** Not UTF-8, or the connection broke within it. */
  | { readonly kind: "unreadable" };

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads a body of at most {@linkcode LARGEST_BODY} bytes, whether or not its length is announced. */
export async function readBody(request: Request): Promise<BodyText> {
  const announced = request.headers.get("content-length");
  if (announced !== null && Number(announced) > LARGEST_BODY) return { kind: "too_large" };
  try {
    const bytes = announced !== null ? await request.bytes() : await readStream(request.body);
    if (typeof bytes === "string") return { kind: bytes };
    if (bytes.byteLength > LARGEST_BODY) return { kind: "too_large" };
    return { kind: "text", text: utf8.decode(bytes) };
  } catch (error) {
    // A client that hangs up in the middle or sends other bytes than UTF-8 is its own fault.
    if (error instanceof TypeError || isAborted(error)) return { kind: "unreadable" };
    throw error;
  }
}

function isAborted(error: unknown): boolean {
  return error instanceof Error &&
    ["AbortError", "BadResource", "ConnectionReset", "UnexpectedEof", "Interrupted", "Http"]
      .includes(error.name);
}

/** Reads pieces into one buffer: a piece that is kept would keep the large buffer that it came in. */
async function readStream(
  body: ReadableStream<Uint8Array> | null,
): Promise<Uint8Array | "too_large" | "fragmented"> {
  if (body === null) return new Uint8Array(0);
  let whole = new Uint8Array(FIRST_BUFFER);
  let [size, pieces] = [0, 0];
  for await (const piece of body) {
    const end = size + piece.byteLength;
    if (end > LARGEST_BODY) return "too_large";
    if (++pieces > MOST_PIECES) return "fragmented";
    if (end > whole.byteLength) {
      const larger = new Uint8Array(Math.max(end, 2 * whole.byteLength));
      larger.set(whole.subarray(0, size));
      whole = larger;
    }
    whole.set(piece, size);
    size = end;
  }
  return whole.subarray(0, size);
}
