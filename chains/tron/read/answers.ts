/**
 * Shapes of a full node's answers. A node is not trusted: a value of another shape, or
 * out of bounds, makes the whole answer malformed. Only fields that are used are listed.
 *
 * Shapes after the public documentation of java-tron's HTTP API; protobuf leaves out zero values,
 * so that numbers, flags and lists may be absent.
 *
 * @module
 */

import { z } from "zod";

const hash = z.string().regex(/^[0-9a-f]{64}$/);
/** Integers above 2^53 cannot be trusted after JSON.parse, so `int()` refuses them. */
const whole = z.int().nonnegative();

/** Head of a block. */
export const blockHeadSchema = z.object({
  blockID: hash,
  block_header: z.object({
    raw_data: z.object({
      // Absent in the genesis block.
      number: whole.default(0),
      parentHash: hash,
      timestamp: whole.default(0),
    }),
  }),
});
/** A block without its transactions. */
export type BlockHeadAnswer = z.infer<typeof blockHeadSchema>;

/** Head of a block, or `{}` from a node that does not have it. */
export const headOrNothingSchema = z.union([
  blockHeadSchema,
  z.strictObject({}).transform(() => null),
]);

const transactionSchema = z.object({
  txID: hash,
  raw_data: z.object({ expiration: whole.optional() }),
  ret: z.array(z.object({ contractRet: z.string().max(64).optional() })).optional(),
});
/** A transaction as it stands in a block. */
export type TransactionAnswer = z.infer<typeof transactionSchema>;

/** A transaction by its id, or `{}` where the node does not have it. */
export const transactionOrNothingSchema = z.union([
  transactionSchema,
  z.strictObject({}).transform(() => null),
]);

/** A block with its transactions; the list is absent when there are none. */
export const fullBlockSchema = blockHeadSchema.extend({
  transactions: z.array(transactionSchema).default([]),
});
/** A whole block. */
export type FullBlockAnswer = z.infer<typeof fullBlockSchema>;

/** A block, or `{}` where the node does not have it. */
export const blockOrNothingSchema = z.union([
  fullBlockSchema,
  z.strictObject({}).transform(() => null),
]);

/** Blocks of a range; `block` is absent when there are none. */
export const blockListSchema = z.object({ block: z.array(fullBlockSchema).default([]) });
/** Blocks of a range. */
export type BlockListAnswer = z.infer<typeof blockListSchema>;

const logSchema = z.object({
  address: z.string().max(64),
  topics: z.array(z.string().max(64)).max(4).default([]),
  data: z.string().default(""),
});
/** An event log; `address` is 40 hex digits without `41`. */
export type LogAnswer = z.infer<typeof logSchema>;

const receiptSchema = z.object({
  // Of use only where it is the id of a transaction.
  id: z.string().length(64),
  fee: whole.default(0),
  blockNumber: whole,
  blockTimeStamp: whole.default(0),
  receipt: z.object({ result: z.string().max(64).optional() }).default({}),
  result: z.string().max(64).optional(),
  log: z.array(logSchema).default([]),
});
/** Receipt of a transaction. */
export type ReceiptAnswer = z.infer<typeof receiptSchema>;

/** A transaction's receipt by its id, or `{}` where the node does not have it. */
export const receiptOrNothingSchema = z.union([
  receiptSchema,
  z.strictObject({}).transform(() => null),
]);

/** Receipts of a block; an unknown height may answer `{}`. */
export const receiptsSchema = z.union([
  z.array(receiptSchema),
  z.strictObject({}).transform(() => []),
]);

/** Answer of `triggerconstantcontract`. */
export const constantCallSchema = z.object({
  result: z.object({
    result: z.boolean().default(false),
    code: z.string().max(64).optional(),
    message: z.string().max(4096).optional(),
  }),
  energy_used: whole.default(0),
  constant_result: z.array(z.string().regex(/^([0-9a-f]{2})*$/i).max(4096)).default([]),
  /** Events of the simulation; absent without any, and at nodes that give none. */
  logs: z.array(logSchema).default([]),
  transaction: z.object({
    ret: z.array(z.object({ ret: z.string().max(64).optional() })).optional(),
    // the newest block of the state that the call was tried on
    raw_data: z.object({
      ref_block_bytes: z.string().regex(/^[0-9a-f]{4}$/).optional(),
      ref_block_hash: z.string().regex(/^[0-9a-f]{16}$/).optional(),
    }).optional().catch(undefined),
  }).optional(),
});
/** A simulated contract call. */
export type ConstantCallAnswer = z.infer<typeof constantCallSchema>;

/** An account; `{}` when it was never activated. */
export const accountSchema = z.object({
  address: z.string().max(64).optional(),
  balance: whole.default(0),
});
/** See {@linkcode accountSchema}. */
export type AccountAnswer = z.infer<typeof accountSchema>;

/** Answer of `getchainparameters`; a parameter that is zero has no `value`. */
export const chainParametersSchema = z.object({
  chainParameter: z.array(z.object({ key: z.string().max(128), value: z.int().default(0) })),
});

/** Energy and bandwidth of an account; `{}` when it was never activated. */
export const accountResourceSchema = z.object({
  freeNetLimit: whole.default(0),
  freeNetUsed: whole.default(0),
  NetLimit: whole.default(0),
  NetUsed: whole.default(0),
  EnergyLimit: whole.default(0),
  EnergyUsed: whole.default(0),
  /** Energy that all stake of the network shares, and that stake in TRX. */
  TotalEnergyLimit: whole.default(0),
  TotalEnergyWeight: whole.default(0),
});
/** See {@linkcode accountResourceSchema}. */
export type AccountResourceAnswer = z.infer<typeof accountResourceSchema>;

/** Answer of `getcandelegatedmaxsize`, sun. */
export const canDelegateSchema = z.object({ max_size: whole.default(0) });

/** Answer of `getdelegatedresourcev2`; `{}` where nothing is delegated. */
export const delegatedResourceSchema = z.object({
  delegatedResource: z.array(z.object({ frozen_balance_for_energy: whole.default(0) })).default([]),
});
