/**
 * The traffic that is meant to stop the service, as a process of its own, from addresses of its own:
 * 127.0.0.66 and those that follow. Its argument is an order as JSON. It works until it is killed, which
 * drops all its connections at once.
 *
 * @module
 */

import { connect, type Socket } from "node:net";
import { delay } from "../../ledger/database/delay.ts";

/** One kind of abuse. */
export type Attack =
  /** Paths with a NUL, by a key that may pay out, so many a second. */
  | { readonly kind: "nul-paths"; readonly apiKey: string; readonly perSecond: number }
  /** Connections without a request, with half a head and with bodies that drip; so many a second. */
  | { readonly kind: "connections"; readonly count: number; readonly perSecond: number }
  /** Costly requests that need no key, so many a second. */
  | { readonly kind: "public-routes"; readonly perSecond: number }
  /** Lists of a hundred rows with large metadata, one reader for each key. */
  | { readonly kind: "large-lists"; readonly apiKeys: readonly string[] }
  /** Withdrawals of the merchant whose row another session holds, so many a second. */
  | {
    readonly kind: "held-row";
    readonly apiKey: string;
    readonly destination: string;
    readonly perSecond: number;
  }
  /** Withdrawals with valid keys whose bodies drip, given up and begun anew, so many connections. */
  | { readonly kind: "held-bodies"; readonly apiKeys: readonly string[]; readonly count: number }
  /** Withdrawals of one merchant, all at once on so many connections, again and again. */
  | {
    readonly kind: "crowding";
    readonly apiKey: string;
    readonly destination: string;
    readonly count: number;
  };

/** The work of one process. */
export interface Order {
  readonly port: number;
  readonly attacks: readonly Attack[];
}

const HOST = "127.0.0.1";
const SCRIPT = "/api/docs/swagger-ui-bundle.js";
/** A connection that was opened or ended is followed by the next one after so long. */
const REOPEN_MS = 5;
/** Connections that are opened without a pause. */
const AT_ONCE = 20;
const DRIP_MS = 1_000;
const READER_PAUSE_MS = 20;
/** A held body is given up after so long: far longer than its place is kept. */
const HELD_MS = 1_000;
/** Pause between two crowds. */
const CROWD_MS = 1_000;
/** More than any merchant has: it is decided and refused, and nothing is paid. */
const TOO_MUCH = "1000000000";

/** Addresses that the abuse comes from. */
function addressOf(number: number): string {
  return `127.0.0.${66 + number % 8}`;
}

function open(port: number, from: string): Socket {
  const socket = connect({ host: HOST, port, localAddress: from });
  // that the service ends connections is what is tried; the close that follows reports an error
  socket.on("error", () => socket.destroy());
  return socket;
}

/** Sends one request and reads its answer to the end, whatever it is. */
function ask(port: number, from: string, text: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = open(port, from);
    socket.on("close", () => resolve());
    socket.on("end", () => socket.destroy());
    socket.on("data", () => {});
    socket.write(text);
  });
}

function get(path: string, apiKey: string | null = null): string {
  return headOf("GET", path, apiKey) + "\r\n";
}

function post(path: string, apiKey: string, body: string, last = true): string {
  return `${headOf("POST", path, apiKey, last)}Content-Type: application/json\r\n` +
    `Content-Length: ${body.length}\r\n\r\n${body}`;
}

/** @param last true: the connection ends with the answer */
function headOf(method: string, path: string, apiKey: string | null, last = true): string {
  return `${method} ${path} HTTP/1.1\r\nHost: ${HOST}\r\n` + (last ? "Connection: close\r\n" : "") +
    (apiKey === null ? "" : `Authorization: ${apiKey}\r\n`);
}

/** Sends so many requests a second, without waiting for their answers. */
async function storm(
  perSecond: number,
  send: (number: number) => Promise<void>,
): Promise<never> {
  for (let number = 0;; number++) {
    void send(number);
    await delay(1_000 / perSecond);
  }
}

