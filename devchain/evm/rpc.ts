/**
 * JSON-RPC as it is spoken with anvil and with clients.
 *
 * @module
 */

import { z } from "zod";

/** Hex with `0x`. */
export type Hex = `0x${string}`;

const isHex = (text: string): text is Hex => /^0x[0-9a-fA-F]*$/.test(text);
/** Hex with `0x`. */
export const HexText = z.string().refine(isHex);

/** A JSON-RPC error. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** A JSON-RPC answer. */
export type RpcAnswer = { readonly result: unknown } | { readonly error: RpcError };

/** One answer of anvil, or an element of a batch's. */
export const AnvilAnswer = z.union([
  z.object({
    id: z.unknown(),
    error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }),
  }),
  z.object({ id: z.unknown(), result: z.unknown() }),
]);

/** A transaction as nodes show it, with all of its fields. */
export const RpcTransaction = z.looseObject({
  hash: HexText,
  from: HexText,
  nonce: HexText,
  gas: HexText,
  gasPrice: HexText.optional(),
  maxFeePerGas: HexText.optional(),
  maxPriorityFeePerGas: HexText.optional(),
});
/** A transaction as nodes show it. */
export type RpcTransaction = z.infer<typeof RpcTransaction>;

/** A block with the hashes of its transactions. */
export const RpcBlock = z.looseObject({
  hash: HexText,
  parentHash: HexText,
  number: HexText,
  baseFeePerGas: HexText,
  transactions: z.array(HexText),
});
/** A block with the hashes of its transactions. */
export type RpcBlock = z.infer<typeof RpcBlock>;

/** A number as nodes write it. */
export function quantity(value: number | bigint): Hex {
  return `0x${value.toString(16)}`;
}

/** A number as 32 bytes. */
export function word(value: number | bigint): Hex {
  return `0x${value.toString(16).padStart(64, "0")}`;
}
