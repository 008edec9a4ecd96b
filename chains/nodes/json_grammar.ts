/**
 * Grammar of a JSON text that comes in pieces: what may stand where. It is as strict as JSON.parse, for the parts that
 * are passed over as well: behind a byte that is wrong nothing of a text is what it seems.
 *
 * @module
 */

import { ChainUnavailable } from "../chain.ts";

/** Objects and lists within each other at most: answers of nodes have a dozen. */
const DEEPEST = 1_000;

/** Parts of a text that may come next, but for blanks. */
type Place = "value" | "value or end" | "name" | "name or end" | "colon" | "comma or end" | "end";

/** The error for a long answer that cannot be read. */
export function malformed(why: string): ChainUnavailable {
  return new ChainUnavailable("malformed", `Cannot read a long answer as ${why}`);
}

/** Follows one text. Each step throws {@linkcode ChainUnavailable} `malformed` where it may not be the next one. */
export class JsonGrammar {
  /** Of the objects and lists that are open, from the outermost: 1 for a list. */
  readonly #isList = new Uint8Array(DEEPEST);
  #depth = 0;
  #place: Place = "value";

  /** True where the text may end. */
  get isWhole(): boolean {
    return this.#place === "end";
  }

  /** A text begins. @returns true where it is a name */
  text(): boolean {
    if (this.#place === "name" || this.#place === "name or end") {
      this.#place = "colon";
      return true;
    }
    this.value();
    return false;
  }

  /** A value without members begins. */
  value(): void {
    this.#requireValue();
    this.#endValue();
  }

  /** An object or a list begins. */
  open(isList: boolean): void {
    this.#requireValue();
    if (this.#depth === DEEPEST) throw malformed(`it has more than ${DEEPEST} levels`);
    this.#isList[this.#depth] = isList ? 1 : 0;
    this.#depth += 1;
    this.#place = isList ? "value or end" : "name or end";
  }

  /** An object or a list ends. */
  close(isList: boolean): void {
    if (this.#depth === 0 || this.#isInList !== isList) {
      throw malformed("its brackets do not match");
    }
    if (
      this.#place !== "comma or end" && this.#place !== (isList ? "value or end" : "name or end")
    ) {
      throw malformed("a bracket is closed before a value");
    }
    this.#depth -= 1;
    this.#endValue();
  }

  comma(): void {
    if (this.#place !== "comma or end") throw malformed("a comma is out of place");
    this.#place = this.#isInList ? "value" : "name";
  }

  colon(): void {
    if (this.#place !== "colon") throw malformed("a colon is out of place");
    this.#place = "value";
  }

  get #isInList(): boolean {
    return this.#isList[this.#depth - 1] === 1;
  }

  #requireValue(): void {
    if (this.#place === "value" || this.#place === "value or end") return;
    throw malformed(
      this.#place === "end" ? "it goes on after its end" : "a value is out of place",
    );
  }

  #endValue(): void {
    this.#place = this.#depth === 0 ? "end" : "comma or end";
  }
}
