/**
 * What the service and a reading thread tell each other.
 *
 * @module
 */

import type { ChainUnavailable } from "../chain.ts";
import type { NodeOptions } from "./node.ts";
import type { PackedAnswer } from "./packed_blocks.ts";
import type { IgnoredTransfers, ParseContext } from "./parse_block.ts";
import type { BlockRange } from "./read_range.ts";

/** To the thread. */
export type ToReader =
  | {
    readonly kind: "read";
    readonly id: number;
    readonly node: NodeOptions;
    readonly range: BlockRange;
    readonly tokens: ParseContext["tokens"];
    /** Whether each of its calls has to wait for its turn, which is given here. */
    readonly isPaced: boolean;
  }
  /** The turn that a call waited for. */
  | { readonly kind: "go"; readonly turn: number }
  /** Nobody waits for it any more. */
  | { readonly kind: "stop"; readonly id: number };

/** From the thread: a call of a reading waits for its turn. */
export interface TurnAsked {
  readonly kind: "turn";
  readonly id: number;
  readonly turn: number;
  readonly path: string;
}

/** From the thread, with what the reading used and met, however it ended. */
export type FromReader =
  & {
    readonly id: number;
    /** Requests to the node. */
    readonly calls: number;
    readonly ignored: IgnoredTransfers;
  }
  & (
    | { readonly kind: "read"; readonly answers: readonly PackedAnswer[] }
    /** The node failed. */
    | {
      readonly kind: "failed";
      readonly category: ChainUnavailable["category"];
      readonly message: string;
      /** How long a node that refused wants to be left alone, milliseconds. */
      readonly retryAfterMs: number | null;
      /** `suspended`: the node said itself for how long; `unasked`: it was not asked in time. */
      readonly refusal: "suspended" | "unasked" | null;
      /** The one call that failed, where the node is not to blame. */
      readonly call: { readonly text: string; readonly isRefusal: boolean } | null;
      /** What was read before. */
      readonly answers: readonly PackedAnswer[];
    }
    /** A fault of ours. */
    | { readonly kind: "broken"; readonly reason: string }
  );
