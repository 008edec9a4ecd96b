/**
 * Fresh deposit addresses: derived ahead from the public key, made known to the watcher, then
 * handed out. An address is never handed out before it is watched, nor twice.
 *
 * @module
 */

import type { Sql } from "postgres";
import { type Chain, ChainUnavailable } from "../../chains/chain.ts";
import {
  takeIndexes,
  watchAddresses,
  type WatchedAddress,
} from "../../ledger/addresses/watch_addresses.ts";
import type { Network } from "../../ledger/pair.ts";
import { readCursor } from "../../ledger/watcher/cursor.ts";
import { crashPoint } from "../runtime/crash_point.ts";
import { newId } from "../runtime/ids.ts";

/** Indexes that are taken from the database at once; unused ones are skipped by a restart. */
const CHUNK = 50;
/** The most requests that wait at once. */
const WAITING_LIMIT = 2_000;

/** An address nobody else has, already watched. */
export interface FreshAddress {
  readonly addressId: string;
  readonly address: string;
  readonly index: number;
}

interface Request {
  readonly network: Network;
  readonly merchantId: string;
  readonly resolve: (address: FreshAddress) => void;
  readonly reject: (error: unknown) => void;
}

export class AddressBook {
  readonly #sql: Sql;
  readonly #chains: ReadonlyMap<Network, Chain>;
  readonly #indexes = new Map<Network, number[]>();
  readonly #watched = new Set<Network>();
  /** The highest index that was taken, by network. */
  readonly #highest = new Map<Network, number>();
  #waiting: Request[] = [];
  #running = false;

  constructor(sql: Sql, chains: ReadonlyMap<Network, Chain>) {
    this.#sql = sql;
    this.#chains = chains;
  }

  /**
   * Takes a fresh address for a merchant; durable and watched when this returns.
   *
   * @throws {ChainUnavailable} when too many wait
   * @throws when the network has no wallet, or when the database is away
   */
  take(network: Network, merchantId: string): Promise<FreshAddress> {
    if (this.#waiting.length >= WAITING_LIMIT) {
      const why = "Cannot take an address as too many requests wait for one";
      return Promise.reject(new ChainUnavailable("rate-limit", why));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ network, merchantId, resolve, reject });
      if (!this.#running) void this.#run();
    });
  }

  /** Whether addresses of a network can be handed out. @throws when the database is away */
  async isWatched(network: Network): Promise<boolean> {
    try {
      await this.#requireWatched(network);
      return true;
    } catch (error) {
      if (error instanceof ChainUnavailable) return false;
      throw error;
    }
  }

  /** The highest derivation index that was ever taken here, by network. */
  get highest(): ReadonlyMap<Network, number> {
    return this.#highest;
  }

  /** Forgets indexes that were taken and not handed out: after a change of history they are jumped over. */
  dropCaches(): void {
    this.#indexes.clear();
    this.#watched.clear();
  }

  /** One insert for all that wait: issuing is bound by commits, not by requests. */
  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiting.length > 0) {
      const requests = this.#waiting;
      this.#waiting = [];
      const ready: { readonly request: Request; readonly row: WatchedAddress }[] = [];
      for (const request of requests) {
        try {
          ready.push({ request, row: await this.#derive(request) });
        } catch (error) {
          request.reject(error);
        }
      }
      if (ready.length === 0) continue;
      try {
        await watchAddresses(this.#sql, ready.map(({ row }) => row));
        crashPoint("addresses.after-watch");
        for (const { request, row } of ready) {
          const { addressId, address, walletIndex: index } = row;
          request.resolve({ addressId, address, index });
        }
      } catch (error) {
        // an index that another node has jumped over is watched as lost by now: none of these is used
        this.dropCaches();
        for (const { request } of ready) request.reject(error);
      }
    }
    this.#running = false;
  }

  async #derive({ network, merchantId }: Request): Promise<WatchedAddress> {
    const chain = this.#chain(network);
    const walletIndex = await this.#nextIndex(network);
    const address = chain.deriveAddress(walletIndex);
    return { network, merchantId, walletIndex, address, addressId: newId("adr") };
  }

  #chain(network: Network): Chain {
    const chain = this.#chains.get(network);
    if (chain === undefined) {
      throw new Error(`Cannot take an address as the network has no chain: ${network}`);
    }
    return chain;
  }

  /** Payments are only found from the watcher's first block on: no address before that. */
  async #requireWatched(network: Network): Promise<void> {
    if (this.#watched.has(network)) return;
    if (await readCursor(this.#sql, network, "solid") === null) {
      throw new ChainUnavailable(
        "network",
        `Cannot hand out an address as the network was never reached: ${network}`,
      );
    }
    this.#watched.add(network);
  }

  async #nextIndex(network: Network): Promise<number> {
    await this.#requireWatched(network);
    let indexes = this.#indexes.get(network) ?? [];
    if (indexes.length === 0) {
      const first = await takeIndexes(this.#sql, network, CHUNK);
      if (first === null) {
        throw new ChainUnavailable(
          "network",
          `Cannot hand out an address as the database has another history, or no signer attested the wallet: ${network}`,
        );
      }
      this.#highest.set(network, Math.max(first + CHUNK - 1, this.#highest.get(network) ?? 0));
      indexes = Array.from({ length: CHUNK }, (_, n) => first + n);
      this.#indexes.set(network, indexes);
    }
    return indexes.shift() as number;
  }
}
