/**
 * One delivery attempt over HTTP. node:http and node:https are used because their `lookup` hook
 * pins the connection to the address that was judged: with fetch, the name would be resolved a
 * second time, and a hostile name server would answer something else.
 *
 * @module
 */

import { lookup as systemLookup } from "node:dns";
import http from "node:http";
import https from "node:https";
import type { LookupFunction, Socket } from "node:net";
import { isAcknowledgement } from "./acknowledgement.ts";
import type { AttemptOutcome } from "./attempt_outcome.ts";
import type { SentType } from "./event_type.ts";
import { signedHeaders, type SigningSecrets } from "./signature.ts";
import {
  addressLiteral,
  checkUrl,
  isAllowedAddress,
  isReachable,
  type UrlRefusal,
  type UrlRules,
} from "./url_guard.ts";

/** What is sent where. */
export interface Delivery {
  readonly eventId: string;
  readonly type: SentType;
  /** The exact body. */
  readonly body: string;
  readonly url: string;
  readonly secrets: SigningSecrets;
  /** Bound on the whole attempt, name resolution included, milliseconds. */
  readonly timeoutMs: number;
}

/** Sends deliveries. */
export interface Sender {
  /**
   * Makes one attempt. Never throws for what the endpoint does.
   *
   * @param now Unix milliseconds, for the signature's timestamp
   * @param signal gives the attempt up
   */
  send(delivery: Delivery, now: number, signal: AbortSignal): Promise<AttemptOutcome>;
  /** Closes idle connections. */
  close(): void;
}

/** Connections to one endpoint, and how many of all are too many to keep idle ones. */
const SOCKETS_PER_ENDPOINT = 64;
const SOCKETS = 2_048;
const IDLE_SOCKET_MS = 15_000;

/** Bytes of an answer that are read, and of those, bytes that are kept for the delivery log. */
const READ_CAP = 65_536;
const KEEP_CAP = 2_048;

const USER_AGENT = "Stablecoin-Payments-Webhooks/1";

/** Resolves names as the system does; tests put another in its place. */
export type Resolve = typeof systemLookup;

/** What {@linkcode createSender} needs. */
export interface SenderOptions {
  readonly rules: UrlRules;
  readonly resolve?: Resolve;
  /** Whether the runtime permits a connection to an address; default: it is not asked. */
  readonly mayConnect?: (address: string) => boolean;
  /** Certificates that are trusted instead of the public ones, PEM; for tests. */
  readonly trusted?: string;
}

/** A sender with its own kept-alive connections. */
export function createSender(options: SenderOptions): Sender {
  const { rules } = options;
  const mayConnect = options.mayConnect ?? (() => true);
  const lookup = guardedLookup(rules, options.resolve ?? systemLookup, mayConnect);
  const settings = {
    keepAlive: true,
    maxSockets: SOCKETS_PER_ENDPOINT,
    maxFreeSockets: SOCKETS_PER_ENDPOINT,
    timeout: IDLE_SOCKET_MS,
  };
  const plain = new http.Agent(settings);
  // null, not left out: where NODE_EXTRA_CA_CERTS is set, Deno would read the system's certificates
  // for each connection and fail without a permission that cannot be given by name
  const secureSettings: https.AgentOptions = { ...settings };
  Object.assign(secureSettings, { ca: options.trusted ?? null });
  const secure = new https.Agent(secureSettings);
  const sockets = new WeakSet<Socket>();
  let open = 0;

  /** Idle connections make room: no request waits for those that others keep. */
  function count(socket: Socket): void {
    if (sockets.has(socket)) return;
    sockets.add(socket);
    open++;
    socket.once("close", () => open--);
    if (open < SOCKETS) return;
    for (const agent of [plain, secure]) {
      for (const idle of Object.values(agent.freeSockets)) {
        for (const one of idle ?? []) one.destroy();
      }
    }
  }

  function request(url: URL, delivery: Delivery, now: number): http.ClientRequest {
    const body = new TextEncoder().encode(delivery.body);
    const signed = signedHeaders(delivery.secrets, {
      eventId: delivery.eventId,
      type: delivery.type,
      timestamp: Math.floor(now / 1_000),
      body: delivery.body,
    });
    const isSecure = url.protocol === "https:";
    const outgoing = (isSecure ? https : http).request(url, {
      method: "POST",
      agent: isSecure ? secure : plain,
      lookup,
      headers: {
        "Content-Type": "application/json",
        "Content-Length": body.byteLength,
        "User-Agent": USER_AGENT,
        "Accept": "application/json",
        ...signed,
      },
    });
    outgoing.on("socket", count);
    outgoing.end(body);
    return outgoing;
  }

  return {
    send(delivery, now, signal): Promise<AttemptOutcome> {
      const started = performance.now();
      const elapsed = () => Math.round(performance.now() - started);
      const check = checkUrl(delivery.url, rules);
      if (check.kind === "refused") {
        return Promise.resolve({
          category: "refused_url",
          reason: check.reason,
          durationMs: elapsed(),
        });
      }
      if (signal.aborted) return Promise.resolve({ category: "stopped", durationMs: elapsed() });
      const literal = addressLiteral(check.url);
      if (literal !== null && !mayConnect(literal)) {
        return Promise.resolve({
          category: "refused_url",
          reason: "not_public",
          durationMs: elapsed(),
        });
      }
      return conclude(() => request(check.url, delivery, now), delivery.timeoutMs, signal, elapsed);
    },
    close(): void {
      plain.destroy();
      secure.destroy();
    },
  };
}

