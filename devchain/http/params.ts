/**
 * Parameters of a node request: a query, a JSON body or a form, with java-tron's way of refusing.
 *
 * @module
 */

import { fromBase58, type HexAddress, isHexAddress } from "../address.ts";

/** A request that the node answers with `{"Error": ...}` and status 200, as java-tron does. */
export class NodeError extends Error {
  override readonly name = "NodeError";

  /** @param exception the Java class that a client sees */
  constructor(readonly exception: string, message: string) {
    super(message);
  }
}

const PARSE_ERROR = "org.tron.core.services.http.JsonFormat$ParseException";

/** A request's parameters. */
export class Params {
  readonly #values: ReadonlyMap<string, unknown>;

  constructor(values: ReadonlyMap<string, unknown>) {
    this.#values = values;
  }

  /** Parameters of a query or a form. */
  static ofSearch(search: URLSearchParams): Params {
    return new Params(new Map(search.entries()));
  }

  /**
   * Parameters of a body.
   *
   * @throws {NodeError} when it begins like JSON and is not
   */
  static ofBody(body: string): Params {
    const text = body.trim();
    if (text === "") return new Params(new Map());
    if (!text.startsWith("{")) return Params.ofSearch(new URLSearchParams(text));
    try {
      return new Params(new Map(Object.entries(JSON.parse(text))));
    } catch {
      throw new NodeError("com.alibaba.fastjson.JSONException", "syntax error, position at 0");
    }
  }

  /** True if addresses are base58 in this request and its answer. */
  get visible(): boolean {
    return this.flag("visible");
  }

  /** Any value. */
  raw(name: string): unknown {
    return this.#values.get(name);
  }

  /** A boolean, false where absent. */
  flag(name: string): boolean {
    const value = this.#values.get(name);
    return value === true || value === "true";
  }

  /** A text, empty where absent. */
  text(name: string): string {
    const value = this.#values.get(name);
    return value === undefined || value === null ? "" : String(value);
  }

  /**
   * A whole number, 0 where absent.
   *
   * @throws {NodeError} when it is anything else
   */
  int(name: string): number {
    const value = this.#values.get(name);
    if (value === undefined || value === null || value === "") return 0;
    const number = typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : value;
    if (typeof number !== "number" || !Number.isSafeInteger(number)) {
      throw new NodeError("java.lang.NumberFormatException", `For input string: "${value}"`);
    }
    return number;
  }

  /**
   * An address in the form that `visible` asks for, null where absent.
   *
   * @throws {NodeError} when it has the other form or none
   */
  address(name: string): HexAddress | null {
    const value = this.text(name);
    if (value === "") return null;
    if (this.visible) {
      const address = fromBase58(value);
      if (address !== null) return address;
      throw new NodeError(PARSE_ERROR, `1:12: INVALID base58 String, ${value}`);
    }
    const hex = value.toLowerCase();
    if (/^([0-9a-f]{2})*$/.test(hex)) return isHexAddress(hex) ? hex : "";
    throw new NodeError(PARSE_ERROR, "1:12: INVALID hex String");
  }

  /** A transaction or block id, lower case. */
  hash(name: string): string {
    const value = this.text(name).toLowerCase();
    if (/^([0-9a-f]{2})*$/.test(value)) return value;
    throw new NodeError(PARSE_ERROR, "1:10: INVALID hex String");
  }
}
