/**
 * One node over HTTP: a POST, a bounded answer, and failures sorted by category. It neither retries nor
 * chooses; a pool does that for reads, and broadcasts are never retried.
 *
 * @module
 */

import { ChainUnavailable } from "../chain.ts";
import ipaddr from "ipaddr.js";
import { CallMeter } from "./call_meter.ts";
import { CallPace } from "./call_pace.ts";
import { CallCoolDowns } from "./call_cool_downs.ts";
import { Deadline } from "./deadline.ts";
import { CallFailed, OverlongAnswer, Suspended } from "./node_failures.ts";
import { type LongBody, readBody } from "./read_body.ts";
import { type Suspension, wordsOf } from "./refusal_texts.ts";

/** Time for which a call that a node does not know is not asked for. */
const UNKNOWN_MS = 10 * 60 * 1000;

/** Public providers answer 15 calls per second and suspend a client that asks more; others use the same quota. */
const PUBLIC_CALLS_PER_SECOND = 12;

/** Address and bounds of a node. */
export interface NodeOptions {
  /** Base URL, credentials, path and query allowed, for example `https://api.trongrid.io`. */
  readonly url: string;
  /** Header with a key for the provider; never sent over plain HTTP to another machine. */
  readonly apiKey?: { readonly header: string; readonly value: string } | undefined;
  /** Bound of one request, milliseconds. */
  readonly requestTimeoutMs: number;
  /** Calls per day (UTC) that its provider allows; without it nothing bounds it. */
  readonly dailyCalls?: number | undefined;
  /** Calls per second at most, 0 without a bound whatever it says; default 12 unless its network is private. */
  readonly callsPerSecond?: number | undefined;
  /** Reads a suspension from a body, whatever its status, in the words of its chain; default: there are none. */
  readonly suspensionIn?: ((body: string) => Suspension | null) | undefined;
  /** True for the name of a call that reads blocks, which come in crowds; default: none does. */
  readonly readsBlocks?: ((name: string) => boolean) | undefined;
}

/** Content of a request, where its path does not say it. */
export interface RequestContent {
  /** Name of what is called; default the path. */
  readonly name?: string;
  /** Calls that it carries, each of which counts with the node's provider; default 1. */
  readonly calls?: number;
  /** Bytes of its answer at most; default those of an answer of a few values. */
  readonly mostBytes?: number | undefined;
  /** Takes an answer that is too long for one text; absent: it has none. */
  readonly long?: LongAnswer | undefined;
}

/** An answer that may be long, and the time that it has. */
export interface LongAnswer extends LongBody {
  /** So many times the usual bound of a request it has until it proves long, and from then on between two pieces. */
  readonly timeFactor: number;
  /** Bound of reading it from then on, milliseconds, as long as it keeps coming. */
  readonly wholeMs: number;
  /** True once it has proved long. */
  readonly hasBegun: boolean;
}

/** An answer as it came. */
export interface NodeAnswer {
  readonly status: number;
  readonly retryAfterMs: number | null;
  readonly text: string;
}

/** True if the host is this machine. */
function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
}

/** True if the host is this machine or on a private network, where calls are not counted. */
export function isPrivate(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (ipaddr.isValid(host)) return ipaddr.parse(host).range() !== "unicast";
  return !host.includes(".") || /\.(local|localhost|internal|lan|home\.arpa)$/.test(host);
}

function paceOf({ callsPerSecond }: NodeOptions, hostname: string): CallPace | null {
  const most = callsPerSecond ?? (isPrivate(hostname) ? 0 : PUBLIC_CALLS_PER_SECOND);
  return most === 0 ? null : new CallPace(most);
}

/** The header's seconds as milliseconds; dates and nonsense count as absent. */
function retryAfterMs(response: Response): number | null {
  const seconds = Number(response.headers.get("retry-after") ?? "");
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : null;
}

/** Providers take keys as a part of the path; shorter parts are names such as `v3` and `rpc`. */
const SHORTEST_SECRET = 8;

/** Text without escapes; as it is where they are malformed. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A part of a host's name that is a key and no word: some providers take it there. */
const KEY_IN_HOST = /^(?=[a-z-]*\d)(?=[\d-]*[a-z])[a-z\d]{20,}$/i;
/** Characters of such a part that are shown, so that nodes can be told from each other. */
const SHOWN = 4;