/**
 * Waits for the verdict on one request; whatever comes first decides. A kept connection that the
 * endpoint closed while it was idle is no failure of the endpoint: the request goes out once more,
 * over a new one.
 */
function conclude(
  begin: () => http.ClientRequest,
  timeoutMs: number,
  signal: AbortSignal,
  elapsed: () => number,
): Promise<AttemptOutcome> {
  return new Promise((resolve) => {
    let concluded = false;
    let outgoing: http.ClientRequest;
    const finish = (outcome: AttemptOutcome) => {
      if (concluded) return;
      concluded = true;
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      // An answer that was read to its end leaves its connection to the next delivery.
      if (outcome.category !== "acknowledged" && outcome.category !== "not_acknowledged") {
        outgoing.destroy();
      }
      resolve(outcome);
    };
    const stop = () => finish({ category: "stopped", durationMs: elapsed() });
    const attempt = (isAgain: boolean) => {
      let answered = false;
      const mine = outgoing = begin();
      mine.on("error", (error: Error & { code?: string }) => {
        if (error instanceof AddressRefused) {
          finish({ category: "refused_url", reason: error.reason, durationMs: elapsed() });
        } else if (mine.reusedSocket && !answered && !isAgain && !concluded) {
          attempt(true);
        } else {
          finish({ category: "network", code: error.code ?? error.name, durationMs: elapsed() });
        }
      });
      mine.on("response", (response) => {
        answered = true;
        readAnswer(response, elapsed, finish);
      });
    };
    const timer = setTimeout(
      () => finish({ category: "timeout", durationMs: elapsed() }),
      timeoutMs,
    );
    signal.addEventListener("abort", stop);
    attempt(false);
  });
}

function readAnswer(
  response: http.IncomingMessage,
  elapsed: () => number,
  finish: (outcome: AttemptOutcome) => void,
): void {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const status = response.statusCode ?? 0;
  const told = () => {
    const bytes = join(chunks, size);
    return { status, answer: printable(bytes.subarray(0, KEEP_CAP)), durationMs: elapsed() };
  };
  response.on("data", (chunk: Uint8Array) => {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size > READ_CAP) finish({ category: "answer_too_long", ...told() });
  });
  response.on("end", () => {
    if (!response.complete) {
      finish({ category: "network", code: "ECONNRESET", durationMs: elapsed() });
    } else if (status < 200 || status > 299) {
      finish({ category: "bad_status", ...told() });
    } else if (isAcknowledgement(new TextDecoder().decode(join(chunks, size)))) {
      finish({ category: "acknowledged", ...told() });
    } else {
      finish({ category: "not_acknowledged", ...told() });
    }
  });
  response.on("error", (error: Error & { code?: string }) => {
    finish({ category: "network", code: error.code ?? error.name, durationMs: elapsed() });
  });
}

function join(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const [first] = chunks;
  if (chunks.length === 1 && first !== undefined) return first;
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return whole;
}

/** PostgreSQL stores no NUL in text. */
function printable(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).replaceAll("\0", "\u{fffd}");
}

/** A name resolved to an address that is not called. */
class AddressRefused extends Error {
  constructor(readonly reason: UrlRefusal) {
    super("Cannot call a webhook as its host resolves to an address that is not called");
    this.name = "AddressRefused";
  }
}

/**
 * Resolves a name once, judges every address it has, and gives the connection exactly those that
 * can be called.
 */
function guardedLookup(
  rules: UrlRules,
  resolve: Resolve,
  mayConnect: (address: string) => boolean,
): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, [], 0);
      if (addresses.length === 0 || addresses.some((a) => !isAllowedAddress(a.address, rules))) {
        return callback(new AddressRefused("not_public"), [], 0);
      }
      const reachable = addresses.filter(({ address }) => isReachable(address));
      const [first] = reachable;
      if (first === undefined) return callback(new AddressRefused("only_ipv6"), [], 0);
      if (!reachable.every(({ address }) => mayConnect(address))) {
        return callback(new AddressRefused("not_public"), [], 0);
      }
      if (options.all === true) callback(null, reachable);
      else callback(null, first.address, first.family);
    });
  };
}
