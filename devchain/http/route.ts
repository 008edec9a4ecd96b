/**
 * Requests to the node's routes with their parameters, and their answers.
 *
 * @module
 */

import { fromBase58, type HexAddress, isHexAddress } from "../address.ts";
import type { ChainNode } from "../chain_node.ts";
import type { Fault, FaultKind } from "../faults.ts";
import type { StateReader } from "../overlay.ts";

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

export interface NodeRequest {
  readonly node: ChainNode;
  readonly params: Params;
  /** `solid` under `/walletsolidity/`. */
  readonly view: "head" | "solid";
  /** Blocks that the node which answers lacks: it is another one than the one before. */
  readonly behind: number;
  /** True if a fault of one of these kinds happens now. */
  fire(kinds: readonly FaultKind[]): Fault | null;
}

/** An answer: JSON in hex form, or JSON bytes in hex form. */
export type Answer = { readonly json: unknown } | { readonly bytes: Uint8Array<ArrayBuffer> };

/** One path of the node. */
export interface Route {
  readonly answer: (request: NodeRequest) => Answer;
  /** True if it exists under `/walletsolidity/` too. */
  readonly solidity: boolean;
  /** True if GET is allowed besides POST. */
  readonly get: boolean;
}

/** A node's answer where it has nothing. */
export const NOTHING: Answer = { json: {} };

/** The height up to which a request sees the chain. */
export function topOf(request: NodeRequest): number {
  const { node, view, behind } = request;
  return Math.max(0, (view === "solid" ? node.solid.height : node.head.height) - behind);
}

/** The state that a request sees. */
export function stateOf(request: NodeRequest): StateReader {
  return request.node.state(request.view, request.behind);
}

/** A number field that is absent when zero. */
export function unlessZero(field: string, value: number | bigint): Record<string, number> {
  return value === 0 || value === 0n ? {} : { [field]: Number(value) };
}
