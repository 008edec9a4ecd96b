/** Characters of JSON after which a piece is complete. */
export const PORTION = 65_536;

const utf8 = new TextEncoder();

/** A text in UTF-8, in pieces that are short work each, however long the whole is. */
export class Pieces {
  readonly #encoded: Uint8Array<ArrayBuffer>[] = [];
  #text = "";
  #bytes = 0;

  /** Goes on with a text. */
  add(text: string): void {
    this.#text += text;
    if (this.#text.length >= PORTION) this.#encode();
  }

  /** Goes on with what was written already. */
  join(others: Pieces): void {
    if (others.#encoded.length > 0) {
      this.#encode();
      for (const piece of others.#encoded) this.#push(piece);
    }
    this.add(others.#text);
  }

  /** Pieces that are complete. */
  get complete(): number {
    return this.#encoded.length;
  }

  /** The whole as one text where it is short, otherwise its pieces. */
  finish(): string | EncodedBody {
    if (this.#encoded.length === 0) return this.#text;
    this.#encode();
    return { pieces: this.#encoded, bytes: this.#bytes };
  }

  #encode(): void {
    if (this.#text === "") return;
    this.#push(utf8.encode(this.#text));
    this.#text = "";
  }

  #push(piece: Uint8Array<ArrayBuffer>): void {
    this.#encoded.push(piece);
    this.#bytes += piece.byteLength;
  }
}

/** A long body as it is sent, piece by piece. */
export interface EncodedBody {
  readonly pieces: readonly Uint8Array<ArrayBuffer>[];
  /** Of all pieces together. */
  readonly bytes: number;
}

/**
 * A list in the body of an answer whose rows are written as they are read: none of them is kept, so
 * that a list of large rows costs no more memory than its bytes, and one thread never has more to do
 * at a time than the rows which arrived together.
 */
export class WrittenRows {
  readonly #pieces = new Pieces();
  #count = 0;

  /** Writes the next row. */
  add(row: object): void {
    this.#pieces.add((this.#count++ === 0 ? "[" : ",") + JSON.stringify(row));
  }

  /** Goes on in a body with the whole list. */
  writeTo(body: Pieces): void {
    if (this.#count === 0) body.add("[");
    body.join(this.#pieces);
    body.add("]");
  }
}
