/**
 * The root of a list in a block's header: a Merkle Patricia trie whose keys are the positions in the
 * list, after the Ethereum yellow paper, appendix D.
 *
 * @module
 */

import type { Slices } from "../../nodes/slices.ts";
import { keccak, keccakInSlices } from "./keccak.ts";
import { RlpWriter } from "./rlp_writer.ts";

/** A member of the list: its position in half bytes, and its content. */
interface Item {
  readonly path: readonly number[];
  readonly value: Uint8Array;
}

/** A node as its parent names it: by its hash, or as it is where it is shorter than one. */
type Reference =
  | { readonly hash: Uint8Array }
  | { readonly node: Uint8Array };

const HASH_BYTES = 32;
const EMPTY = new Uint8Array(0);
const writer = new RlpWriter();

/** The half bytes of a position's RLP. */
function pathOf(position: number): number[] {
  writer.reset();
  writer.number(position);
  return [...writer.bytes()].flatMap((byte) => [byte >> 4, byte & 0xf]);
}

/** A path in the form in which nodes carry it: with its parity, and with a mark for the last node. */
function compact(path: readonly number[], isLeaf: boolean): Uint8Array {
  const isOdd = path.length % 2 === 1;
  const mark = (isLeaf ? 2 : 0) + (isOdd ? 1 : 0);
  const halves = isOdd ? [mark, ...path] : [mark, 0, ...path];
  const bytes = new Uint8Array(halves.length / 2);
  for (let i = 0; i < bytes.length; i++) {
    bytes[i] = (halves[2 * i] ?? 0) << 4 | (halves[2 * i + 1] ?? 0);
  }
  return bytes;
}

/** Number of half bytes from a depth on that all paths share. */
function sharedFrom(items: readonly Item[], depth: number): number {
  const [first = { path: [] }, ...others] = items;
  let at = depth;
  while (at < first.path.length && others.every(({ path }) => path[at] === first.path[at])) at++;
  return at - depth;
}

function referenceTo(node: Uint8Array): Reference {
  return node.length < HASH_BYTES ? { node } : { hash: keccak(node) };
}

function write(reference: Reference | null): void {
  if (reference === null) writer.text(EMPTY);
  else if ("hash" in reference) writer.text(reference.hash);
  else writer.rawBytes(reference.node);
}

/** The encoded node of one item, below the half bytes that its ancestors have. */
function leaf({ path, value }: Item, depth: number): Uint8Array {
  writer.reset();
  writer.text(value);
  writer.text(compact(path.slice(depth), true));
  writer.list(0);
  return writer.bytes();
}

/** Gives the reference to an item's own node. */
type LeafReference = (item: Item, depth: number) => Reference;

function plainReference(item: Item, depth: number): Reference {
  return referenceTo(leaf(item, depth));
}

/** The reference to the node of items that share the half bytes before a depth. */
function referenceOf(items: readonly Item[], depth: number, leafOf: LeafReference): Reference {
  const [only] = items;
  return only !== undefined && items.length === 1
    ? leafOf(only, depth)
    : referenceTo(encode(items, depth, leafOf));
}

/** The encoded node of several items that share the half bytes before a depth. */
function encode(items: readonly Item[], depth: number, leafOf: LeafReference): Uint8Array {
  const shared = sharedFrom(items, depth);
  if (shared > 0) {
    const child = referenceTo(encode(items, depth + shared, leafOf));
    writer.reset();
    write(child);
    writer.text(compact(items[0]?.path.slice(depth, depth + shared) ?? [], false));
    writer.list(0);
    return writer.bytes();
  }
  const branches: Item[][] = Array.from({ length: 16 }, () => []);
  // no position's RLP begins another one's, so that no item ends in a branch
  for (const item of items) branches[item.path[depth] ?? 0]?.push(item);
  const children = branches.map((branch) =>
    branch.length === 0 ? null : referenceOf(branch, depth + 1, leafOf)
  );
  writer.reset();
  writer.text(EMPTY);
  for (const child of children.toReversed()) write(child);
  writer.list(0);
  return writer.bytes();
}

/** Keccak-256 of the RLP of an empty byte string, as a header has it. */
export const EMPTY_ROOT = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421";

function itemsOf(values: readonly Uint8Array[]): readonly Item[] {
  return values.map((value, position) => ({ path: pathOf(position), value }));
}

function textOf(hash: Uint8Array): string {
  return `0x${hash.toHex()}`;
}

/** The root of a list of byte strings, as a header has it: `0x` and 64 lower-case digits. */
export function orderedRoot(values: readonly Uint8Array[]): string {
  const items = itemsOf(values);
  const [only] = items;
  if (only === undefined) return EMPTY_ROOT;
  const node = items.length === 1 ? leaf(only, 0) : encode(items, 0, plainReference);
  return textOf(keccak(node));
}

/** The same of strings that are many, or long: their own nodes are hashed first, in slices. */
export async function orderedRootInSlices(
  values: readonly Uint8Array[],
  slices: Slices,
): Promise<string> {
  const items = itemsOf(values);
  const [only] = items;
  if (only === undefined) return EMPTY_ROOT;
  if (items.length === 1) return textOf(await keccakInSlices(leaf(only, 0), slices));
  const depths = new Map<Item, number>();
  // where each of them stands depends on the others' places alone
  encode(items, 0, (item, depth) => {
    depths.set(item, depth);
    return { node: EMPTY };
  });
  await slices.rest();
  const references = new Map<Item, Reference>();
  for (const [item, depth] of depths) {
    const node = leaf(item, depth);
    references.set(
      item,
      node.length < HASH_BYTES ? { node } : { hash: await keccakInSlices(node, slices) },
    );
    await slices.rest();
  }
  return textOf(keccak(encode(items, 0, (item) => references.get(item) ?? { node: EMPTY })));
}
