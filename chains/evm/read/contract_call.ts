/**
 * Simulated calls of contracts: balances, decimals, switches.
 *
 * @module
 */

import { ChainUnavailable, type Checkpoint } from "../../chain.ts";
import type { ChainNode } from "../../nodes/node.ts";
import { bytesSchema } from "./answers.ts";
import { type EvmSource, FINAL_TAG, finalHead, rpc } from "./source.ts";
import { CallFailed } from "../../nodes/node_failures.ts";
import type { RpcCall } from "../../nodes/json_rpc.ts";

/** The state that is asked: of a view, or of one block, as EIP-1898 names it. */
export type StateOf =
  | "latest"
  | typeof FINAL_TAG
  | { readonly blockHash: string; readonly requireCanonical: true };

/** A call of a contract's method. */
export function contractCall(contract: string, data: string, state: StateOf): RpcCall {
  return { method: "eth_call", params: [{ to: contract, data }, state] };
}

/** The state of one block. */
export function stateOf(hash: string): StateOf {
  return { blockHash: hash, requireCanonical: true };
}

/**
 * Reads from the final state. With a checkpoint it is the state of that very block, so that of two nodes
 * behind one address none answers for an older one; a node that has forgotten it answers for its newest final
 * block, by its hash as well. Nodes keep the states of 128 blocks, which a scan that catches up is soon behind, and each has words
 * of its own for that, so that any error of the node has it asked for its newest one.
 *
 * @param ask sends the call for the state that it is given
 * @throws {NotOurChain} when only nodes without the checkpoint answer
 */
export async function readFinal<T>(
  { pool }: EvmSource,
  ask: (node: ChainNode, state: StateOf, signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
  checkpoint?: Checkpoint,
): Promise<T> {
  return await pool.read(async (node, bound) => {
    if (checkpoint === undefined) return await ask(node, FINAL_TAG, bound);
    try {
      return await ask(node, stateOf(checkpoint.hash), bound);
    } catch (error) {
      if (!(error instanceof CallFailed) || error.category !== "server-error") throw error;
    }
    const { number, hash } = await finalHead(node, bound);
    if (number < checkpoint.height) {
      throw new ChainUnavailable(
        "server-error",
        `Cannot read a state as the node's final block ${number} is below ${checkpoint.height}: ` +
          node.label,
      );
    }
    return await ask(node, stateOf(hash), bound);
  }, { signal, checkpoint });
}

/** One call of a contract at one node. */
export async function callContract(
  node: ChainNode,
  contract: string,
  data: string,
  state: StateOf,
  signal?: AbortSignal,
): Promise<string> {
  return await rpc.ask(node, contractCall(contract, data, state), bytesSchema, signal);
}

/**
 * The unsigned integer that a call returned.
 *
 * @param bytes `0x` and digits
 * @throws {ChainUnavailable} when the answer is not one word
 */
export function returnedInteger(bytes: string, what: string): bigint {
  if (bytes.length === 66) return BigInt(bytes);
  throw new ChainUnavailable(
    "malformed",
    `Cannot read ${what} as it is no word: ${bytes.slice(0, 66)}`,
  );
}
