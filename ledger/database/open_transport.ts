/**
 * A stream of bytes to one PostgreSQL server: over TCP, a Unix socket, or TLS.
 *
 * @module
 */

import { readFile } from "node:fs/promises";
import { isIP, Socket } from "node:net";
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from "node:tls";
import type { Host, TlsTerms } from "./database_url.ts";
import { connectionFault } from "./database_errors.ts";

/** Milliseconds until the system probes an idle connection. */
const KEEP_ALIVE_MS = 15_000;

/** SSLRequest (PostgreSQL manual, chapter "Message Formats"). */
const SSL_REQUEST = new Uint8Array([0, 0, 0, 8, 4, 210, 22, 47]);
const YES = 0x53;

/**
 * Connects, and agrees on TLS where the terms want it.
 *
 * @param signal ends the attempt
 * @throws {Error} what stood in the way, with a code that counts as a lost connection
 */
export async function openTransport(
  target: Host,
  terms: TlsTerms,
  signal: AbortSignal,
): Promise<Socket> {
  const socket = new Socket();
  const abort = () => socket.destroy(connectionFault("CONNECT_TIMEOUT", "the attempt was ended"));
  signal.addEventListener("abort", abort, { once: true });
  try {
    await connected(socket, target);
    if (terms.mode === "disable" || target.host.startsWith("/")) return socket;
    if (!terms.direct && !(await speaksTls(socket))) {
      if (terms.mode === "prefer") return socket;
      throw connectionFault("TLS_REFUSED", "the server does not speak TLS");
    }
    return await secured(socket, target, terms);
  } catch (error) {
    socket.on("error", () => {});
    socket.destroy();
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function connected(socket: Socket, { host, port }: Host): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.removeListener("error", reject);
      resolve();
    });
    if (host.startsWith("/")) {
      socket.connect(`${host}/.s.PGSQL.${port}`);
      return;
    }
    socket.setNoDelay(true);
    socket.connect(port, host, () => socket.setKeepAlive(true, KEEP_ALIVE_MS));
  });
}

/** Asks whether the server speaks TLS. More than one byte was not sent by the server itself. */
async function speaksTls(socket: Socket): Promise<boolean> {
  const answer = await new Promise<Uint8Array>((resolve, reject) => {
    const closed = () => reject(connectionFault("CONNECTION_CLOSED", "the server went away"));
    socket.once("error", reject);
    socket.once("close", closed);
    socket.once("data", (bytes) => {
      socket.removeListener("error", reject);
      socket.removeListener("close", closed);
      resolve(bytes);
    });
    socket.write(SSL_REQUEST);
  });
  if (answer.length === 1) return answer[0] === YES;
  throw connectionFault("TLS_REFUSED", "the server's answer to the request for TLS is malformed");
}

async function secured(socket: Socket, { host }: Host, terms: TlsTerms): Promise<TLSSocket> {
  const options: ConnectionOptions = { socket };
  if (isIP(host) === 0) options.servername = host;
  if (terms.direct) options.ALPNProtocols = ["postgresql"];
  if (terms.mode === "require" || terms.mode === "prefer") options.rejectUnauthorized = false;
  // any name will do, as long as a trusted authority signed it
  if (terms.mode === "verify-ca") options.checkServerIdentity = () => undefined;
  if (terms.rootCertificates !== null) options.ca = await readFile(terms.rootCertificates, "utf8");
  socket.removeAllListeners();
  const secure = connectTls(options);
  await new Promise<void>((resolve, reject) => {
    const refuse = (error: Error) =>
      reject(connectionFault("TLS_REFUSED", `TLS was not agreed on: ${error.message}`, error));
    const closed = () => refuse(new Error("the server went away"));
    secure.once("error", refuse);
    secure.once("close", closed);
    secure.once("secureConnect", () => {
      secure.removeListener("error", refuse);
      secure.removeListener("close", closed);
      resolve();
    });
  });
  return secure;
}
