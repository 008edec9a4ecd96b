/**
 * A connection that notices when nobody answers any more. A server whose machine is gone, or a
 * firewall that has forgotten the connection, sends no end: without a bound of our own a query would
 * wait until the system gives the connection up, a quarter of an hour or longer.
 *
 * @module
 */

import { Socket } from "node:net";
import { setImmediate } from "node:timers";

/** Where a pool connects to, as `npm:postgres` has parsed it. */
export interface Target {
  readonly host: readonly string[];
  readonly port: readonly number[];
  /** A Unix socket; it cannot be half open. */
  readonly path?: string | false;
  /** What says how TLS is spoken, if it is. */
  readonly ssl?: unknown;
}

/**
 * Makes the sockets of a pool.
 *
 * @param silenceMs how long the server may say nothing at all while something was asked; null: for
 *   ever
 * @returns what `npm:postgres` takes as its option `socket`; several hosts are tried in turn
 */
export function watchedSockets(silenceMs: number | null): (target: Target) => Socket {
  let next = 0;
  return ({ host: hosts, port: ports, path, ssl }) => {
    const socket = new Socket();
    endGently(socket);
    if (path) {
      socket.connect(path);
      return socket;
    }
    const index = next++ % hosts.length;
    const [host, port] = [hosts[index] ?? "localhost", ports[index] ?? 5432];
    socket.connect(port, host);
    // a TLS session reads the connection past us: there only the system's own probes watch it
    if (!ssl && silenceMs !== null) watch(socket, silenceMs);
    // what the server's certificate is checked against
    return Object.assign(socket, { host });
  };
}

/**
 * Has a lost connection fail what was asked before it is let go of. `npm:postgres` 3.4.9 lets go of a
 * closed socket in the same breath as it fails the query of a transaction; the rollback that follows
 * is then written to nothing, which is an error that nobody can catch, and the process ends
 * (porsager/postgres#1208). So the failure is told first, and the end when the rollback was written.
 */
function endGently(socket: Socket): void {
  const emit = socket.emit.bind(socket);
  let hasFailed = false;
  const later = (event: string, ...rest: unknown[]): boolean => {
    if (event === "error") hasFailed = true;
    if (event !== "close") return emit(event, ...rest);
    if (!hasFailed) {
      const error = new Error("Cannot go on as the database ended the connection");
      emit("error", Object.assign(error, { code: "CONNECTION_CLOSED" }));
    }
    // the rollback is written by an immediate that is not set yet: it is due before the second one
    setImmediate(() => setImmediate(() => emit("close", false)));
    return true;
  };
  socket.emit = later;
}

/**
 * Ends a connection that was written to and then heard nothing for so long. What is written while an
 * answer is still coming counts from the end of that answer.
 */
function watch(socket: Socket, silenceMs: number): void {
  let answered = 0;
  let waitingSince: number | null = null;
  socket.on("data", () => {
    answered = socket.bytesWritten;
    waitingSince = null;
  });
  const look = setInterval(() => {
    if (socket.bytesWritten <= answered) {
      waitingSince = null;
      return;
    }
    waitingSince ??= performance.now();
    if (performance.now() - waitingSince < silenceMs) return;
    const error = new Error(`Cannot go on as the database is silent for ${silenceMs} ms`);
    socket.destroy(Object.assign(error, { code: "ETIMEDOUT" }));
  }, silenceMs / 5);
  socket.once("close", () => clearInterval(look));
}
