/**
 * The first block in dumps of anvil's state. An anvil that a dump was loaded into has a first block of its own besides,
 * and has both in its next dump, in any order: of two of one height the one that is loaded last counts.
 *
 * @module
 */

import { z } from "zod";
import type { Identity } from "./genesis.ts";
import type { Hex } from "./rpc.ts";

const Numbered = z.looseObject({
  header: z.looseObject({ number: z.string(), timestamp: z.string(), miner: z.string() }),
});
const Dump = z.looseObject({ blocks: z.array(Numbered) });

/**
 * A dump without the first blocks of other chains.
 *
 * @param dump hex of JSON that is compressed by gzip
 * @throws {Error} when it is none, or the chain's own first block is not in it
 */
export async function withOwnFirstBlock(dump: string, { time, miner }: Identity): Promise<Hex> {
  const packed = Uint8Array.fromHex(dump.slice("0x".length));
  const text = await new Response(through(packed, new DecompressionStream("gzip"))).text();
  const state = Dump.parse(JSON.parse(text));
  const isFirst = ({ header }: z.infer<typeof Numbered>) => BigInt(header.number) === 0n;
  const isOwn = ({ header }: z.infer<typeof Numbered>) =>
    BigInt(header.timestamp) === BigInt(time) && BigInt(header.miner) === BigInt(miner);
  const firsts = state.blocks.filter(isFirst);
  if (!firsts.some(isOwn)) {
    throw new Error("Cannot load the state of a development chain as its first block is not in it");
  }
  if (firsts.length === 1) return `0x${packed.toHex()}`;
  const blocks = state.blocks.filter((block) => !isFirst(block) || isOwn(block));
  const own = new TextEncoder().encode(JSON.stringify({ ...state, blocks }));
  const bytes = await new Response(through(own, new CompressionStream("gzip"))).bytes();
  return `0x${bytes.toHex()}`;
}

function through(
  bytes: Uint8Array<ArrayBuffer>,
  transform: CompressionStream | DecompressionStream,
): ReadableStream<Uint8Array> {
  return new Blob([bytes]).stream().pipeThrough(transform);
}
