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
  readonly #load: () => string | Promise<string>;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #isCompressedOnly: boolean;
  #plain: Promise<Form> | null = null;
  #gzip: Promise<Form> | null = null;

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
    this.#load = load;
    this.#isCompressedOnly = isCompressedOnly;
    this.#headers = { ...headers, vary: "Accept-Encoding" };
  }

  /** 200 in the best form that the request takes, or 304. */
  async answer(request: Headers): Promise<Answer> {
    const isGzip = this.#isCompressedOnly || takesGzip(request.get("accept-encoding"));
    const { bytes, etag } = await (isGzip ? this.#compressed() : this.#made());
    if (isKnown(request.get("if-none-match"), etag)) {
      return { status: 304, body: null, headers: { ...this.#headers, etag } };
    }
    return {
      status: 200,
      body: bytes,
      headers: { ...this.#headers, etag, ...(isGzip ? { "content-encoding": "gzip" } : {}) },
    };
  }

  #made(): Promise<Form> {
    return this.#plain ??= this.#make().catch((error) => {
      this.#plain = null;
      throw error;
    });
  }

  #compressed(): Promise<Form> {
    return this.#gzip ??= this.#compress().catch((error) => {
      this.#gzip = null;
      throw error;
    });
  }

  async #make(): Promise<Form> {
    const bytes = new TextEncoder().encode(await this.#load());
    const name = createHash("sha256").update(bytes).digest("hex").slice(0, 32);
    return { bytes, etag: `"${name}"` };
  }

  async #compress(): Promise<Form> {
    const { bytes, etag } = await this.#made();
    return { bytes: await compress(bytes), etag: etag.replace(/"$/, '-gzip"') };
  }
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
