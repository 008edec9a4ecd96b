/**
 * HTTP on one accepted connection, by Deno's own server. `Deno.serve` accepts by itself: it ends the
 * process when an accept fails, and neither bounds connections nor times. node:http does both, but
 * takes two to three times the processor time of each request, and stops accepting when descriptors
 * run out. The function is not part of Deno's documented interface, so its absence is an answer.
 *
 * @module
 */

/** Answers one request. */
export type Handler = (
  request: Request,
  info: Deno.ServeHandlerInfo<Deno.NetAddr>,
) => Response | Promise<Response>;

/** A connection on which HTTP is spoken. */
export interface ServedConnection {
  /** Resolves when it is closed. */
  readonly finished: Promise<void>;
  /** Answers the request under way, then closes it. */
  shutdown(): Promise<void>;
}

/** Speaks HTTP on a connection until it is closed or `signal` is aborted. */
export type ServeConnection = (
  connection: Deno.Conn,
  signal: AbortSignal,
  handler: Handler,
  onError: (error: unknown) => Response,
  onListen: () => void,
) => ServedConnection;

/** Deno's function for it; null where `internals` of this version of Deno have none. */
export function findServeConnection(
  internals: unknown = Reflect.get(Deno, Reflect.get(Deno, "internal")),
): ServeConnection | null {
  const found = typeof internals === "object" && internals !== null
    ? Reflect.get(internals, "serveHttpOnConnection")
    : undefined;
  if (typeof found !== "function") return null;
  return (connection, signal, ...rest) => found(connection, lateEndsAllowed(signal), ...rest);
}

/** The property in which Deno keeps headers once some were read; null: none, undefined: not looked for. */
let headersCache: symbol | null | undefined;

/**
 * Gives up the headers of a request whose answer is there. Where some were read Deno reads all of them once
 * more, as the request may outlive its connection, and sends an answer that was there at once a turn later.
 * Without the property that says so, as in another version of Deno, nothing is done.
 */
export function forgetHeaders(request: Request): void {
  if (headersCache === undefined) {
    const own = Object.getOwnPropertySymbols(request);
    headersCache = own.find(({ description }) => description === "headers cache") ?? null;
  }
  if (headersCache !== null) Reflect.set(request, headersCache, undefined);
}

/**
 * The same signal for Deno's own listener. To end a connection that the client has ended a moment before
 * fails in that listener, where nothing can catch it: it would end the process.
 */
function lateEndsAllowed(signal: AbortSignal): AbortSignal {
  const own = new AbortController();
  const add = own.signal.addEventListener.bind(own.signal);
  Object.defineProperty(own.signal, "addEventListener", {
    value: (type: string, listener: (event: Event) => void, options?: AddEventListenerOptions) =>
      add(type, (event) => {
        try {
          listener.call(own.signal, event);
        } catch (error) {
          if (!(error instanceof Deno.errors.BadResource)) throw error;
        }
      }, options),
  });
  signal.addEventListener("abort", () => own.abort(), { once: true });
  return own.signal;
}
