/**
 * Simulated contract calls: token balances, decimals, and what a transfer would cost.
 *
 * @module
 */

import { hexToBytes } from "@noble/hashes/utils.js";
import { ChainUnavailable, type Checkpoint, type Finality } from "../../chain.ts";
import { hasCheckpoint } from "../../nodes/believed_nodes.ts";
import type { ChainNode } from "../../nodes/node.ts";
import { CallFailed } from "../../nodes/node_failures.ts";
import type { NodePool } from "../../nodes/node_pool.ts";
import { readEither, readFrom, type Refused } from "./read_from.ts";
import { saysBusy } from "./refusal_texts.ts";
import { type ConstantCallAnswer, constantCallSchema } from "./answers.ts";

const HALF = 0x8000;

/**
 * True if the node that simulated a call had a block then: it prepares the call as a transaction, which
 * refers to the newest block of the very state that the call saw.
 *
 * @returns `null` when the answer does not say it
 */
export function namesBlock(
  { transaction }: Pick<ConstantCallAnswer, "transaction">,
  { height, hash }: Checkpoint,
): boolean | null {
  const { ref_block_bytes: low, ref_block_hash: part } = transaction?.raw_data ?? {};
  if (low === undefined || part === undefined) return null;
  // only the last 16 bits of the height are named; of two nodes behind one address none is a day behind
  const ahead = ((parseInt(low, 16) - height + HALF) & 0xffff) - HALF;
  return ahead > 0 || (ahead === 0 && part === hash.slice(16, 32));
}

/**
 * Reads what does not name its block twice, and the block again afterwards: answers of different nodes
 * differ, or one of them lacks the block.
 *
 * @throws {CallFailed} when they cannot be of one state that has the block
 */
export async function readTwice<T>(
  { blockAt }: NodePool,
  node: ChainNode,
  checkpoint: Checkpoint,
  read: () => Promise<T>,
  isSame: (one: T, other: T) => boolean,
  signal: AbortSignal,
): Promise<T> {
  const first = await read();
  const second = await read();
  if (isSame(first, second) && await hasCheckpoint(blockAt, node, checkpoint, signal)) {
    return second;
  }
  throw new CallFailed(
    "server-error",
    `Cannot believe a balance as its answers are of different states, not all with block ` +
      `${checkpoint.height}: ${node.label}`,
    "a balance of several nodes",
    true,
  );
}

/** A node behind the same address that lags answers every second call at most. */
const NAMED_TRIES = 2;

/** A call to simulate; addresses are 42 hex digits starting with `41`. */
export interface ConstantCall {
  readonly owner: string;
  readonly contract: string;
  /** For example `balanceOf(address)`. */
  readonly selector: string;
  /** ABI arguments in hex, without the selector. */
  readonly parameter: string;
}

/**
 * The failure of a simulated call, or `null`. A revert is `result: true` beside a message; without
 * `result: true` the node did not run the call at all (no such contract, constant calls not
 * supported, out of time, an exception): that says nothing of what else it can do.
 */
function failureOf(
  answer: ConstantCallAnswer,
  node: Pick<ChainNode, "wordsOf">,
): ReturnType<Refused<ConstantCallAnswer>> {
  const { result, transaction } = answer;
  const text = result.message === undefined ? "" : node.wordsOf(result.message);
  if (!result.result) {
    const isBusy = result.code === "SERVER_BUSY" || saysBusy(text);
    const reason = `${result.code ?? "no result"} ${text}`.trim();
    return { category: isBusy ? "rate-limit" : "server-error", reason };
  }
  if (text !== "") return { category: "reverted", reason: text };
  if (transaction?.ret?.[0]?.ret !== "FAILED") return null;
  return { category: "reverted", reason: "FAILED" };
}

/**
 * Simulates a call.
 *
 * The solid view is asked at `/walletsolidity`; a node that does not serve it there answers from
 * its head, which may include money that is not final yet.
 *
 * @param checkpoint block that the node which answers must have
 * @throws {ChainUnavailable} `reverted` when the call would fail as things stand
 */
export async function constantCall(
  pool: NodePool,
  call: ConstantCall,
  finality: Finality,
  signal?: AbortSignal,
  checkpoint?: Checkpoint,
): Promise<ConstantCallAnswer> {
  const body = {
    owner_address: call.owner,
    contract_address: call.contract,
    function_selector: call.selector,
    parameter: call.parameter,
    call_value: 0,
  };
  const head = { path: "/wallet/triggerconstantcontract", body };
  const refused: Refused<ConstantCallAnswer> = (answer, node) => {
    const failure = failureOf(answer, node);
    if (failure === null) return null;
    return {
      ...failure,
      reason: `Cannot simulate ${call.selector} as it fails: ${failure.reason}`,
    };
  };
  const attempt = async (node: ChainNode, bound: AbortSignal) =>
    finality === "head"
      ? await readFrom(node, head, constantCallSchema, bound, refused)
      : await readEither(
        node,
        { path: "/walletsolidity/triggerconstantcontract", body },
        head,
        constantCallSchema,
        bound,
        refused,
      );
  const settled = async (node: ChainNode, bound: AbortSignal) => {
    if (checkpoint === undefined) return await attempt(node, bound);
    for (let i = 0; i < NAMED_TRIES; i++) {
      const answer = await attempt(node, bound);
      const isNamed = namesBlock(answer, checkpoint);
      if (isNamed === true) return answer;
      if (isNamed === null) break;
    }
    return await readTwice(pool, node, checkpoint, () => attempt(node, bound), isSameResult, bound);
  };
  return await pool.read(settled, { signal, checkpoint });
}

function isSameResult(one: ConstantCallAnswer, other: ConstantCallAnswer): boolean {
  return one.constant_result.join() === other.constant_result.join();
}

/**
 * The unsigned 256-bit integer that a call returned.
 *
 * @throws {ChainUnavailable} when the answer is not one word
 */
export function returnedInteger(answer: ConstantCallAnswer, selector: string): bigint {
  const word = answer.constant_result[0] ?? "";
  if (hexToBytes(word).length !== 32) {
    throw new ChainUnavailable("malformed", `Cannot read ${selector} as it is no word: "${word}"`);
  }
  return BigInt(`0x${word}`);
}
