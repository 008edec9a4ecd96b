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
import { type AttemptOutcome, outcomeOf, type UntimedOutcome } from "./attempt_outcome.ts";
import { Connections, type Endpoint, type Exchange } from "./connections.ts";
import type { SentType } from "./events.ts";
import { signedHeaders, type SigningSecrets } from "./signature.ts";
import {
  addressLiteral,
  checkUrl,
  isAllowedAddress,
  isReachable,
  type UrlRefusal,
  type UrlRules,
} from "./url_guard.ts";

/** One event with everything that its request needs. */
export interface Delivery {
  /** Connections are not shared between merchants. */
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

/** Endpoints whose URLs are known to be good; more than any node calls within minutes. */
const KNOWN_TARGETS = 10_000;

const NOTHING = new Uint8Array(0);

const USER_AGENT = "Stablecoin-Payments-Webhooks/1";

/** Resolves names as the system does; the sender's worker and tests put another in its place. */
export type Resolve = (
  hostname: string,
  options: LookupAllOptions & {
    /** Merchant whose endpoint is called. */
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

/** Settings of {@linkcode createSender}. */
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

/** A sender that reports outcomes without a promise for each. */
interface DirectSender extends Sender {
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
  const connections = new Connections(
    (endpoint) => open(endpoint, options),
    options.connections,
  );
  const underWay = new Set<() => void>();
  const targets = new Map<string, Target>();

  function targetOf(text: string): Target {
    let target = targets.get(text);
    if (target === undefined) {
      target = judge(text, options);
      // all of it depends on the text alone
      if (targets.size >= KNOWN_TARGETS) targets.clear();
      targets.set(text, target);
    }
    return target;
  }

  const begin: DirectSender["begin"] = (delivery, now, conclude) => {
    const { merchantId, url: text, timeoutMs } = delivery;
    const target = targetOf(text);
    const bytes = target.kind === "allowed" ? requestBytes(target.head, delivery, now) : NOTHING;
    const startedAt = performance.now();
    let exchange: Exchange | null = null;
    const timer = setTimeout(() => finish({ category: "timeout" }), timeoutMs);
    // whatever comes first decides
    const finish = (outcome: UntimedOutcome) => {
      if (!underWay.delete(stop)) return;
      clearTimeout(timer);
      exchange?.giveUp();
      conclude({ ...outcome, durationMs: Math.round(performance.now() - startedAt) });
    };
    const stop = () => finish({ category: "stopped" });
    underWay.add(stop);
    if (target.kind === "refused") {
      queueMicrotask(() => finish({ category: "refused_url", reason: target.reason }));
      return stop;
    }
    const { origin, url } = target;
    exchange = connections.request({ merchantId, origin, url }, bytes, {
      answered(answer) {
        // its connection may serve another request by now
        exchange = null;
        finish(outcomeOf(answer));
      },
      failed(error) {
        exchange = null;
        finish(
          error instanceof AddressRefused
            ? { category: "refused_url", reason: error.reason }
            : { category: "network", code: error.code ?? error.name },
        );
      },
    });
    return stop;
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
      for (const stop of underWay) stop();
      connections.close();
    },
  };
}

/** A URL, judged before anything is sent to it. */
type Target =
  | { readonly kind: "refused"; readonly reason: UrlRefusal }
  | (Omit<Endpoint, "merchantId"> & { readonly kind: "allowed"; readonly head: string });

function judge(text: string, { rules, mayConnect }: SenderOptions): Target {
  const check = checkUrl(text, rules);
  if (check.kind === "refused") return check;
  const { url } = check;
  const literal = addressLiteral(url);
  if (literal !== null && mayConnect?.(literal) === false) {
    return { kind: "refused", reason: "not_public" };
  }
  const head = `POST ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\n` +
    "Content-Type: application/json\r\nAccept: application/json\r\n" +
    `User-Agent: ${USER_AGENT}\r\nConnection: keep-alive\r\n`;
  return { kind: "allowed", origin: url.origin, url, head };
}

/** Characters of an event's id: anything else could end the line that names it. */
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
function open({ url, merchantId }: Endpoint, options: SenderOptions): Socket {
  const isSecure = url.protocol === "https:";
  const literal = addressLiteral(url);
  const host = literal ?? url.hostname;
  const port = url.port === "" ? (isSecure ? 443 : 80) : Number(url.port);
  const lookup = guardedLookup(merchantId, options);
  const plain = { host, port, lookup, noDelay: true, keepAlive: true };
  if (!isSecure) return net.connect(plain);
  // said, as NODE_TLS_REJECT_UNAUTHORIZED would otherwise switch the check of certificates off
  const checked = { rejectUnauthorized: true, ALPNProtocols: ["http/1.1"] };
  const secure: tls.ConnectionOptions = { ...plain, ...checked };
  if (literal === null) secure.servername = host;
  // null, not left out: where NODE_EXTRA_CA_CERTS is set, Deno would read the system's certificates
  // for each connection and fail without a permission that cannot be given by name
  return tls.connect(Object.assign(secure, { ca: options.trusted ?? null }));
}

/** A name resolved to an address that is not called. */
class AddressRefused extends Error {
  override readonly name = "AddressRefused";

  constructor(readonly reason: UrlRefusal) {
    super("Cannot call a webhook as its host resolves to an address that is not called");
  }
}

/**
 * Resolves a name once, judges every address it has, and gives the connection exactly those that
 * can be called.
 */
function guardedLookup(
  merchantId: string,
  { rules, resolve = systemResolve, mayConnect }: SenderOptions,
): LookupFunction {
  return (hostname, options, callback) => {
    const refuse = (reason: UrlRefusal) => callback(new AddressRefused(reason), [], 0);
    resolve(hostname, { ...options, all: true, merchantId }, (error, addresses) => {
      if (error !== null) return callback(error, [], 0);
      if (addresses.length === 0 || addresses.some((a) => !isAllowedAddress(a.address, rules))) {
        return refuse("not_public");
      }
      const reachable = addresses.filter(({ address }) => isReachable(address));
      const [first] = reachable;
      if (first === undefined) return refuse("only_ipv6");
      if (reachable.some(({ address }) => mayConnect?.(address) === false)) {
        return refuse("not_public");
      }
      if (options.all === true) callback(null, reachable);
      else callback(null, first.address, first.family);
    });
  };
}
