/**
 * What single transactions and blocks are believed by that are read beside the scan: the scan's own
 * newest solid block. Where the scan has stopped, nothing that its nodes say may count, whoever asks.
 *
 * @module
 */

import type { Sql } from "postgres";
import { NotOurChain } from "../../chains/chain.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { type Cursor, readCursor } from "../../ledger/watcher/cursor.ts";

/** Nothing that nodes say of a network can be believed now; nothing was done. */
export interface ChainInDoubt {
  readonly kind: "in_doubt";
  /** For operators: why. */
  readonly reason: string;
}

/** The block that a node must have to be believed. */
export type Believed = { readonly kind: "believed"; readonly cursor: Cursor };

/**
 * Reads the newest solid block of the scan.
 *
 * @param stopped why the scan does not go on, as its status tells; null while it does
 */
export async function readBelieved(
  sql: Sql,
  network: Network,
  stopped: string | null,
): Promise<Believed | ChainInDoubt> {
  if (stopped !== null) {
    return { kind: "in_doubt", reason: `${network} is read no further: ${stopped}` };
  }
  const cursor = await readCursor(sql, network, "solid");
  if (cursor === null) return { kind: "in_doubt", reason: `${network} was not read yet` };
  return { kind: "believed", cursor };
}

/** A read whose nodes are of another chain is in doubt; any other failure is thrown on. */
export async function orInDoubt<T>(read: Promise<T>): Promise<T | ChainInDoubt> {
  try {
    return await read;
  } catch (error) {
    if (!(error instanceof NotOurChain)) throw error;
    return { kind: "in_doubt", reason: error.message };
  }
}
