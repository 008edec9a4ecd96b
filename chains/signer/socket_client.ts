/**
 * The signer's port over its unix socket: what the service holds of a signer that is a process of
 * its own. A lost connection is an outage like any other: what was under way rejects, no
 * signature of it has left, and the client connects again until it is closed.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import {
  type RememberedSignature,
  type SignAnswer,
  type Signer,
  SignerUnavailable,
  type SignRequest,
} from "../signer.ts";
import {
  frameOf,
  FrameReader,
  parseResponse,
  RESPONSE_BYTES,
  type SignerStatus,
  type SocketRequest,
  type SocketResponse,
} from "./socket_protocol.ts";

const READ_BYTES = 64 * 1024;
const FIRST_PAUSE_MS = 100;

/** Options of {@linkcode createSocketSigner}. */
export interface SocketSignerOptions {
  /** Path of the signer's socket. */
  readonly path: string;
  /** Digest of the wallet that the service has; a signer with another one is not used. */
  readonly fingerprint: string;
  /** Reason for which the socket's owner must not be used, asked at each connection; null: none. */
  readonly ownerFault?: () => Promise<string | null>;
  /** Bound of every request, milliseconds; default 10,000. */
  readonly timeoutMs?: number;
  /** Time between two questions for the signer's status, milliseconds; default 2,000. */
  readonly pollMs?: number;
  /** The longest pause between two attempts to connect, milliseconds; default 5,000. */
  readonly longestPauseMs?: number;
}

/** The signer's keys by its last status: those of the service's wallet, or of another one. */
export type SignerWallet = "unknown" | "same" | "other";

/** A {@linkcode Signer} in a process of its own. */
export interface SocketSigner extends Required<Signer> {
  /** Reason for which nothing can be signed now, for an operator; `null` while all is well. */
  readonly trouble: string | null;
  /** Whose keys the signer has; what it last said counts while it is away. */
  readonly wallet: SignerWallet;
  /** Hangs up; what is under way rejects. */
  close(): Promise<void>;
}

type Waiter = PromiseWithResolvers<SocketResponse>;

class Client implements SocketSigner {
  readonly #path: string;
  readonly #fingerprint: string;
  readonly #ownerFault: () => Promise<string | null>;
  readonly #timeoutMs: number;
  readonly #pollMs: number;
  readonly #longestPauseMs: number;
  readonly #waiting = new Map<number, Waiter>();
  /** End the pauses before the next attempt or question. */
  readonly #wakers = new Set<() => void>();
  readonly #running: Promise<void>;
  #connection: Deno.UnixConn | null = null;
  #trouble: string | null = "the signer was not reached yet";
  #wallet: SignerWallet = "unknown";
  #isClosed = false;
  #nextId = 1;
  /** Frames are written one after the other: a write may take several steps. */
  #written: Promise<void> = Promise.resolve();

  constructor(options: SocketSignerOptions) {
    this.#path = options.path;
    this.#fingerprint = options.fingerprint;
    this.#ownerFault = options.ownerFault ?? (() => Promise.resolve(null));
    this.#timeoutMs = options.timeoutMs ?? 10_000;
    this.#pollMs = options.pollMs ?? 2_000;
    this.#longestPauseMs = options.longestPauseMs ?? 5_000;
    this.#running = this.#run();
  }

  get trouble(): string | null {
    return this.#trouble;
  }

  get wallet(): SignerWallet {
    return this.#wallet;
  }

  async sign(requests: readonly SignRequest[]): Promise<readonly SignAnswer[]> {
    if (this.#trouble !== null) {
      throw new SignerUnavailable(`Cannot sign as ${this.#trouble}`);
    }
    if (requests.length === 0) return [];
    const response = await this.#ask((id) => ({ id, op: "sign", requests }));
    if ("answers" in response && response.answers.length === requests.length) {
      return response.answers;
    }
    const why = "failed" in response ? response.failed : "the answer is none to the question";
    throw new SignerUnavailable(`Cannot sign as the signer failed: ${why}`);
  }

  async live(outgoingIds: readonly string[]): Promise<readonly RememberedSignature[]> {
    if (outgoingIds.length === 0) return [];
    const response = await this.#ask((id) => ({ id, op: "live", outgoingIds }));
    if ("remembered" in response) return response.remembered;
    const why = "failed" in response ? response.failed : "the answer is none to the question";
    throw new SignerUnavailable(`Cannot tell what was signed as the signer failed: ${why}`);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#lose("the service stops");
    await this.#running;
  }

