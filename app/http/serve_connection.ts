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

/** Deno's function for it; null where this version of Deno has none. */
export function findServeConnection(): ServeConnection | null {
  const internals = Reflect.get(Deno, Reflect.get(Deno, "internal"));
  const found = typeof internals === "object" && internals !== null
    ? Reflect.get(internals, "serveHttpOnConnection")
    : undefined;
  return typeof found === "function" ? found : null;
}
