/**
 * Fresh deposit addresses: derived ahead from the public key, made known to the watcher, then
 * handed out. An address is never handed out before it is watched, nor twice.
 *
 * @module
 */

import type { Sql } from "postgres";
import { type Chain, ChainUnavailable } from "../../chains/chain.ts";
import {
  readNextIndexes,
  takeIndexes,
  watchAddresses,
  type WatchedAddress,
} from "../../ledger/addresses/watched_addresses.ts";
import { classifyDatabaseError } from "../../ledger/database/database_errors.ts";
import { watchGap } from "../../ledger/addresses/recover_addresses.ts";
import { skipIndexesTo } from "../../ledger/failover/history.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { readCursor } from "../../ledger/watcher/cursor.ts";
import { logEvent } from "../../log/log_event.ts";
import { crashPoint } from "../runtime/crash_point.ts";
import { newId } from "../runtime/ids.ts";

/** Indexes that are taken from the database at once; unused ones are skipped by a restart. */
const NUMBERS = 50;
/** Indexes above the highest known one that other nodes may have handed out since the last look, where the database is set back. */
const OF_OTHERS = 1_000;
/** The most addresses of one insert: deriving them keeps the thread for some 50 ms. */
const ROUND = 100;
/** The most requests that wait at once. */
const WAITING_LIMIT = 2_000;
/** Time for which an obstacle to making addresses is reported after it was met last. */
const REPORTED_MS = 60_000;

/** A new address, given to one merchant only. The watcher knows it already. */
export interface FreshAddress {
  readonly addressId: string;
  readonly address: string;
  readonly index: number;
}

/** Bounds on what a request for an address waits for, milliseconds. */
export interface AddressBounds {
  /** Until an address is there. */
  readonly takeMs: number;
  /** For the row of the network's numbers, while another transaction holds it. */
  readonly rowMs: number;
}

/** State of handing out addresses of a network. */
export interface AddressFigures {
  readonly waiting: number;
  /** Age of the request that waits longest; 0: none waits. */
  readonly oldestMs: number;
  /** Requests since the start that got no address. */
  readonly refused: number;
  /** Reason for which the last request got none; null once one got an address, or after a minute. */
  readonly trouble: string | null;
}

interface Request {
  readonly merchantId: string;
  readonly since: number;
  readonly resolve: (address: FreshAddress) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Fresh addresses of one network. Networks wait for nothing of each other's, and no request waits
 * longer than its bound, whatever holds up the database.
 */
class NetworkBook {
  readonly #sql: Sql;
  readonly #chain: Chain;
  readonly #bounds: AddressBounds;
  readonly #waiting = new Set<Request>();
  #indexes: number[] = [];
  #isWatched = false;
  #isRunning = false;
  #highest: number | null = null;
  /** Indexes that are skipped as the database was set back, until their addresses are watched. */
  #skipped: { readonly first: number; readonly last: number }[] = [];
  #refused = 0;
  #trouble: { readonly why: string; readonly at: number } | null = null;

  constructor(sql: Sql, chain: Chain, bounds: AddressBounds) {
    this.#sql = sql;
    this.#chain = chain;
    this.#bounds = bounds;
  }

  /** The highest derivation index that was ever taken, here or by another node as last seen; null: none is known. */
  get highest(): number | null {
    return this.#highest;
  }

  /** Takes in that an index and all below it are taken. */
  recordTaken(index: number): void {
    this.#highest = Math.max(index, this.#highest ?? 0);
  }

  /** Current state. */
  get figures(): AddressFigures {
    const [oldest] = this.#waiting;
    const now = performance.now();
    const trouble = this.#trouble;
    return {
      waiting: this.#waiting.size,
      oldestMs: oldest === undefined ? 0 : now - oldest.since,
      refused: this.#refused,
      trouble: trouble === null || now - trouble.at > REPORTED_MS ? null : trouble.why,
    };
  }

