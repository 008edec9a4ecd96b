/**
 * Transactions and blocks that are read beside the scan. They are believed of nodes that have the
 * scan's own newest solid block; where the scan has stopped, nothing that its nodes say counts.
 *
 * @module
 */

import type { Sql } from "postgres";
import { type Chain, type FoundTransaction, NotOurChain } from "../../chains/chain.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { type Cursor, readCursor } from "../../ledger/watcher/cursor.ts";

/** A chain that is read beside its scan. */
export interface BesideScan<SomeChain> {
  readonly sql: Sql;
  readonly chain: SomeChain;
  /** Reason for which the scan of the network does not go on; null while it does. */
  readonly stopped: string | null;
}

/** A chain that is read beside its scan for a request, which is carried out then. */
export interface AskedBesideScan<SomeChain> extends BesideScan<SomeChain> {
  /** False once who asked may ask no more: nodes have seconds to answer, in which a key may be revoked. */
  readonly mayStillAsk: () => Promise<boolean>;
}

/** The end of a request whose asker may ask no more; nothing was done. */
export interface AskerEnded {
  readonly kind: "asker_ended";
}

/** Nothing that nodes say of a network can be believed now; nothing was done. */
export interface ChainInDoubt {
  readonly kind: "in_doubt";
  /** For operators. */
  readonly reason: string;
}

/** Reads the scan's newest solid block, which a node must have to be believed. */
export async function readBelieved(
  sql: Sql,
  network: Network,
  stopped: string | null,
): Promise<{ readonly kind: "believed"; readonly cursor: Cursor } | ChainInDoubt> {
  if (stopped !== null) return inDoubt(`${network} is read no further: ${stopped}`);
  const cursor = await readCursor(sql, network, "solid");
  return cursor === null ? inDoubt(`${network} was not read yet`) : { kind: "believed", cursor };
}

/** A read whose nodes are of another chain is in doubt; any other failure is thrown on. */
export async function orInDoubt<T>(read: Promise<T>): Promise<T | ChainInDoubt> {
  try {
    return await read;
  } catch (error) {
    if (!(error instanceof NotOurChain)) throw error;
    return inDoubt(error.message);
  }
}

/**
 * Reads a transaction again that the scan has met as a success.
 *
 * @param met its block, as the scan has read it
 * @returns `unread`: no node has the whole receipt at the moment
 * @throws {ChainUnavailable} when the chain cannot be read
 */
export async function readMet(
  { sql, chain, stopped }: BesideScan<Pick<Chain, "transaction">>,
  { network, txid, height }: {
    readonly network: Network;
    readonly txid: string;
    readonly height: number;
  },
  signal: AbortSignal,
): Promise<
  | { readonly kind: "met"; readonly transaction: FoundTransaction; readonly cursor: Cursor }
  | { readonly kind: "unread" }
  | ChainInDoubt
> {
  const believed = await readBelieved(sql, network, stopped);
  if (believed.kind === "in_doubt") return believed;
  const { cursor } = believed;
  const found = await orInDoubt(chain.transaction(txid, "solid", signal, cursor));
  if (found.kind === "in_doubt") return found;
  if (found.kind !== "found") return { kind: "unread" };
  const { transaction } = found;
  const { height: block, success } = transaction;
  if (block !== height || !success) {
    const where = `${transaction.txid} is in block ${block}${success ? "" : ", failed"}`;
    return inDoubt(`${where}; the scan has read its success in ${height}`);
  }
  if (block <= cursor.height) return { kind: "met", transaction, cursor };
  return inDoubt(`${transaction.txid} is in block ${block}, the scan has passed ${cursor.height}`);
}

function inDoubt(reason: string): ChainInDoubt {
  return { kind: "in_doubt", reason };
}