function keysInHost({ hostname }: URL): readonly string[] {
  return hostname.split(".").filter((part) => KEY_IN_HOST.test(part));
}

/** Host and port of a URL, for logs and metrics: a part that is a key is shortened. */
export function labelOf(url: URL): string {
  return keysInHost(url).reduce(
    (left, key) => left.replace(key, `${key.slice(0, SHOWN)}...`),
    url.host,
  );
}

/** Secrets that a node is sent and repeats: credentials, and parts of the URL that may be keys; longest first. */
function secretsOf({ url: text, apiKey }: NodeOptions): readonly string[] {
  const url = new URL(text);
  const { username, password } = url;
  const parts = [...url.pathname.split("/"), ...url.searchParams.values(), ...keysInHost(url)]
    .filter((part) => part.length >= SHORTEST_SECRET);
  const secrets = [...parts, username, password].flatMap((part) => [part, unescaped(part)]);
  if (username !== "" || password !== "") secrets.push(basicOf(url));
  if (apiKey !== undefined) secrets.push(apiKey.value);
  return [...new Set(secrets)].filter((secret) => secret !== "")
    .sort((one, other) => other.length - one.length);
}

/** User and password as they are sent. */
function basicOf({ username, password }: URL): string {
  return btoa(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
}

/** Text of a connection's failure. It names the whole URL, which may hold a secret. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown error";
  return error.message.replaceAll(/\S*:\/\/\S*/g, "...").slice(0, 200);
}

/** A node of a network. */
export class ChainNode {
  /** Host and port: a path or credentials in the URL may be secret, so they are never shown. */
  readonly label: string;
  /** Counts every request, broadcasts among them. */
  readonly meter: CallMeter;
  /** Calls that it could not answer and is not asked now. */
  readonly coolDowns = new CallCoolDowns();
  #pace: CallPace | null;
  #suspendedUntil = 0;
  /** Time until which a call counts as unknown to this node. */
  readonly #unknownUntil = new Map<string, number>();
  readonly #base: string;
  /** With its question mark: some providers take a key there. */
  readonly #query: string;
  readonly #headers: Headers;
  readonly #requestTimeoutMs: number;
  readonly #options: NodeOptions;
  readonly #secrets: readonly string[];

  /** @throws {TypeError} when the URL is malformed or not http(s) */
  constructor(options: NodeOptions) {
    if (!URL.canParse(options.url)) {
      throw new TypeError("Cannot use a node as its URL is malformed (value withheld)");
    }
    const url = new URL(options.url);
    if (url.protocol !== "http:" && url.protocol !== "https:") {
      throw new TypeError(`Cannot use a node as its URL is not http or https: ${url.protocol}`);
    }
    this.#options = options;
    this.#secrets = secretsOf(options);
    this.label = labelOf(url);
    this.meter = new CallMeter(options.dailyCalls ?? null);
    this.#pace = paceOf(options, url.hostname);
    this.#headers = new Headers({ "content-type": "application/json" });
    if (url.username !== "" || url.password !== "") {
      this.#headers.set("authorization", `Basic ${basicOf(url)}`);
      url.username = "";
      url.password = "";
    }
    const { apiKey } = options;
    if (apiKey !== undefined && (url.protocol === "https:" || isLoopback(url.hostname))) {
      this.#headers.set(apiKey.header, apiKey.value);
    }
    this.#query = url.search;
    url.search = "";
    url.hash = "";
    this.#base = url.href.replace(/\/+$/, "");
    this.#requestTimeoutMs = options.requestTimeoutMs;
  }

  /** A text without the parts of the node's URL and the key that may be secret: nodes repeat what they were asked. */
  masked(text: string): string {
    return this.#secrets.reduce((left, secret) => left.replaceAll(secret, "..."), text);
  }

  /** The node's own words, bounded and harmless, for a log line or an operator. */
  wordsOf(body: string): string {
    return wordsOf(body, (text) => this.masked(text));
  }

  /** Calls per second that it is sent at most now; null without a bound. */
  get callsPerSecond(): number | null {
    return this.#pace?.perSecond ?? null;
  }

  /** True if a call of it would be sent at once. */
  get isFree(): boolean {
    return this.#pace?.isFree ?? true;
  }

