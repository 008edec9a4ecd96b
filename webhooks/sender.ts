/**
 * One delivery attempt over HTTP. Connections are opened here and not by fetch because the `lookup`
 * of node:net and node:tls pins a connection to the address that was judged: otherwise the name would
 * be resolved a second time, and a hostile name server would answer something else.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { lookup as systemLookup, type LookupAddress, type LookupAllOptions } from "node:dns";
import net, { type LookupFunction, type Socket } from "node:net";
import tls from "node:tls";
import { isAcknowledgement } from "./acknowledgement.ts";
import type { Answer } from "./answer_parser.ts";
import type { AttemptOutcome } from "./attempt_outcome.ts";
import { Connections, type Endpoint, type Exchange, type Listener } from "./connections.ts";
import { type Deadline, Deadlines } from "./deadlines.ts";
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
  /** Whose it is: connections are not shared between merchants. */
  readonly merchantId: string;
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

/** Bytes of an answer that are kept for the delivery log. */
const KEEP_CAP = 2_048;

/** Endpoints whose URLs are known to be good; more than any node calls within minutes. */
const KNOWN_TARGETS = 10_000;

const USER_AGENT = "Stablecoin-Payments-Webhooks/1";

/** Resolves names as the system does; the sender's worker and tests put another in its place. */
export type Resolve = (
  hostname: string,
  options: LookupAllOptions & {
    /** Whose endpoint it is, where it is called. */
    readonly merchantId?: string;
  },
  callback: (
    error: (Error & { readonly code?: string | undefined }) | null,
    addresses: readonly LookupAddress[],
  ) => void,
) => void;

/** The system's look-up: what `/etc/hosts` and the configured name servers say. */
export const systemResolve: Resolve = (hostname, _options, callback) =>
  systemLookup(hostname, { all: true }, callback);

/** What {@linkcode createSender} needs. */
export interface SenderOptions {
  readonly rules: UrlRules;
  readonly resolve?: Resolve;
  /** True if the runtime permits a connection to an address; default: it is not asked. */
  readonly mayConnect?: (address: string) => boolean;
  /** Certificates that are trusted instead of the public ones, PEM; for tests. */
  readonly trusted?: string;
  /** Connections above which idle ones are closed; default 2,048. */
  readonly connections?: number | undefined;
}

/** A sender that reports outcomes without a promise for each; a thousand a second are many. */
export interface DirectSender extends Sender {
  /**
   * Begins an attempt.
   *
   * @param conclude called once with the outcome, never before this returns
   * @returns gives the attempt up
   */
  begin(delivery: Delivery, now: number, conclude: (outcome: AttemptOutcome) => void): () => void;
}

/** A sender with its own kept-alive connections. */
export function createSender(options: SenderOptions): DirectSender {
  const { rules, trusted = null } = options;
  const mayConnect = options.mayConnect ?? (() => true);
  const lookupFor = guardedLookup(rules, options.resolve ?? systemResolve, mayConnect);
  const connections = new Connections(
    ({ merchantId, url }) => open(url, lookupFor(merchantId), trusted),
    options.connections,
  );
  const deadlines = new Deadlines();
  const attempts = new Set<Attempt>();
  const targets = new Map<string, Target>();

  function targetOf(text: string): Target {
    let target = targets.get(text);
    if (target === undefined) {
      target = judge(text, rules, mayConnect);
      // all of it depends on the text alone
      if (targets.size >= KNOWN_TARGETS) targets.clear();
      targets.set(text, target);
    }
    return target;
  }

  const begin: DirectSender["begin"] = (delivery, now, conclude) => {
    const target = targetOf(delivery.url);
    const attempt = new Attempt((outcome) => {
      attempts.delete(attempt);
      conclude(outcome);
    });
    if (target.kind === "refused") {
      queueMicrotask(() => attempt.finish({ category: "refused_url", reason: target.reason }));
    } else {
      const bytes = requestBytes(target.head, delivery, now);
      const isOver = () => attempt.finish({ category: "timeout" });
      attempt.deadline = deadlines.set(delivery.timeoutMs, isOver);
      const { merchantId } = delivery;
      const { origin, url } = target;
      attempt.exchange = connections.request({ merchantId, origin, url }, bytes, attempt);
    }
    attempts.add(attempt);
    return () => attempt.finish({ category: "stopped" });
  };

  return {
    begin,
    send: (delivery, now, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve({ category: "stopped", durationMs: 0 });
        const giveUp = begin(delivery, now, (outcome) => {
          signal.removeEventListener("abort", giveUp);
          resolve(outcome);
        });
        signal.addEventListener("abort", giveUp);
      }),
    close(): void {
      for (const attempt of attempts) attempt.finish({ category: "stopped" });
      connections.close();
      deadlines.clear();
    },
  };
}

