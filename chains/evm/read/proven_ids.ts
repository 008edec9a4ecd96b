/**
 * The ids of a block's transactions as its hash proves them. A receipt has no id under its root: which transaction it is of is
 * the word of the node that gives it. The header's `transactionsRoot` has the bytes of each transaction at its place, where its
 * receipt is under `receiptsRoot`, and the hash of the bytes is the id. No word of a node counts here: header, bytes and ids are
 * hashed, and a node that shows others than the block's own proves nothing.
 *
 * @module
 */

import { z } from "zod";
import { ChainUnavailable } from "../../chain.ts";
import { listSchema } from "../../nodes/list_schema.ts";
import type { ChainNode } from "../../nodes/node.ts";
import { CallFailed, NotServed } from "../../nodes/node_failures.ts";
import { Slices } from "../../nodes/slices.ts";
import { bytesSchema, hashSchema } from "./answers.ts";
import { hasOwnHash } from "./header_hash.ts";
import { keccak } from "./keccak.ts";
import { orderedRootInSlices } from "./ordered_trie.ts";
import { type EvmSource, quantityOf, rpc } from "./source.ts";
import { bytesOfFields } from "./transaction_bytes.ts";

/** Transactions whose bytes are asked for in one request. */
const RAW_AT_ONCE = 50;
/** The longest answers that there are, by the name under which a node that gives none is left alone with them. */
const WHOLE_BLOCKS = "eth_getBlockByHash with transactions";
const BYTES = "eth_getRawTransactionByBlockHashAndIndex";

const filledBlockSchema = z.looseObject({
  hash: hashSchema,
  transactionsRoot: hashSchema,
  transactions: listSchema(z.looseObject({ hash: hashSchema })),
}).nullable();
type FilledBlock = NonNullable<z.infer<typeof filledBlockSchema>>;

/**
 * The ids of a block's transactions in their order, from the first node that shows the block with bytes that prove them.
 *
 * @param hash of the block
 * @returns null where no node does: it lacks the block or some bytes, or the header has fields that are not known here
 * @throws {ChainUnavailable} when no node answers
 */
export async function readProvenIds(
  { pool }: Pick<EvmSource, "pool">,
  hash: string,
  signal?: AbortSignal,
): Promise<readonly string[] | null> {
  return await pool.read((node, bound) => provenAt(node, hash, bound), {
    signal,
    isEnough: (ids) => ids !== null,
  });
}

async function provenAt(
  node: ChainNode,
  hash: string,
  signal: AbortSignal,
): Promise<readonly string[] | null> {
  const call = { method: "eth_getBlockByHash", params: [hash, true] };
  const block = await orNotServed(
    node,
    WHOLE_BLOCKS,
    signal,
    () => rpc.ask(node, call, filledBlockSchema, signal),
  );
  if (block === null || block.hash !== hash || !hasOwnHash(block)) return null;
  const slices = new Slices();
  const bytes = await bytesOf(node, block, slices, signal);
  if (bytes === null) return null;
  if (await orderedRootInSlices(bytes, slices) !== block.transactionsRoot) return null;
  return bytes.map(idOf);
}

/**
 * Asks a node for what only proofs need. Where it lets such a call time out, breaks it off or answers with a proxy's failure, it is
 * asked no such call for a while, which grows; all others it may answer well, so that it is not left alone itself.
 *
 * @param shape names all calls that are alike
 * @throws {NotServed} when it does not answer, or lately did not
 */
async function orNotServed<T>(
  node: ChainNode,
  shape: string,
  signal: AbortSignal,
  ask: () => Promise<T>,
): Promise<T> {
  const earlier = node.coolDowns.failureOf(shape);
  if (earlier !== null) throw earlier;
  try {
    const answer = await ask();
    node.coolDowns.succeeded(shape);
    return answer;
  } catch (error) {
    // it had less than its time where the caller gave up
    if (signal.aborted || !isSilence(error)) throw error;
    const failure = new NotServed(error.message, shape);
    node.coolDowns.failed(failure);
    throw failure;
  }
}

/** True for a call without any answer of the node; an error that it words itself is one. */
function isSilence(error: unknown): error is ChainUnavailable {
  if (!(error instanceof ChainUnavailable)) return false;
  if (error.category === "timeout") return true;
  return !(error instanceof CallFailed) &&
    (error.category === "network" || error.category === "server-error");
}

function idOf(bytes: Uint8Array): string {
  return `0x${keccak(bytes).toHex()}`;
}

/** The bytes of all transactions; those whose fields do not make them are asked for. Null: the node does not show all of them. */
async function bytesOf(
  node: ChainNode,
  { hash, transactions }: FilledBlock,
  slices: Slices,
  signal: AbortSignal,
): Promise<readonly Uint8Array[] | null> {
  const found: (Uint8Array | null)[] = [];
  for (const fields of transactions) {
    const made = bytesOfFields(fields);
    const bytes = made === null ? null : Uint8Array.fromHex(made.slice(2));
    found.push(bytes !== null && idOf(bytes) === fields.hash ? bytes : null);
    await slices.rest();
  }
  const missing = found.flatMap((bytes, place) => bytes === null ? [place] : []);
  for (let i = 0; i < missing.length; i += RAW_AT_ONCE) {
    const places = missing.slice(i, i + RAW_AT_ONCE);
    const calls = places.map((place) => ({ method: BYTES, params: [hash, quantityOf(place)] }));
    const answers = await orNotServed(
      node,
      BYTES,
      signal,
      () => rpc.askAll(node, calls, bytesSchema.nullable(), signal),
    );
    for (const [k, answer] of answers.entries()) {
      if (answer === null || answer instanceof ChainUnavailable) return null;
      found[places[k] as number] = Uint8Array.fromHex(answer.slice(2));
    }
  }
  return found.filter((bytes) => bytes !== null);
}
