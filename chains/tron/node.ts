/**
 * One TRON full node over HTTP: a POST, a bounded answer, and failures sorted by category. It
 * neither retries nor chooses; that is for {@linkcode NodePool} (reads) or nobody (broadcasts).
 *
 * @module
 */

import { ChainUnavailable } from "../chain.ts";
import { CallMeter } from "./call_meter.ts";
import { Deadline } from "./deadline.ts";
import { readBody } from "./read_body.ts";

/** How long a path that a node does not know is not asked for. */
const UNKNOWN_PATH_MS = 10 * 60 * 1000;

/** Where and how to reach a node. */
export interface NodeOptions {
  /** Base URL, credentials and path allowed, for example `https://api.trongrid.io`. */
  readonly url: string;
  /** Sent as `TRON-PRO-API-KEY`, never over plain HTTP to another machine. */
  readonly apiKey?: string;
  /** Bound of one request, milliseconds. */
  readonly requestTimeoutMs: number;
  /** What its provider allows per day (UTC); without it nothing bounds it. */
  readonly dailyCalls?: number;
}

/** An answer as it came. */
export interface NodeAnswer {
  readonly status: number;
  readonly retryAfterMs: number | null;
  readonly text: string;
}

/** Whether the host is this machine. */
function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
}

/** The header's seconds as milliseconds; dates and nonsense count as absent. */
function retryAfterMs(response: Response): number | null {
  const seconds = Number(response.headers.get("retry-after") ?? "");
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : null;
}

/** Why a connection failed. Such a text names the whole URL, which may hold a secret. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown error";
  return error.message.replaceAll(/\S*:\/\/\S*/g, "...").slice(0, 200);
}

/** A node of a TRON network. */
export class TronNode {
  /** Host and port: a path or credentials in the URL may be secret, so they are never shown. */
  readonly label: string;
  /** Counts every request, broadcasts among them. */
  readonly meter: CallMeter;
  /** Until when a path counts as unknown to this node. */
  readonly #unknownUntil = new Map<string, number>();
  readonly #base: string;
  readonly #headers: Headers;
  readonly #requestTimeoutMs: number;
  readonly #options: NodeOptions;

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
    this.label = url.host;
    this.meter = new CallMeter(options.dailyCalls ?? null);
    this.#headers = new Headers({ "content-type": "application/json" });
    if (url.username !== "" || url.password !== "") {
      const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
      this.#headers.set("authorization", `Basic ${btoa(pair)}`);
      url.username = "";
      url.password = "";
    }
    if (options.apiKey !== undefined && (url.protocol === "https:" || isLoopback(url.hostname))) {
      this.#headers.set("tron-pro-api-key", options.apiKey);
    }
    url.search = "";
    url.hash = "";
    this.#base = url.href.replace(/\/+$/, "");
    this.#requestTimeoutMs = options.requestTimeoutMs;
  }

  /** What another thread of this service needs to ask the same node; never shown, as it holds secrets. */
  get options(): NodeOptions {
    return this.#options;
  }

  /** Notes that the node does not know a path; asked again after a while, it may be updated. */
  markUnknown(path: string): void {
    this.#unknownUntil.set(path, performance.now() + UNKNOWN_PATH_MS);
  }

  /** Whether the node lately did not know a path. */
  isUnknown(path: string): boolean {
    return (this.#unknownUntil.get(path) ?? 0) > performance.now();
  }

  /**
   * Sends one POST.
   *
   * @param path for example `/wallet/getblockbynum`
   * @param body JSON text
   * @throws {ChainUnavailable} `timeout` or `network`; then nothing is known of what the node did
   */
  async post(path: string, body: string, signal?: AbortSignal): Promise<NodeAnswer> {
    using deadline = new Deadline(this.#requestTimeoutMs);
    const bound = deadline.with(signal);
    this.meter.count();
    try {
      const response = await fetch(this.#base + path, {
        method: "POST",
        headers: this.#headers,
        body,
        redirect: "manual",
        signal: bound,
      });
      return {
        status: response.status,
        retryAfterMs: retryAfterMs(response),
        text: await readBody(response, this.label + path),
      };
    } catch (error) {
      if (error instanceof ChainUnavailable) throw error;
      if (bound.aborted) {
        const who = deadline.isOver ? `${this.#requestTimeoutMs} ms passed` : "the caller gave up";
        throw new ChainUnavailable("timeout", `Cannot ask a node as ${who}: ${this.label}${path}`);
      }
      throw new ChainUnavailable(
        "network",
        `Cannot ask a node as the connection failed (${reasonOf(error)}): ${this.label}${path}`,
      );
    }
  }
}
