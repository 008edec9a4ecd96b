/**
 * The signer's side of its socket. Each connection is answered one request after the other, so that
 * what one peer can keep busy is bounded by the number of connections; a peer that does not keep to
 * the protocol, or to its times, is cut off and harms no other.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import type { Signer } from "../signer.ts";
import { frameOf, FrameReader } from "./frames.ts";
import {
  parseRequest,
  REQUEST_BYTES,
  type SignerStatus,
  type SocketRequest,
  type SocketResponse,
} from "./socket_protocol.ts";

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

/** A served socket. */
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
  let isClosing = false;
  const accept = async () => {
    for (;;) {
      let connection;
      try {
        connection = await listener.accept();
      } catch (error) {
        if (isClosing) return;
        // out of file descriptors, or a peer gone again: neither ends the service
        logEvent("signer.accept_failed", { error });
        await new Promise((resolve) => setTimeout(resolve, 100));
        continue;
      }
      if (peers.size >= bounds.connections) {
        logEvent("signer.peers_full", { count: peers.size });
        connection.close();
        continue;
      }
      const peer = new Peer(connection, handler, bounds);
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
  #isBusy = false;
  #isFinishing = false;
  #isCut = false;

  constructor(connection: Deno.UnixConn, handler: SocketHandler, bounds: SocketBounds) {
    this.#connection = connection;
    this.#handler = handler;
    this.#bounds = bounds;
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
      if (!this.#isCut) logEvent("signer.peer_failed", { error });
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
    const { id } = request;
    try {
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
    } catch (error) {
      logEvent("signer.request_failed", { error });
      return { id, failed: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Bounds a wait by ending the connection, which ends every read and write of it. */
  async #within<T>(ms: number, work: () => Promise<T>): Promise<T> {
    const timer = setTimeout(() => {
      logEvent("signer.peer_slow");
      this.cut();
    }, Math.max(0, ms));
    try {
      return await work();
    } finally {
      clearTimeout(timer);
    }
  }
}
