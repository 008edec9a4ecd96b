/**
 * Kept connections to merchants' endpoints, one request at a time on each. How a connection is opened, and so
 * where it may go, is not decided here.
 *
 * Our own client: node:http takes four times the processor time for requests that are all alike, and
 * undici refuses answers that merchants' servers give (one after "100 Continue", a 204 that announces
 * a length), takes answers whose end is not clear, and bounds connections per endpoint alone.
 *
 * @module
 */

import type { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import { type Answer, AnswerParser, MalformedAnswer } from "./answer_parser.ts";

/** Connections of one merchant to one origin. */
const SOCKETS_PER_MERCHANT = 64;

/** Connections above which no idle ones are kept, where nothing else is said. */
const SOCKETS = 2_048;

/** The longest that one is used: the addresses of its name are asked for and judged again. */
const LIFE_MS = 300_000;

/** Interval at which idle connections are looked at. */
const LOOK_MS = 1_000;

/**
 * Destination of requests, and their merchant. Requests of one merchant to one origin share their connections;
 * those of different merchants do not, or one whose deliveries hang would leave none to the others
 * that use the same shop platform.
 */
export interface Endpoint {
  readonly merchantId: string;
  /** Scheme, host and port. */
  readonly origin: string;
  readonly url: URL;
}

/** Opens a connection to an endpoint, without waiting for it. */
export type Open = (endpoint: Endpoint) => Socket;

/** Called once with the end of a request. */
export interface Listener {
  answered(answer: Answer): void;
  failed(error: Error & { readonly code?: string }): void;
}

/** A request under way. */
export interface Exchange {
  /** Closes the connection; the listener is not called any more. */
  giveUp(): void;
}

/** Connections to all endpoints. */
export class Connections {
  readonly #open: Open;
  readonly #most: number;
  readonly #pools = new Map<string, Pool>();
  readonly #all = new Set<Connection>();
  /** Those without a request; the one that has been so the longest is the first. */
  readonly #idle = new Set<Connection>();
  #look: ReturnType<typeof setInterval> | undefined;

  /** @param most above so many connections idle ones are closed */
  constructor(open: Open, most = SOCKETS) {
    this.#open = open;
    this.#most = most;
  }

  /**
   * Sends a request over a kept connection, or a new one. A kept one that the endpoint closed while
   * it was idle is no failure of the endpoint: the request goes out once more, over a new one.
   *
   * @param bytes head and body
   */
  request(endpoint: Endpoint, bytes: Uint8Array, listener: Listener): Exchange {
    const pool = this.#pool(endpoint);
    const exchange = new Request(pool, bytes, listener);
    const kept = pool.idle.pop();
    if (kept !== undefined) {
      this.#idle.delete(kept);
      kept.send(exchange);
    } else if (pool.all.size < SOCKETS_PER_MERCHANT) this.connect(exchange);
    else pool.waiting.add(exchange);
    return exchange;
  }

  /** Closes all connections. What is under way must have been given up. */
  close(): void {
    for (const connection of this.#all) connection.destroy();
    clearInterval(this.#look);
  }

  #pool(endpoint: Endpoint): Pool {
    const key = `${endpoint.merchantId} ${endpoint.origin}`;
    let pool = this.#pools.get(key);
    if (pool === undefined) {
      pool = { key, endpoint, all: new Set(), idle: [], waiting: new Set() };
      this.#pools.set(key, pool);
    }
    return pool;
  }

  /** Sends a request over a new connection. */
  connect(request: Request): void {
    const { pool } = request;
    const connection = new Connection(this, pool, this.#open(pool.endpoint));
    this.#all.add(connection);
    // before any other of the pool is closed: an empty one is forgotten
    pool.all.add(connection);
    connection.send(request);
    // no request waits for connections that others keep
    for (const oldest of this.#idle) {
      if (this.#all.size <= this.#most) break;
      oldest.destroy();
    }
  }

  /** A connection has nothing to do. */
  free(connection: Connection): void {
    const [next] = connection.pool.waiting;
    if (next !== undefined) {
      connection.pool.waiting.delete(next);
      connection.send(next);
      return;
    }
    connection.pool.idle.push(connection);
    this.#idle.add(connection);
    this.#look ??= setInterval(() => this.#closeIdle(), LOOK_MS);
  }

  /** A connection is no more. */
  gone(connection: Connection): void {
    const { pool } = connection;
    this.#all.delete(connection);
    this.#idle.delete(connection);
    pool.all.delete(connection);
    const at = pool.idle.indexOf(connection);
    if (at >= 0) pool.idle.splice(at, 1);
  }

  /** There is room for one connection more. */
  refill(pool: Pool): void {
    const [next] = pool.waiting;
    if (next !== undefined && pool.all.size < SOCKETS_PER_MERCHANT) {
      pool.waiting.delete(next);
      this.connect(next);
    } else if (pool.all.size === 0) {
      this.#pools.delete(pool.key);
    }
  }

  #closeIdle(): void {
    const now = performance.now();
    for (const one of this.#idle) if (one.idleUntil <= now) one.destroy();
    if (this.#idle.size > 0) return;
    clearInterval(this.#look);
    this.#look = undefined;
  }
}

/** Connections of one merchant to one origin, and what waits for one. */
interface Pool {
  readonly key: string;
  readonly endpoint: Endpoint;
  readonly all: Set<Connection>;
  /** The one used last is the last. */
  readonly idle: Connection[];
  readonly waiting: Set<Request>;
}

class Request implements Exchange {
  connection: Connection | null = null;

  constructor(
    readonly pool: Pool,
    readonly bytes: Uint8Array,
    readonly listener: Listener,
  ) {}

  giveUp(): void {
    this.pool.waiting.delete(this);
    this.connection?.abandon();
  }
}

class Connection {
  idleUntil = 0;
  #request: Request | null = null;
  #parser = new AnswerParser();
  readonly #openedAt = performance.now();
  #hasServed = false;
  #isGone = false;

  constructor(
    readonly owner: Connections,
    readonly pool: Pool,
    readonly socket: Socket,
  ) {
    socket.on("data", (bytes: Buffer) => this.#receive(bytes));
    socket.on("error", (error: Error) => this.#fail(error));
    socket.on("end", () => this.#end());
    socket.on("close", () => this.#fail(brokenOff()));
  }

  send(request: Request): void {
    request.connection = this;
    this.#request = request;
    this.socket.write(request.bytes);
  }

  /** Closes it without calling the listener. */
  abandon(): void {
    if (this.#request !== null) this.#request.connection = null;
    this.#request = null;
    this.destroy();
  }

  destroy(): void {
    if (this.#leave()) this.owner.refill(this.pool);
  }

  #receive(bytes: Buffer): void {
    // what arrives unasked is the answer to nothing
    if (this.#request === null) return this.destroy();
    let answer: Answer | null;
    try {
      answer = this.#parser.push(bytes);
    } catch (error) {
      if (!(error instanceof MalformedAnswer)) throw error;
      return this.#fail(error);
    }
    if (answer !== null) this.#conclude(answer);
  }

  #end(): void {
    const answer = this.#request === null ? null : this.#parser.end();
    if (answer === null) this.#fail(brokenOff());
    else this.#conclude(answer);
  }

  #conclude(answer: Answer): void {
    const request = this.#take();
    this.#hasServed = true;
    const now = performance.now();
    this.idleUntil = Math.min(now + answer.idleMs, this.#openedAt + LIFE_MS);
    // an endpoint that answered before it had heard all may take the rest for the next request
    if (this.idleUntil > now && this.socket.writableLength === 0) {
      // now and not with the next request: an idle connection holds nothing that was read
      this.#parser = new AnswerParser();
      this.owner.free(this);
    } else {
      this.destroy();
    }
    request?.listener.answered(answer);
  }

  #fail(error: Error): void {
    if (!this.#leave()) return;
    const request = this.#take();
    const isStale = this.#hasServed && !this.#parser.hasBegun;
    if (request !== null && isStale) {
      // the place of this connection is free, and was not taken yet; the new one has
      // served nothing, so that this try is the last
      this.owner.connect(request);
    } else {
      this.owner.refill(this.pool);
      request?.listener.failed(error);
    }
  }

  #take(): Request | null {
    const request = this.#request;
    if (request !== null) request.connection = null;
    this.#request = null;
    return request;
  }

  /** @returns whether it was still there */
  #leave(): boolean {
    if (this.#isGone) return false;
    this.#isGone = true;
    this.owner.gone(this);
    this.socket.destroy();
    return true;
  }
}

function brokenOff(): Error {
  return Object.assign(new Error("The connection was closed before the answer's end"), {
    code: "ECONNRESET",
  });
}
