/**
 * A chain that counts nonces, as a life of a lane meets it: its port for the treasury, its troubles for the one who draws them,
 * and the truth of what it holds.
 *
 * @module
 */

import type { Block, Chain } from "../../../chains/chain.ts";
import type { Signer } from "../../../chains/signer.ts";
import type { Sql } from "../../../ledger/database/connect.ts";
import type { Amount } from "../../../ledger/money/amount.ts";
import type { Intended } from "./counting_chain.ts";

/** A transaction of the hot wallet in a solid block. */
export interface Landed {
  readonly nonce: number;
  readonly txid: string;
  /** Coin that it took. */
  readonly fee: Amount;
  /** Ids of the transfers that it moved; none where it failed, or took its nonce out of use. */
  readonly moved: readonly string[];
}

/** See the module. */
export interface LaneChain {
  readonly port: Chain;
  /** The hot wallet's next nonce at the beginning. */
  readonly firstNonce: number;
  /** The solid block at which the books begin. */
  readonly firstHeight: number;
  /** True where several transfers may share a transaction. */
  readonly shares: boolean;
  /** A receiver's address, another for each number. */
  receiver(number: number): string;
  /** Notes a transfer by the id of its row. */
  intend(id: string, intended: Intended): void;
  /** The real signer with the real rules. */
  signer(sql: Sql): Signer;
  /** Broadcasts are lost and blocks leave transactions out until this is called. */
  calm(): void;
  /** Blocks ask so much of a transaction from now on, in units of a tenth of the usual. */
  jump(base: number): Promise<void>;
  /** Drops one that waits. */
  evict(): Promise<void>;
  /** Takes the newest blocks back; their transactions wait again, or are gone. */
  reorganise(): Promise<void>;
  mine(): Promise<void>;
  solidHeight(): Promise<number>;
  block(height: number): Promise<Block>;
  /** Transactions in blocks that may still vanish, with their heights. */
  seen(): Promise<readonly { readonly txid: string; readonly height: number }[]>;
  /** Of all solid blocks since the first one, by nonce. */
  landed(): Promise<readonly Landed[]>;
}

/** A life's chain, of what is drawn for it. */
export type OpenLaneChain = (draw: () => number) => LaneChain | Promise<LaneChain>;
