/**
 * Reading request bodies within bounds.
 *
 * @module
 */

/** Largest request body, in bytes. */
export const LARGEST_BODY = 65_536;

/** What was read. */
export type BodyText =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "too_large" }
  /** Not UTF-8, or the connection broke within it. */
  | { readonly kind: "unreadable" };

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads a body of at most {@linkcode LARGEST_BODY} bytes, whether or not its length is announced. */
export async function readBody(request: Request): Promise<BodyText> {
  const announced = request.headers.get("content-length");
  if (announced !== null && Number(announced) > LARGEST_BODY) return { kind: "too_large" };
  try {
    const bytes = announced !== null ? await request.bytes() : await readStream(request.body);
    if (bytes === null || bytes.byteLength > LARGEST_BODY) return { kind: "too_large" };
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

async function readStream(body: ReadableStream<Uint8Array> | null): Promise<Uint8Array | null> {
  if (body === null) return new Uint8Array(0);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > LARGEST_BODY) return null;
    chunks.push(chunk);
  }
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return whole;
}