  /** Connects, listens and asks how it is; from the start until it is closed. */
  async #run(): Promise<void> {
    let pause = FIRST_PAUSE_MS;
    while (!this.#isClosed) {
      try {
        const connection = await Deno.connect({ transport: "unix", path: this.#path });
        const fault = await this.#ownerFault();
        if (fault !== null) {
          connection.close();
          throw new Error(fault);
        }
        await this.#live(connection, () => pause = FIRST_PAUSE_MS);
      } catch (error) {
        if (!this.#isClosed) this.#setTrouble(`the signer cannot be reached: ${textOf(error)}`);
      }
      if (this.#isClosed) break;
      await this.#pause(pause);
      pause = Math.min(pause * 2, this.#longestPauseMs);
    }
  }

  /** One connection from its start to its end, however that comes. */
  async #live(connection: Deno.UnixConn, onWell: () => void): Promise<void> {
    if (this.#isClosed) return connection.close();
    this.#connection = connection;
    const polling = this.#poll(connection, onWell);
    let reason = "it hung up";
    try {
      await this.#listen(connection);
    } catch (error) {
      reason = textOf(error);
    }
    if (this.#connection === connection) this.#lose(`the signer cannot be reached: ${reason}`);
    await polling;
  }

  /** Resolves requests with their answers, until the connection ends. */
  async #listen(connection: Deno.UnixConn): Promise<void> {
    const reader = new FrameReader(RESPONSE_BYTES);
    const buffer = new Uint8Array(READ_BYTES);
    for (;;) {
      const count = await connection.read(buffer);
      if (count === null) return;
      for (const text of reader.push(buffer.subarray(0, count))) {
        const response = parseResponse(text);
        const waiter = this.#waiting.get(response.id);
        this.#waiting.delete(response.id);
        waiter?.resolve(response);
      }
    }
  }

  /** Asks how the signer is for as long as the connection lives. */
  async #poll(connection: Deno.UnixConn, onWell: () => void): Promise<void> {
    while (this.#connection === connection) {
      try {
        const response = await this.#ask((id) => ({ id, op: "status" }));
        // what a connection said before it was lost says nothing about now
        if (this.#connection !== connection) return;
        if (!("status" in response)) throw new Error("it does not say how it is");
        this.#judge(response.status);
        onWell();
      } catch (error) {
        if (this.#connection === connection) {
          this.#lose(`the signer does not answer: ${textOf(error)}`);
        }
        return;
      }
      await this.#pause(this.#pollMs);
    }
  }

  #judge({ walletId, fingerprint, paused, pauseNote, reachesDatabase }: SignerStatus): void {
    this.#wallet = fingerprint === this.#fingerprint ? "same" : "other";
    if (this.#wallet === "other") {
      this.#setTrouble(`the signer has another wallet: ${walletId}`);
    } else if (!reachesDatabase) {
      this.#setTrouble("the signer cannot reach its database");
    } else this.#setTrouble(paused ? pausedText(pauseNote) : null);
  }

  #setTrouble(trouble: string | null): void {
    if (trouble === this.#trouble) return;
    this.#trouble = trouble;
    if (trouble === null) logEvent("signer.open");
    else logEvent("signer.closed", { trouble });
  }

  /** Sends a request and waits for its response. */
  async #ask(request: (id: number) => SocketRequest): Promise<SocketResponse> {
    const connection = this.#connection;
    if (connection === null) throw new SignerUnavailable(`Cannot sign as ${this.#trouble}`);
    const id = this.#nextId++;
    const waiter: Waiter = Promise.withResolvers();
    this.#waiting.set(id, waiter);
    const timer = setTimeout(
      // its late answer must not count, so the connection ends with it
      () => {
        if (this.#connection !== connection) return;
        this.#lose(`the signer did not answer within ${this.#timeoutMs} ms`);
      },
      this.#timeoutMs,
    );
    try {
      this.#write(connection, frameOf(JSON.stringify(request(id))));
      return await waiter.promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  #write(connection: Deno.UnixConn, frame: Uint8Array): void {
    this.#written = this.#written.then(async () => {
      for (let sent = 0; sent < frame.length && this.#connection === connection;) {
        sent += await connection.write(frame.subarray(sent));
      }
    }).catch((error: unknown) => {
      if (this.#connection === connection) {
        this.#lose(`the signer cannot be reached: ${textOf(error)}`);
      }
    });
  }

  /** Ends the connection, if there is one, and rejects what waits for it. */
  #lose(trouble: string): void {
    if (!this.#isClosed) this.#setTrouble(trouble);
    else this.#trouble = trouble;
    const connection = this.#connection;
    this.#connection = null;
    connection?.close();
    for (const waiter of this.#waiting.values()) {
      waiter.reject(new SignerUnavailable(`Cannot sign as ${trouble}`));
    }
    this.#waiting.clear();
    for (const wake of this.#wakers) wake();
  }

  /** Waits; until the connection is lost or all of it is closed at the latest. */
  async #pause(ms: number): Promise<void> {
    if (this.#isClosed) return;
    const over = Promise.withResolvers<void>();
    const timer = setTimeout(over.resolve, ms);
    this.#wakers.add(over.resolve);
    await over.promise;
    clearTimeout(timer);
    this.#wakers.delete(over.resolve);
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Begins to connect to a signer; until it answers, every `sign` rejects as unavailable. */
export function createSocketSigner(options: SocketSignerOptions): SocketSigner {
  return new Client(options);
}

function pausedText(note: string): string {
  return note === "" ? "the signer is paused" : `the signer is paused (${note})`;
}