  /** Takes a fresh address; see `AddressBook.take`. */
  take(merchantId: string): Promise<FreshAddress> {
    const { promise, resolve, reject } = Promise.withResolvers<FreshAddress>();
    const request = { merchantId, since: performance.now(), resolve, reject };
    const isFull = this.#waiting.size >= WAITING_LIMIT;
    this.#waiting.add(request);
    if (isFull) {
      this.#refuse([request], unavailable("rate-limit", "too many requests wait for one", this));
      return promise;
    }
    const late = setTimeout(() => {
      this.#refuse(
        [request],
        unavailable("timeout", "the database did not number it in time", this),
      );
    }, this.#bounds.takeMs);
    if (!this.#isRunning) void this.#run();
    return promise.finally(() => clearTimeout(late));
  }

  /** Throws where payments to addresses would not be found: they are, from the watcher's first block on. */
  async requireWatched(): Promise<void> {
    if (this.#isWatched) return;
    if (await readCursor(this.#sql, this.network, "solid") === null) {
      throw unavailable("network", "the network was never reached", this);
    }
    this.#isWatched = true;
  }

  /** The network whose addresses these are. */
  get network(): Chain["network"] {
    return this.#chain.network;
  }

  /** Forgets indexes that were taken and not handed out. */
  dropCaches(): void {
    this.#indexes = [];
    this.#isWatched = false;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.size > 0) {
      let areKept: boolean;
      try {
        await this.requireWatched();
        areKept = this.#indexes.length > 0;
        if (!areKept) await this.#number();
      } catch (error) {
        // without numbers no request can be served: all of them are refused at once
        this.#refuse([...this.#waiting], error);
        continue;
      }
      const requests = [...this.#waiting].slice(0, Math.min(ROUND, this.#indexes.length));
      await this.#handOut(requests, areKept);
    }
    this.#isRunning = false;
  }

  /**
   * One insert for as many as there are numbers for: issuing is bound by commits, not by requests.
   *
   * @param areKept whether the numbers were taken for earlier requests: where they were jumped over since, these get others
   */
  async #handOut(requests: readonly Request[], areKept: boolean): Promise<void> {
    if (requests.length === 0) return;
    try {
      const indexes = this.#indexes.splice(0, requests.length);
      const rows = requests.map(({ merchantId }, n): WatchedAddress => {
        const walletIndex = indexes[n] as number;
        const address = this.#chain.deriveAddress(walletIndex);
        return { network: this.network, merchantId, walletIndex, address, addressId: newId("adr") };
      });
      await watchAddresses(this.#sql, rows);
      crashPoint("addresses.after-watch");
      this.#trouble = null;
      for (const [n, { addressId, address, walletIndex: index }] of rows.entries()) {
        const request = requests[n] as Request;
        // one that was given up meanwhile has had its answer: its number is used up
        if (this.#waiting.delete(request)) request.resolve({ addressId, address, index });
      }
    } catch (error) {
      // an index that this or another node has jumped over is watched as lost by now: none of these is used
      this.dropCaches();
      if (areKept && classifyDatabaseError(error) === "constraint") return;
      this.#refuse(requests, error);
    }
  }

  async #number(): Promise<void> {
    const count = NUMBERS * Math.ceil(Math.min(ROUND, Math.max(1, this.#waiting.size)) / NUMBERS);
    // known before these are taken: a look meanwhile sees them as well
    const highest = this.#highest;
    const taken = await takeIndexes(this.#sql, this.network, count, this.#bounds.rowMs);
    if (taken === "held") {
      throw unavailable("timeout", "another transaction holds the row of its numbers", this);
    }
    if (taken === null) {
      const why = "the database has another history, or no signer attested the wallet";
      throw unavailable("network", why, this);
    }
    if (highest !== null && taken <= highest) {
      await this.#skip(taken, highest);
      return await this.#number();
    }
    this.recordTaken(taken + count - 1);
    this.#indexes = Array.from({ length: count }, (_, n) => taken + n);
  }

  /**
   * Takes in which index is taken next, as just read.
   *
   * @param known the highest one that was known to be taken before it was read; null: none was
   * @throws when the database is away
   */
  async recordNext(next: number, known: number | null): Promise<void> {
    if (known !== null && next <= known) await this.#skip(next, known);
    else if (next > 0) this.recordTaken(next - 1);
  }

  /** Jumps over what was taken, as numbers only grow: those of an older copy of the database are other customers' addresses. */
  async #skip(first: number, highest: number): Promise<void> {
    const { network } = this;
    const last = highest + OF_OTHERS;
    // kept first: where the jump fails, the next numbers are above these
    this.#skipped.push({ first, last });
    await skipIndexesTo(this.#sql, network, last);
    logEvent("wallet.numbers_set_back", { network, walletIndex: highest });
  }

  /**
   * Watches the addresses of skipped indexes whose merchants the database has lost: a hold that is declared later jumps over
   * indexes above them.
   *
   * @throws when the database is away; then they are watched the next time
   */
  async watchSkipped(): Promise<void> {
    const derive = (index: number) => this.#chain.deriveAddress(index);
    for (let gap = this.#skipped[0]; gap !== undefined; gap = this.#skipped[0]) {
      const next = (await readNextIndexes(this.#sql)).get(this.network);
      // without the jump, as where the copy was in use for a moment alone, these are still handed out to merchants
      if (next === undefined || next <= gap.last) return;
      const lost = await watchGap(this.#sql, this.network, gap, derive, () => newId("adr"));
      this.#skipped.shift();
      logEvent("failover.addresses_watched", { network: this.network, lost });
    }
  }

  #refuse(requests: readonly Request[], error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    this.#trouble = { why, at: performance.now() };
    for (const request of requests) {
      if (!this.#waiting.delete(request)) continue;
      this.#refused++;
      request.reject(error);
    }
  }
}

function unavailable(
  category: ChainUnavailable["category"],
  why: string,
  { network }: NetworkBook,
): ChainUnavailable {
  return new ChainUnavailable(category, `Cannot hand out an address as ${why}: ${network}`);
}

/** A merchant's customer waits for it, so that a request without an address ends soon. */
const BOUNDS: AddressBounds = { takeMs: 3_000, rowMs: 1_000 };

/** The fresh addresses of all networks, each by itself. */
export class AddressBook {
  readonly #sql: Sql;
  readonly #books: ReadonlyMap<Network, NetworkBook>;

  constructor(sql: Sql, chains: ReadonlyMap<Network, Chain>, bounds: AddressBounds = BOUNDS) {
    this.#sql = sql;
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

  /**
   * Looks which numbers are taken by now, by whichever node, and jumps over those that were where the database was set back: of
   * its copy a node that starts knows none, and would give them once more.
   *
   * @throws when the database is away
   */
  async look(): Promise<void> {
    // before the question: what is numbered meanwhile is above what it is answered with
    const known = this.highest;
    for (const [network, next] of await readNextIndexes(this.#sql)) {
      await this.#books.get(network)?.recordNext(next, known.get(network) ?? null);
    }
  }

  /**
   * Watches the addresses that were skipped as the database was set back, so that payments to them are listed.
   *
   * @throws when the database is away
   */
  async watchSkipped(): Promise<void> {
    for (const book of this.#books.values()) await book.watchSkipped();
  }

  /** The highest derivation index that is known to be taken, by network. */
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
