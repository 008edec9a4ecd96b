/**
 * Messages that no HTTP library sends, over bare connections.
 *
 * @module
 */

import type { Draw } from "./draw.ts";

/** Milliseconds for an answer or the end: longer than the service gives a head and a body. */
const BOUND_MS = 45_000;
/** Must never be found in a head of an answer. */
const INJECTED = "x-injected";

/** The sort of what is sent, and its bytes. */
export interface RawMessage {
  readonly name: string;
  readonly bytes: string;
}

const PATHS = ["/healthz", "/api/balance", "/deposit/x", "/api/docs"];

/** One message; `host` is that of the service. */
export function rawMessage(draw: Draw, host: string): RawMessage {
  const path = draw.of(PATHS);
  const get = (line: string, headers = `Host: ${host}\r\n`) => `${line}\r\n${headers}\r\n`;
  const post = (headers: string, body: string) =>
    `POST /api/withdrawals HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n${headers}\r\n${body}`;
  const kinds: Readonly<Record<string, () => string>> = {
    "odd host": () =>
      get(
        `GET ${path} HTTP/1.1`,
        `Host: ${
          draw.of(["a b", "x/api/balance?", "", "[::1", "a@b", "x:99999", "\u007f", "a,b"])
        }\r\n`,
      ),
    "two hosts": () => get(`GET ${path} HTTP/1.1`, `Host: ${host}\r\nHost: other\r\n`),
    "no host": () => get(`GET ${path} HTTP/1.1`, ""),
    "absolute form": () => get(`GET http://${draw.of(["x y", "other/api", host])}${path} HTTP/1.1`),
    "odd target": () =>
      get(
        `GET ${
          draw.of(["*", "//", "\\", "/%zz", "/\u0000", "/a b", "?", "#", "/%2e%2e/%00"])
        } HTTP/1.1`,
      ),
    "odd version": () => get(`GET ${path} HTTP/${draw.of(["0.9", "1.2", "2.0", "9", "1.1x"])}`),
    "odd method": () =>
      get(
        `${
          draw.of(["get", "G\u0000T", "CONNECT", "TRACE", "PRI", "A".repeat(9_000)])
        } ${path} HTTP/1.1`,
      ),
    "bare line feeds": () => `GET ${path} HTTP/1.1\nHost: ${host}\n\n`,
    "many headers": () =>
      get(`GET ${path} HTTP/1.1`, `Host: ${host}\r\n${"a: b\r\n".repeat(50 + draw.below(3_000))}`),
    "long header": () =>
      get(`GET ${path} HTTP/1.1`, `Host: ${host}\r\na: ${"b".repeat(100_000)}\r\n`),
    "long target": () => get(`GET /${"a".repeat(80_000)} HTTP/1.1`),
    "folded header": () => get(`GET ${path} HTTP/1.1`, `Host: ${host}\r\na: b\r\n c\r\n`),
    "injected": () =>
      get(
        `GET /deposit/a%0d%0a${INJECTED}:%201 HTTP/1.1`,
        `Host: ${host}\r\nX-Request-Id: a\r\t${INJECTED}: 1\r\n`,
      ),
    "two lengths": () => post("Content-Length: 2\r\nContent-Length: 3\r\n", "{}"),
    "length and chunks": () =>
      post(
        "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
        "0\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n",
      ),
    "odd length": () =>
      post(
        `Content-Length: ${draw.of(["-1", "1e3", "0x2", " ", "99999999999999999999"])}\r\n`,
        "{}",
      ),
    "odd chunks": () =>
      post(
        "Transfer-Encoding: chunked\r\n",
        draw.of([
          "zz\r\n",
          "-1\r\n\r\n",
          "ffffffffffffffff\r\n",
          "2;a=b\r\n{}\r\n0\r\nx: y\r\n\r\n",
        ]),
      ),
    "tiny chunks": () =>
      post("Transfer-Encoding: chunked\r\n", `${"1\r\n \r\n".repeat(2_000)}0\r\n\r\n`),
    "body cut off": () => post("Content-Length: 100\r\n", "{"),
    "head cut off": () => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAcc`,
    "pipelined": () => get(`GET ${path} HTTP/1.1`).repeat(1 + draw.below(60)),
    "upgrade": () =>
      get(
        `GET ${path} HTTP/1.1`,
        `Host: ${host}\r\nConnection: Upgrade\r\nUpgrade: ${draw.of(["websocket", "h2c"])}\r\n`,
      ),
    "odd key": () =>
      get(
        "GET /api/balance HTTP/1.1",
        `Host: ${host}\r\nAuthorization: ${
          draw.of(["Bearer", "\u0001", "Basic eA==", "k".repeat(7_000)])
        }\r\n`,
      ),
    "HTTP/2 without agreement": () =>
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\u0000\u0000\u0000\u0004\u0000",
    "another protocol": () =>
      draw.of(["\u0016\u0003\u0001\u0002\u0000\u0001", "SSH-2.0-x\r\n", "\u0000".repeat(64)]),
  };
  const name = draw.of(Object.keys(kinds));
  return { name, bytes: kinds[name]?.() ?? "" };
}

/** Sends a message and reads what comes. Answers what is wrong with it; null: nothing. */
export async function rawFault(port: number, { name, bytes }: RawMessage): Promise<string | null> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  let isLate = false;
  const bound = setTimeout(() => {
    isLate = true;
    connection.close();
  }, BOUND_MS);
  try {
    const text = await exchanged(connection, Uint8Array.from(bytes, (char) => char.charCodeAt(0)));
    const head = text.split("\r\n\r\n")[0] ?? "";
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1] ?? 0);
    if (status >= 500 && status !== 503) return `${name}: ${head}`;
    if (head.toLowerCase().includes(`\n${INJECTED}`)) {
      return `${name}: a header was injected: ${head}`;
    }
    return null;
  } catch (error) {
    if (isLate) return `${name}: neither an answer nor an end within ${BOUND_MS / 1_000} s`;
    if (isEnded(error)) return null;
    throw error;
  } finally {
    clearTimeout(bound);
    if (!isLate) connection.close();
  }
}

/** Reads to the first head or the end: bytes as characters. */
async function exchanged(connection: Deno.TcpConn, bytes: Uint8Array): Promise<string> {
  const reading = readHead(connection);
  // the answer may be there, and the connection over, before all was sent
  const sending = sendAll(connection, bytes).catch((error) => {
    if (!isEnded(error)) throw error;
  });
  const [text] = await Promise.all([reading, sending]);
  return text;
}

async function sendAll(connection: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
  // what was cut off is not waited for
  await connection.closeWrite();
}

async function readHead(connection: Deno.TcpConn): Promise<string> {
  const buffer = new Uint8Array(16_384);
  let text = "";
  while (!text.includes("\r\n\r\n")) {
    const count = await connection.read(buffer);
    if (count === null) break;
    text += String.fromCharCode(...buffer.subarray(0, count));
  }
  return text;
}

function isEnded(error: unknown): boolean {
  return error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.BrokenPipe ||
    error instanceof Deno.errors.NotConnected || error instanceof Deno.errors.ConnectionAborted;
}