/** What is known of a URL before anything is sent to it. */
type Target =
  | { readonly kind: "refused"; readonly reason: UrlRefusal }
  | (Omit<Endpoint, "merchantId"> & { readonly kind: "allowed"; readonly head: string });

function judge(text: string, rules: UrlRules, mayConnect: (address: string) => boolean): Target {
  const check = checkUrl(text, rules);
  if (check.kind === "refused") return check;
  const { url } = check;
  const literal = addressLiteral(url);
  if (literal !== null && !mayConnect(literal)) return { kind: "refused", reason: "not_public" };
  const head = `POST ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\n` +
    "Content-Type: application/json\r\nAccept: application/json\r\n" +
    `User-Agent: ${USER_AGENT}\r\nConnection: keep-alive\r\n`;
  return { kind: "allowed", origin: url.origin, url, head };
}

/** What an event may be called: anything else could end the line that names it. */
const EVENT_ID = /^[\x21-\x7e]+$/;

function requestBytes(head: string, delivery: Delivery, now: number): Uint8Array {
  const { eventId, type, body } = delivery;
  if (!EVENT_ID.test(eventId)) {
    throw new TypeError(`Cannot send an event as its id is no header: ${JSON.stringify(eventId)}`);
  }
  const timestamp = Math.floor(now / 1_000);
  const signed = signedHeaders(delivery.secrets, { eventId, type, timestamp, body });
  let lines = `${head}Content-Length: ${Buffer.byteLength(body)}\r\n`;
  for (const name in signed) lines += `${name}: ${signed[name]}\r\n`;
  return Buffer.from(`${lines}\r\n${body}`);
}

/** Opens a connection to exactly those addresses that the lookup gives, or to the one in the URL. */
function open(url: URL, lookup: LookupFunction, trusted: string | null): Socket {
  const isSecure = url.protocol === "https:";
  const literal = addressLiteral(url);
  const host = literal ?? url.hostname;
  const port = url.port === "" ? (isSecure ? 443 : 80) : Number(url.port);
  const options = { host, port, lookup, noDelay: true, keepAlive: true };
  if (!isSecure) return net.connect(options);
  // said, as NODE_TLS_REJECT_UNAUTHORIZED would otherwise switch the check of certificates off
  const checked = { rejectUnauthorized: true, ALPNProtocols: ["http/1.1"] };
  const secureOptions: tls.ConnectionOptions = { ...options, ...checked };
  if (literal === null) secureOptions.servername = host;
  // null, not left out: where NODE_EXTRA_CA_CERTS is set, Deno would read the system's certificates
  // for each connection and fail without a permission that cannot be given by name
  Object.assign(secureOptions, { ca: trusted });
  return tls.connect(secureOptions);
}

type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
type Untimed = Without<AttemptOutcome, "durationMs">;

/** Waits for the verdict on one request; whatever comes first decides. */
class Attempt implements Listener {
  deadline: Deadline | null = null;
  exchange: Exchange | null = null;
  readonly #startedAt = performance.now();
  #isOver = false;

  constructor(private readonly conclude: (outcome: AttemptOutcome) => void) {}

  answered(answer: Answer): void {
    // what was answered is over, its connection may serve another by now
    this.exchange = null;
    this.finish(verdict(answer));
  }

  failed(error: Error & { readonly code?: string }): void {
    this.exchange = null;
    this.finish(
      error instanceof AddressRefused
        ? { category: "refused_url", reason: error.reason }
        : { category: "network", code: error.code ?? error.name },
    );
  }

  finish(outcome: Untimed): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.deadline?.clear();
    this.exchange?.giveUp();
    const durationMs = Math.round(performance.now() - this.#startedAt);
    this.conclude({ ...outcome, durationMs });
  }
}

function verdict({ status, body, isTooLong }: Answer): Untimed {
  const text = decoder.decode(body);
  const kept = body.length <= KEEP_CAP ? text : decoder.decode(body.subarray(0, KEEP_CAP));
  // PostgreSQL stores no NUL in text
  const told = { status, answer: kept.replaceAll("\0", "\u{fffd}") };
  if (isTooLong) return { category: "answer_too_long", ...told };
  if (status < 200 || status > 299) return { category: "bad_status", ...told };
  return { category: isAcknowledgement(text) ? "acknowledged" : "not_acknowledged", ...told };
}

const decoder = new TextDecoder();

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
): (merchantId: string) => LookupFunction {
  return (merchantId) => (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true, merchantId }, (error, addresses) => {
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
