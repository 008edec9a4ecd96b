import { logEvent } from "../../log/log_event.ts";
import type { Bindings } from "../../api/http/serve.ts";
import { addressBucket, isListed } from "../../api/http/client_address.ts";
import { delay } from "../../ledger/database/delay.ts";
import { acceptTroubleOf } from "./accept_trouble.ts";
import type { ConnectionBounds } from "./connection_bounds.ts";
import { Connections, type Exchange, type OpenConnection } from "./connections.ts";
import {
  forgetHeaders,
  type Handler,
  type ServeConnection,
  type ServedConnection,
} from "./serve_connection.ts";
import { ServedClock } from "./served_clock.ts";

/** Milliseconds between two looks for connections that took too long. */
const CHECK_MS = 500;
/** The same while the service stops. */
const STOP_CHECK_MS = 100;
/** Pauses after an accept that failed, as where no descriptor was free. */
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 500;
/**
 * Connections accepted in so many milliseconds while there is no place left: each costs the end of
 * another one, and all open connections share the thread. Others wait in the system's queue.
 */
const FULL_PACE = 32;
const FULL_PACE_MS = 25;
/** Connections that are ended after an accept for which no descriptor was free. */
const RELIEF = 16;
/**
 * Connections that were reset before they were accepted and are passed over in one turn. The failed
 * accepts of a queue full of them follow each other without a turn, and others must be served meanwhile.
 */
const RESETS_A_TURN = 32;
/** Accepts that fail, and refusals, are logged once in so long. */
const LOG_MS = 10_000;

/** Answers a request. */
export type Fetch = (request: Request, bindings: Bindings) => Response | Promise<Response>;

/** A connection and how it is brought to its end when the service stops. */
interface Live {
  readonly connection: OpenConnection;
  readonly served: ServedConnection;
  /** Resolves when it is closed, or given up. */
  readonly over: Promise<void>;
  /** Deno's server finishes what is under way and cannot be told to break it off any more. */
  isFinishing: boolean;
}

/** Settings of a door. */
export interface DoorOptions {
  readonly hostname: string;
  /** 0: chosen by the system. */
  readonly port: number;
  readonly bounds: ConnectionBounds;
  /** Addresses and ranges of proxies, which have connections of many clients. */
  readonly trustedProxies: readonly string[];
  readonly serveConnection: ServeConnection;
  readonly fetch: Fetch;
  /** The answer where `fetch` threw. */
  readonly failed: (error: unknown) => Response;
  /** The answer to a request whose connection was ended already; no client receives it. */
  readonly tooLate: () => Response;
}

/**
 * A listener of HTTP with bounds. An accept that fails is tried again; one connection's trouble ends
 * that connection, also while it still waits to be accepted.
 */
export class Door {
  readonly #options: DoorOptions;
  readonly #listener: Deno.TcpListener;
  readonly #served = new Set<Live>();
  readonly #accepting: Promise<void>;
  readonly #checks: ReturnType<typeof setInterval>;
  /** Clock of the time that clients are given; a thread that is held makes no client slow. */
  readonly #clock = new ServedClock();
  /** Counts and states, for metrics and readiness. */
  readonly connections: Connections;
  #acceptFailures = 0;
  #resets = 0;
  #failedAt: number | null = null;
  #loggedAt = -LOG_MS;
  #refusalLoggedAt = -LOG_MS;
  #pacedSince = 0;
  #paced = 0;
  #isClosed = false;