  /** For how much longer it answers nothing, as it said; milliseconds. */
  get suspendedMs(): number {
    return Math.max(0, Math.ceil(this.#suspendedUntil - performance.now()));
  }

  /**
   * Leaves the node alone, and asks it less from then on, unless it was said that nothing bounds it.
   *
   * @param perSecond how many calls per second would have been answered, where it said so
   */
  suspend(ms: number, perSecond: number | null): void {
    // calls that were under way together are refused together
    if (this.suspendedMs === 0 && this.#options.callsPerSecond !== 0) {
      if (this.#pace === null) this.#pace = CallPace.learnt(perSecond);
      else this.#pace.slowDown(perSecond);
    }
    this.#suspendedUntil = Math.max(this.#suspendedUntil, performance.now() + ms);
  }

  /**
   * Waits until the node may be asked.
   *
   * @throws {Suspended} while it answers nothing
   * @throws {NotAsked} when the caller gives up before
   */
  async turn(name: string, signal?: AbortSignal, calls = 1): Promise<void> {
    this.#requireAwake();
    if (this.#pace === null) return;
    await this.#pace.turn(this.#options.readsBlocks?.(name) ?? false, signal, calls);
    this.#requireAwake();
  }

  #requireAwake(): void {
    const ms = this.suspendedMs;
    if (ms > 0) throw new Suspended(`Cannot ask a node as it is suspended: ${this.label}`, ms);
  }

  /** Marks a call that the node does not know; asked again after a while, it may be updated. */
  markUnknown(name: string): void {
    this.#unknownUntil.set(name, performance.now() + UNKNOWN_MS);
  }

  /** True if the node lately did not know a call. */
  isUnknown(name: string): boolean {
    return (this.#unknownUntil.get(name) ?? 0) > performance.now();
  }

  /**
   * Sends one POST.
   *
   * @param path for example `/wallet/getblockbynum`
   * @param body JSON text
   * @param content of the request, for counts, turns and failures
   * @throws {Suspended} when it was not sent, as the node answers nothing now
   * @throws {NotAsked} when it was not sent, as its turn did not come in time
   * @throws {OverlongAnswer} when its answer is longer than any true one
   * @throws {ChainUnavailable} `timeout` or `network`; then nothing is known of what the node did
   */
  async post(
    path: string,
    body: string,
    signal?: AbortSignal,
    { name = path, calls = 1, mostBytes, long }: RequestContent = {},
  ): Promise<NodeAnswer> {
    await this.turn(name, signal, calls);
    const place = name === path ? this.label + path : `${this.label} ${name}`;
    const timeoutMs = this.#requestTimeoutMs * (long?.timeFactor ?? 1);
    using deadline = new Deadline(timeoutMs);
    const bound = deadline.with(signal);
    const wholeMs = long?.wholeMs ?? timeoutMs;
    /** Time until which a long answer may come, as long as it does not pause. */
    let until: number | null = null;
    this.meter.count(calls);
    try {
      const response = await fetch(this.#base + path + this.#query, {
        method: "POST",
        headers: this.#headers,
        body,
        redirect: "manual",
        signal: bound,
      });
      const text = await readBody(response, place, {
        signal: bound,
        mostBytes,
        long,
        onLong: (is) => {
          const now = performance.now();
          if (is === "coming") until ??= now + wholeMs;
          deadline.restart(until === null ? wholeMs : Math.min(timeoutMs, until - now));
        },
      });
      const suspension = this.#options.suspensionIn?.(text);
      if (suspension) this.suspend(suspension.ms, suspension.perSecond);
      return { status: response.status, retryAfterMs: retryAfterMs(response), text };
    } catch (error) {
      if (error instanceof OverlongAnswer) throw error;
      if (error instanceof ChainUnavailable) {
        throw new CallFailed(error.category, error.message, `${name} ${body}`, false);
      }
      const isLong = long?.hasBegun === true;
      const reason = !bound.aborted
        ? `the connection failed (${this.masked(reasonOf(error))})`
        : !deadline.isOver
        ? "the caller gave up"
        : isLong
        ? "its long answer took too much time"
        : `${timeoutMs} ms passed`;
      const category = bound.aborted ? "timeout" : "network";
      const message = `Cannot ask a node as ${reason}: ${place}`;
      // a node that was sending an answer is not to blame for its length
      if (isLong) throw new CallFailed(category, message, `${name} ${body}`, false);
      throw new ChainUnavailable(category, message);
    }
  }
}
