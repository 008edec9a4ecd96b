/**
 * The signer's side of its socket. Each connection is answered one request after the other, so that
 * what one peer can keep busy is bounded by the number of connections; a peer that does not keep to
 * the protocol, or to its times, is cut off and harms no other.
 *
 * @module
 */

import type { Signer } from "../signer.ts";
import {
  frameOf,
  FrameReader,
  parseRequest,
  REQUEST_BYTES,
  type SignerStatus,
  type SocketRequest,
  type SocketResponse,
} from "./socket_protocol.ts";
import { LastingFailure } from "./lasting_failure.ts";

/** Answers to a peer's requests. */
export interface SocketHandler extends Required<Signer> {
  status(): Promise<SignerStatus>;
}

/** Bounds of {@linkcode serveSocket}. */
export interface SocketBounds {
  /** Connections at a time. */
  readonly connections: number;
  /** A frame that has begun ends within this long, milliseconds; writing an answer as well. */
  readonly frameMs: number;
  /** A connection without requests is closed after this long, milliseconds. */
  readonly idleMs: number;
}

const BOUNDS: SocketBounds = { connections: 8, frameMs: 5_000, idleMs: 60_000 };
const READ_BYTES = 64 * 1024;

/** Logs of what peers meet again and again, for all of them together. */
class Failures {
  readonly accepting = new LastingFailure("signer.accept_failed", "accepting a connection");
  readonly places = new LastingFailure("signer.peers_full", "taking in a peer");
  readonly connection = new LastingFailure("signer.peer_failed", "a peer's connection");
  readonly pace = new LastingFailure("signer.peer_slow", "waiting for a peer");
  readonly requests = {
    sign: new LastingFailure("signer.request_failed", "signing"),
    live: new LastingFailure("signer.request_failed", "telling what was signed"),
    status: new LastingFailure("signer.request_failed", "telling the signer's status"),
  };
}

export interface SocketServer {
  /** Accepts no more connections, finishes the requests at hand within the bound, and hangs up. */
  close(boundMs: number): Promise<void>;
}

/** Serves each peer that connects, until closed. */
export function serveSocket(
  listener: Deno.UnixListener,
  handler: SocketHandler,
  bounds: SocketBounds = BOUNDS,
): SocketServer {
  const peers = new Set<Peer>();
  const failures = new Failures();
  let isClosing = false;
  const accept = async () => {
    for (;;) {
      let connection;
      try {
        connection = await listener.accept();
        failures.accepting.succeeded();
      } catch (error) {
        if (isClosing) return;
        // out of file descriptors, or a peer gone again: neither ends the service
        failures.accepting.failed(error);
        await new Promise((resolve) => setTimeout(resolve, 100));
        continue;
      }
      if (peers.size >= bounds.connections) {
        const count = peers.size;
        failures.places.failed(`${count} are there already`, { count });
        connection.close();
        continue;
      }
      failures.places.succeeded();
      const peer = new Peer(connection, handler, bounds, failures);
      peers.add(peer);
      peer.done.finally(() => peers.delete(peer));
    }
  };
  const accepting = accept();
  return {
    async close(boundMs) {
      isClosing = true;
      listener.close();
      await accepting;
      let timer: ReturnType<typeof setTimeout> | undefined;
      const bound = new Promise<void>((resolve) => timer = setTimeout(resolve, boundMs));
      await Promise.race([Promise.all([...peers].map((peer) => peer.finish())), bound]);
      clearTimeout(timer);
      for (const peer of peers) peer.cut();
      await Promise.all([...peers].map((peer) => peer.done));
    },
  };
}

/** One connection from its start to its end. */
class Peer {
  readonly done: Promise<void>;
  readonly #connection: Deno.UnixConn;
  readonly #handler: SocketHandler;
  readonly #bounds: SocketBounds;
  readonly #failures: Failures;
  #isBusy = false;
  #isFinishing = false;
  #isCut = false;

  constructor(
    connection: Deno.UnixConn,
    handler: SocketHandler,
    bounds: SocketBounds,
    failures: Failures,
  ) {
    this.#connection = connection;
    this.#handler = handler;
    this.#bounds = bounds;
    this.#failures = failures;
    this.done = this.#run();
  }

  /** Ends after the request at hand. */
  finish(): Promise<void> {
    this.#isFinishing = true;
    if (!this.#isBusy) this.cut();
    return this.done;
  }

  /** Ends now. */
  cut(): void {
    if (this.#isCut) return;
    this.#isCut = true;
    this.#connection.close();
  }

  async #run(): Promise<void> {
    try {
      await this.#serve();
    } catch (error) {
      if (!this.#isCut) this.#failures.connection.failed(error);
    } finally {
      this.cut();
    }
  }

  async #serve(): Promise<void> {
    const reader = new FrameReader(REQUEST_BYTES);
    const buffer = new Uint8Array(READ_BYTES);
    // a frame that trickles in byte by byte has one deadline, not one per byte
    let deadline: number | null = null;
    while (!this.#isFinishing) {
      const now = performance.now();
      if (!reader.isPartial) deadline = null;
      else deadline ??= now + this.#bounds.frameMs;
      const ms = deadline === null ? this.#bounds.idleMs : deadline - now;
      const count = await this.#within(ms, () => this.#connection.read(buffer));
      if (count === null) return;
      for (const text of reader.push(buffer.subarray(0, count))) {
        if (this.#isFinishing) return;
        await this.#answer(parseRequest(text));
      }
    }
  }

  async #answer(request: SocketRequest): Promise<void> {
    this.#isBusy = true;
    try {
      const frame = frameOf(JSON.stringify(await this.#respond(request)));
      await this.#within(this.#bounds.frameMs, async () => {
        for (let sent = 0; sent < frame.length;) {
          sent += await this.#connection.write(frame.subarray(sent));
        }
      });
    } finally {
      this.#isBusy = false;
    }
  }

  async #respond(request: SocketRequest): Promise<SocketResponse> {
    const { id, op } = request;
    const failures = this.#failures.requests[op];
    try {
      const response = await this.#perform(request);
      failures.succeeded();
      return response;
    } catch (error) {
      failures.failed(error);
      return { id, failed: error instanceof Error ? error.message : String(error) };
    }
  }

  async #perform(request: SocketRequest): Promise<SocketResponse> {
    const { id } = request;
    switch (request.op) {
      case "sign":
        return { id, answers: await this.#handler.sign(request.requests) };
      case "live":
        return { id, remembered: await this.#handler.live(request.outgoingIds) };
      case "status":
        return { id, status: await this.#handler.status() };
      default:
        return request satisfies never;
    }
  }

  /** Bounds a wait by ending the connection, which ends every read and write of it. */
  async #within<T>(ms: number, work: () => Promise<T>): Promise<T> {
    const timer = setTimeout(() => {
      this.#failures.pace.failed("it is too slow", {});
      this.cut();
    }, Math.max(0, ms));
    try {
      return await work();
    } finally {
      clearTimeout(timer);
    }
  }
}