async function hold(port: number, count: number, perSecond: number): Promise<never> {
  const held = new Set<Socket>();
  setInterval(() => {
    for (const socket of held) socket.write("a");
  }, DRIP_MS);
  for (let number = 0;; number++) {
    if (held.size < count) {
      const socket = open(port, addressOf(number));
      held.add(socket);
      socket.on("close", () => held.delete(socket));
      socket.on("end", () => socket.destroy());
      socket.on("data", () => {});
      if (number % 3 === 1) socket.write(`GET / HTTP/1.1\r\nHost: ${HOST}\r\nX-`);
      if (number % 3 === 2) {
        socket.write(
          `POST /api/withdrawals HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 60000\r\n\r\n{`,
        );
      }
    }
    // the first ones at once, those that the service ended one by one
    if (number >= count || number % AT_ONCE === 0) {
      await delay(number >= count ? REOPEN_MS : 1_000 * AT_ONCE / perSecond);
    }
  }
}

/** One connection that begins a withdrawal and does not end it, and then the next one. */
async function holdBody(port: number, from: string, apiKey: string): Promise<never> {
  const head = headOf("POST", "/api/withdrawals", apiKey) +
    "Content-Type: application/json\r\nContent-Length: 60000\r\n\r\n{";
  for (;;) {
    const socket = open(port, from);
    socket.on("data", () => {});
    socket.write(head);
    await delay(HELD_MS / 2);
    socket.write("a");
    await delay(HELD_MS / 2);
    socket.destroy();
  }
}

/** Connections that ask all at once, each as soon as it was answered. */
async function crowd(port: number, count: number, request: string): Promise<never> {
  const ready = new Set<Socket>();
  const connectOne = (number: number) => {
    const socket = open(port, addressOf(number));
    socket.on("connect", () => ready.add(socket));
    socket.on("data", () => ready.add(socket));
    socket.on("end", () => socket.destroy());
    socket.on("close", () => {
      ready.delete(socket);
      setTimeout(connectOne, CROWD_MS, number);
    });
  };
  for (let number = 0; number < count; number++) connectOne(number);
  for (;;) {
    await delay(CROWD_MS);
    const all = [...ready];
    ready.clear();
    for (const socket of all) socket.write(request);
  }
}

async function read(port: number, apiKey: string): Promise<never> {
  for (;;) {
    await ask(port, addressOf(0), get("/api/deposits?limit=100", apiKey));
    await delay(READER_PAUSE_MS);
  }
}

function start(port: number, attack: Attack): void {
  switch (attack.kind) {
    case "nul-paths": {
      const request = post("/api/withdrawals/%00/cancel", attack.apiKey, "{}");
      void storm(attack.perSecond, () => ask(port, addressOf(1), request));
      return;
    }
    case "connections":
      void hold(port, attack.count, attack.perSecond);
      return;
    case "public-routes": {
      const paths = [SCRIPT, "/metrics", "/readyz"];
      void storm(
        attack.perSecond,
        (number) => ask(port, addressOf(number), get(paths[number % paths.length] ?? SCRIPT)),
      );
      return;
    }
    case "large-lists":
      for (const apiKey of attack.apiKeys) void read(port, apiKey);
      return;
    case "held-row": {
      const { apiKey, destination } = attack;
      const body = JSON.stringify({ amount: "1", currency: "USDT", network: "TRX", destination });
      const request = post("/api/withdrawals", apiKey, body);
      void storm(attack.perSecond, () => ask(port, addressOf(2), request));
      return;
    }
    case "held-bodies":
      for (let number = 0; number < attack.count; number++) {
        const apiKey = attack.apiKeys[number % attack.apiKeys.length] ?? "";
        void holdBody(port, addressOf(number), apiKey);
      }
      return;
    case "crowding": {
      const { apiKey, destination, count } = attack;
      const asked = { amount: TOO_MUCH, currency: "USDT", network: "TRX", destination };
      const request = post("/api/withdrawals", apiKey, JSON.stringify(asked), false);
      void crowd(port, count, request);
      return;
    }
    default: {
      const never: never = attack;
      return never;
    }
  }
}

const { port, attacks }: Order = JSON.parse(Deno.args[0] ?? "");
for (const attack of attacks) start(port, attack);
