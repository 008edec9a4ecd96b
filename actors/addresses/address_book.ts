/**
 * Fresh deposit addresses: derived ahead from the public key, made known to the watcher, then
 * handed out. An address is never handed out before it is watched, nor twice.
 *
 * @module
 */

import type { Sql } from "postgres";
import { type Chain, ChainUnavailable } from "../../chains/chain.ts";
import type { Network } from "../../ledger/money/pair.ts";
import {
  type AddressBounds,
  type AddressFigures,
  type FreshAddress,
  NetworkBook,
} from "./network_book.ts";

/** A merchant's customer waits for it, so it is said soon where there is none. */
const BOUNDS: AddressBounds = { takeMs: 3_000, rowMs: 1_000 };

/** The fresh addresses of all networks, each by itself. */
export class AddressBook {
  readonly #books: ReadonlyMap<Network, NetworkBook>;

  constructor(sql: Sql, chains: ReadonlyMap<Network, Chain>, bounds: AddressBounds = BOUNDS) {
    this.#books = new Map(
      [...chains].map(([network, chain]) => [network, new NetworkBook(sql, chain, bounds)]),
    );
  }

  /**
   * Takes a fresh address for a merchant; durable and watched when this returns.
   *
   * @throws {ChainUnavailable} when too many wait, or when there is none in time
   * @throws when the network has no wallet, or when the database is away
   */
  async take(network: Network, merchantId: string): Promise<FreshAddress> {
    return await this.#book(network).take(merchantId);
  }

  /** True once this node watches a network's addresses, so that they can be issued. @throws when the database is away */
  async isWatched(network: Network): Promise<boolean> {
    try {
      await this.#book(network).requireWatched();
      return true;
    } catch (error) {
      if (error instanceof ChainUnavailable) return false;
      throw error;
    }
  }

  /** The highest derivation index that was ever taken here, by network. */
  get highest(): ReadonlyMap<Network, number> {
    return new Map(
      [...this.#books].flatMap(([network, { highest }]) =>
        highest === null ? [] : [[network, highest] as const]
      ),
    );
  }

  /** Waiting requests and held rows of each network, for metrics and readiness. */
  get figures(): ReadonlyMap<Network, AddressFigures> {
    return new Map([...this.#books].map(([network, book]) => [network, book.figures]));
  }

  /** Forgets indexes that were taken and not handed out: after a change of history they are jumped over. */
  dropCaches(): void {
    for (const book of this.#books.values()) book.dropCaches();
  }

  #book(network: Network): NetworkBook {
    const book = this.#books.get(network);
    if (book === undefined) {
      throw new Error(`Cannot take an address as the network has no chain: ${network}`);
    }
    return book;
  }
}
