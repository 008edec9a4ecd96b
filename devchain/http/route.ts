/**
 * Requests to the node's routes, and their answers.
 *
 * @module
 */

import type { ChainNode } from "../chain_node.ts";
import type { Fault, FaultKind } from "../faults.ts";
import type { StateReader } from "../overlay.ts";
import type { Params } from "./params.ts";

/** A node request. */
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
