/**
 * Answers that are the same for everybody: bytes that are made once, compressed once, and not sent
 * again to those who have them.
 *
 * @module
 */

import { createHash } from "node:crypto";
import type { Answer } from "./answer.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** One form in which the bytes are sent. */
interface Form {
  readonly bytes: Bytes;
  readonly etag: string;
}

/** A file that does not change while the service runs. */
export class StaticFile {
  readonly #headers: Readonly<Record<string, string>>;
  readonly #isCompressedOnly: boolean;
  readonly #plain: () => Promise<Form>;
  readonly #gzip: () => Promise<Form>;

  /**
   * @param load reads or makes the text; asked once, and again only after it has failed
   * @param headers of every answer, the content type among them
   * @param isCompressedOnly whether it is sent compressed to those as well who do not ask for it
   *   (RFC 9110, 12.5.3): a large file that is not taken stays in memory with its connection
   */
  constructor(
    load: () => string | Promise<string>,
    headers: Readonly<Record<string, string>>,
    isCompressedOnly = false,
  ) {
    this.#isCompressedOnly = isCompressedOnly;
    this.#headers = { ...headers, vary: "Accept-Encoding" };
    this.#plain = once(async () => {
      const bytes = new TextEncoder().encode(await load());
      const name = createHash("sha256").update(bytes).digest("hex").slice(0, 32);
      return { bytes, etag: `"${name}"` };
    });
    this.#gzip = once(async () => {
      const { bytes, etag } = await this.#plain();
      return { bytes: await compress(bytes), etag: etag.replace(/"$/, '-gzip"') };
    });
  }

  /** 200 in the best form that the request takes, or 304. */
  async answer(request: Headers): Promise<Answer> {
    const isGzip = this.#isCompressedOnly || takesGzip(request.get("accept-encoding"));
    const { bytes, etag } = await (isGzip ? this.#gzip() : this.#plain());
    const headers = { ...this.#headers, etag };
    if (isKnown(request.get("if-none-match"), etag)) return { status: 304, body: null, headers };
    const encoding = isGzip ? { "content-encoding": "gzip" } : {};
    return { status: 200, body: bytes, headers: { ...headers, ...encoding } };
  }
}

/** Makes something once, and again only after it has failed. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () =>
    made ??= make().catch((error) => {
      made = null;
      throw error;
    });
}

/** Compresses in pieces, between which others are served. */
async function compress(bytes: Bytes): Promise<Bytes> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  return await new Response(stream).bytes();
}

/** True for an Accept-Encoding header that takes gzip (RFC 9110, 12.5.3). */
function takesGzip(header: string | null): boolean {
  if (header === null) return false;
  const weights = new Map(
    header.toLowerCase().split(",").map((part): [string, boolean] => {
      const [name = "", ...parameters] = part.split(";").map((piece) => piece.trim());
      return [name, !parameters.some((parameter) => /^q=0(?:\.0{0,3})?$/.test(parameter))];
    }),
  );
  return weights.get("gzip") ?? weights.get("*") ?? false;
}

/** True for an If-None-Match header that names the form (RFC 9110, 13.1.2). */
function isKnown(header: string | null, etag: string): boolean {
  if (header === null) return false;
  return header.split(",").some((part) => {
    const one = part.trim();
    return one === "*" || one.replace(/^W\//, "") === etag;
  });
}