  /** Listens. @throws Deno.errors.AddrInUse and its like where the address cannot be had */
  constructor(options: DoorOptions) {
    this.#options = options;
    this.#listener = Deno.listen({
      hostname: options.hostname,
      port: options.port,
      transport: "tcp",
    });
    this.connections = new Connections(options.bounds);
    this.#checks = setInterval(() => this.connections.endOverdue(this.#clock.now()), CHECK_MS);
    this.#accepting = this.#acceptAll();
  }

  /** Port that is listened on. */
  get port(): number {
    return this.#listener.addr.port;
  }

  /** Accepts that failed since the start, not counting connections that were reset before. */
  get acceptFailures(): number {
    return this.#acceptFailures;
  }

  /** Connections that were reset before they were accepted, since the start. */
  get resets(): number {
    return this.#resets;
  }

  /** Milliseconds since an accept failed; null: none has. */
  get sinceAcceptFailure(): number | null {
    return this.#failedAt === null ? null : performance.now() - this.#failedAt;
  }

  /** Milliseconds since one client was refused more connections; null: none was. */
  get sinceAddressRefusal(): number | null {
    const at = this.connections.addressRefusedAt;
    return at === null ? null : this.#clock.now() - at;
  }

  /**
   * Stops accepting; resolves when the requests under way are answered and all is closed. What sends
   * no request is ended at once; what takes no answer is given up after `stopMs`, and ended with the
   * process.
   */
  async shutdown(): Promise<void> {
    this.#isClosed = true;
    this.#listener.close();
    await this.#accepting;
    const stopping = this.#clock.now();
    const closed = Promise.all([...this.#served].map(({ over }) => over));
    const end = () => {
      this.connections.endForStop(this.#clock.now(), stopping);
      for (const live of this.#served) finish(live);
    };
    end();
    const ends = setInterval(end, STOP_CHECK_MS);
    await closed;
    clearInterval(ends);
    clearInterval(this.#checks);
    this.#clock.stop();
  }

  async #acceptAll(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    while (!this.#isClosed) {
      let accepted: Deno.TcpConn;
      try {
        accepted = await this.#listener.accept();
      } catch (error) {
        if (this.#isClosed) return;
        const trouble = acceptTroubleOf(error);
        if (trouble === "reset") {
          if (++this.#resets % RESETS_A_TURN === 0) await delay(0);
          continue;
        }
        if (trouble === "exhausted") this.connections.relieve(RELIEF, this.#clock.now());
        this.#noteFailure(error);
        await delay(pauseMs);
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
        continue;
      }
      pauseMs = FIRST_PAUSE_MS;
      this.#take(accepted);
      if (this.connections.isFull) await this.#pace();
    }
  }

  /** Waits where many connections were accepted a moment ago. */
  async #pace(): Promise<void> {
    const passed = performance.now() - this.#pacedSince;
    if (passed >= FULL_PACE_MS) [this.#paced, this.#pacedSince] = [0, performance.now()];
    if (++this.#paced >= FULL_PACE) await delay(FULL_PACE_MS);
  }

  #noteFailure(error: unknown): void {
    const now = performance.now();
    this.#acceptFailures++;
    this.#failedAt = now;
    if (now - this.#loggedAt < LOG_MS) return;
    this.#loggedAt = now;
    logEvent("http.accept_failed", { error });
  }

  #noteRefusal(address: string): void {
    const now = performance.now();
    if (now - this.#refusalLoggedAt < LOG_MS) return;
    this.#refusalLoggedAt = now;
    logEvent("http.connections_refused", { address });
  }

  #take(accepted: Deno.TcpConn): void {
    const { serveConnection, trustedProxies, failed } = this.#options;
    const { hostname } = accepted.remoteAddr;
    const client = isListed(hostname, trustedProxies) ? null : addressBucket(hostname);
    const ended = new AbortController();
    const over = Promise.withResolvers<void>();
    let live: Live | null = null;
    const connection = this.connections.admit(client, this.#clock.now(), () => {
      if (live?.isFinishing === true) over.resolve();
      else ended.abort();
    });
    if (connection === null) {
      accepted.close();
      this.#noteRefusal(hostname);
      return;
    }
    try {
      accepted.setNoDelay(true);
      const handler = this.#handlerOf(connection, accepted.remoteAddr, ended.signal);
      const served = serveConnection(accepted, ended.signal, handler, failed, () => {});
      const entry: Live = live = { connection, served, over: over.promise, isFinishing: false };
      this.#served.add(entry);
      const forget = () => {
        this.#served.delete(entry);
        this.connections.forget(connection);
        over.resolve();
      };
      served.finished.then(forget, forget);
    } catch (error) {
      // a client that has gone already must not end the loop that accepts the others
      this.connections.forget(connection);
      closeIfOpen(accepted);
      logEvent("http.connection_unserved", { error });
    }
  }

  #handlerOf(connection: OpenConnection, remoteAddr: Deno.NetAddr, ended: AbortSignal): Handler {
    const { connections } = this;
    const clock = this.#clock;
    const { fetch } = this.#options;
    return (request, info) => {
      // its head was read in the turn that ended the connection: a payout must not be made unheard
      if (ended.aborted) return this.#options.tooLate();
      let exchange: Exchange | null = null;
      const begun = () => exchange ??= connections.begin(connection, clock.now());
      if (connections.isCrowded(connection)) {
        begun();
        return this.#options.tooLate();
      }
      const atOnce = () => {
        if (exchange === null) connections.answered(connection, clock.now());
        else connections.end(connection, exchange, clock.now());
      };
      let answer: Response | Promise<Response>;
      try {
        answer = fetch(request, {
          remoteAddr,
          bodyRead: () => {
            if (!ended.aborted) connections.move(connection, begun(), "answer", clock.now());
            return !ended.aborted;
          },
        });
      } catch (error) {
        atOnce();
        throw error;
      }
      if (!(answer instanceof Promise)) {
        atOnce();
        forgetHeaders(request);
        return answer;
      }
      begun();
      const over = () => connections.end(connection, begun(), clock.now());
      info.completed.then(over, over);
      return answer.then((response) => {
        connections.move(connection, begun(), "send", clock.now());
        forgetHeaders(request);
        return response;
      });
    };
  }
}

/**
 * Lets a connection finish what is under way. One that still sends its request is left as it is: it
 * can be broken off only until then.
 */
function finish(live: Live): void {
  const { connection, served } = live;
  if (live.isFinishing || connection.wait === "head" || connection.wait === "body") return;
  live.isFinishing = true;
  served.shutdown().catch((error) => logEvent("http.connection_ended", { error }));
}

function closeIfOpen(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}
