/**
 * One connection of a pool, as `npm:postgres` is given it: it follows the protocol in both
 * directions, whatever carries it (TCP, TLS, a Unix socket), and so it knows whether an answer is
 * owed. A server whose machine is gone, or a firewall that has forgotten the connection, sends no
 * end: without this a query would wait until the system gives up, a quarter of an hour or longer.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { nextTick } from "node:process";
import { setImmediate } from "node:timers";
import { classifyDatabaseError, connectionFault } from "./database_errors.ts";
import type { Host } from "./database_url.ts";
import {
  fieldsOf,
  firstColumnOf,
  FrameReader,
  MESSAGE,
  NO_TRANSACTION,
  parameterOf,
  simpleQuery,
  transactionStateOf,
} from "./frames.ts";
import type { PrimaryFinder } from "./primary_finder.ts";
import { type ReadPace, UNPACED_BYTES } from "./read_pace.ts";

/** Settings of one {@linkcode DatabaseConnection}. */
export interface ConnectionTerms {
  /** Connects to a server that is fit to be used. */
  open(signal: AbortSignal): Promise<{ readonly raw: Socket; readonly place: Host }>;
  /** Milliseconds for which the server may be silent while an answer is owed; null: for ever. */
  readonly silenceMs: number | null;
  /** Asked before the first query of a session; sets up the session as well. */
  readonly preparation: string;
  /** Judges the answer to the preparation: why the session must not be used, or null. */
  judge(answer: string): Error | null;
  /**
   * True where every statement is a transaction of its own. One that leaves a transaction open is
   * then taken for a lost connection: nothing that was sent over it would ever be committed.
   */
  readonly autocommit: boolean;
  /** Knows which of several servers is the primary; null where there is one server only. */
  readonly replaced: Pick<PrimaryFinder, "isReplaced" | "doubt"> | null;
  /** Pace at which large answers are read; null: as fast as they come. */
  readonly pace: ReadPace | null;
  /** Called at each change: whether an answer is owed, and at the end. */
  changed(connection: DatabaseConnection, state: "idle" | "busy" | "gone"): void;
}

/** Silence from which on it is asked whether the server was replaced, milliseconds. */
const LONG_SILENCE_MS = 1_000;
/** Bound of an orderly end, milliseconds. */
const GOODBYE_MS = 2_000;
/** PostgreSQL's file that waits for synchronous standbys; in no language but its own. */
const STANDBY_WAIT = "syncrep.c";
/** CancelRequest, after its length (PostgreSQL manual, chapter "Message Formats"). */
const CANCEL_REQUEST = 80_877_102;
/** Severities of errors that end a session, in no language but the protocol's. */
const ENDING: ReadonlySet<string> = new Set(["FATAL", "PANIC"]);
/**
 * Answers at the beginning of a session that the library goes by: that of the greeting, and that of its
 * own question for the types of arrays.
 */
const SETTING_UP = 2;
/** The transaction is read-only (PostgreSQL manual, appendix A). */
const READ_ONLY = "25006";

/**
 * A connection that fails what was asked over it instead of leaving it unanswered. Of a socket it has what
 * `npm:postgres` uses and no more: as a stream around the socket, which is one already, every byte would
 * pass through two of them.
 */
export class DatabaseConnection extends EventEmitter {
  /** Read by `npm:postgres` for its messages. */
  readonly host: string;
  readonly port: number;
  readonly #terms: ConnectionTerms;
  readonly #opening = new AbortController();
  #raw: Socket | null = null;
  #place: Host | null = null;
  /** Bytes that wait for the connection to be made. */
  readonly #early: Buffer[] = [];
  #phase: "greeting" | "preparing" | "ready" = "greeting";
  #incoming = new FrameReader(() => true);
  readonly #outgoing = new FrameReader(() => false);
  #greeted = false;
  /** Answers owed: for the greeting, and one for each Sync or simple query. */
  #owed = 0;
  /** True while no Sync has followed the last message. */
  #open = false;
  #greetingEnd: Buffer | null = null;
  /** Answers that were handed on since the greeting, up to {@linkcode SETTING_UP}. */
  #settled = 0;
  #answer = "";
  /** Bytes of the answer under way. */
  #answered = 0;
  #waitsForTurn = false;
  #heardAt = performance.now();
  #isBusy = false;
  #isEnding = false;
  #isRetired = false;
  #isDestroyed = false;
  #watch: ReturnType<typeof setInterval> | undefined;

  constructor(terms: ConnectionTerms, named: { readonly host: string; readonly port: number }) {
    super();
    this.#terms = terms;
    this.host = named.host;
    this.port = named.port;
    terms.open(this.#opening.signal).then(
      ({ raw, place }) => this.#take(raw, place),
      (error) => this.#broken(error),
    );
    this.#startWatch();
  }

  /** The event that `npm:postgres` goes by when it ends a connection. */
  get readyState(): "open" | "closed" {
    return this.#isDestroyed ? "closed" : "open";
  }

  /** Sends bytes, once there is a connection. @returns false where `drain` follows when more may be sent */
  write(chunk: Buffer): boolean {
    if (this.#isDestroyed) return false;
    if (this.#isRetired) {
      this.#fail(connectionFault("NOT_WRITABLE", "the server takes no writes any more"));
      return false;
    }
    this.#sent(chunk);
    if (this.#raw !== null) return this.#raw.write(chunk);
    this.#early.push(chunk);
    return true;
  }

  /** Ends the session; one that was not made yet is given up. */
  end(farewell?: Buffer): void {
    if (this.#isDestroyed) return;
    this.#isEnding = true;
    if (this.#raw === null) return this.destroy();
    const raw = this.#raw;
    const late = setTimeout(() => raw.destroy(), GOODBYE_MS);
    raw.once("close", () => clearTimeout(late));
    if (farewell !== undefined) this.write(farewell);
    raw.end();
  }

  /** Breaks the connection off; an error is reported unless it was asked to end. */
  destroy(error: Error | null = null): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    clearInterval(this.#watch);
    this.#opening.abort();
    this.#raw?.on("error", () => {});
    this.#raw?.destroy();
    this.#terms.changed(this, "gone");
    nextTick(() => this.#reportEnd(error));
  }

  /** Ends it where it leads to another server than this one. */
  leaveAllBut(primary: Host): void {
    if (this.#place === null || this.#place === primary) return;
    this.#fail(connectionFault("NOT_WRITABLE", "another server became the primary"));
  }

  #take(raw: Socket, place: Host): void {
    if (this.#isDestroyed) {
      raw.on("error", () => {});
      raw.destroy();
      return;
    }
    this.#raw = raw;
    this.#place = place;
    this.#heardAt = performance.now();
    this.#terms.changed(this, this.#isBusy ? "busy" : "idle");
    raw.on("data", (chunk: Buffer) => this.#received(chunk));
    raw.on("drain", () => this.emit("drain"));
    raw.on("error", (error: Error) => this.#broken(error));
    // what was received with the end is read first
    raw.on("close", () => setImmediate(() => this.#lost()));
    for (const chunk of this.#early.splice(0)) raw.write(chunk);
  }

  #lost(): void {
    if (this.#isEnding) this.destroy();
    else this.#fail(connectionFault("CONNECTION_CLOSED", "the database ended it"));
  }

  /** A stream's own error, of which those of TLS have no code of a connection. */
  #broken(error: Error): void {
    const isCoded = classifyDatabaseError(error) === "connection";
    this.#fail(
      isCoded ? error : connectionFault("CONNECTION_CLOSED", `it broke: ${error.message}`, error),
    );
  }

  #fail(error: Error): void {
    if (this.#isDestroyed) return;
    if (this.#place !== null) this.#terms.replaced?.doubt(this.#place);
    this.destroy(error);
  }

  /** Follows what is asked. */
  #sent(chunk: Buffer): void {
    this.#heardAt = this.#isOwed ? this.#heardAt : performance.now();
    let messages = chunk;
    if (!this.#greeted) {
      this.#greeted = true;
      const length = chunk.readUInt32BE(0);
      if (chunk.readUInt32BE(4) === CANCEL_REQUEST) this.#isEnding = true;
      else this.#owed = 1;
      messages = chunk.subarray(length);
    }
    this.#outgoing.read(messages, (type) => {
      if (type === MESSAGE.sync || type === MESSAGE.query) {
        this.#owed++;
        this.#open = false;
      } else this.#open = type !== MESSAGE.terminate;
    });
    this.#reportBusy();
  }

  get #isOwed(): boolean {
    return this.#owed > 0 || this.#open;
  }

  #reportBusy(): void {
    if (this.#isBusy === this.#isOwed || this.#isDestroyed) return;
    this.#isBusy = this.#isOwed;
    this.#terms.changed(this, this.#isBusy ? "busy" : "idle");
  }

  #received(chunk: Buffer): void {
    this.#heardAt = performance.now();
    this.#answered += chunk.length;
    const parts = this.#incoming.read(chunk, (type) => {
      if (type !== MESSAGE.ready || this.#phase !== "ready") return;
      this.#owed = Math.max(this.#owed - 1, 0);
      this.#open = false;
      this.#answered = 0;
    });
    for (const part of parts) {
      if (this.#isDestroyed) return;
      if (part.kind === "bytes") this.#hand(part.bytes);
      else this.#message(part.type, part.bytes);
    }
    this.#reportBusy();
    if (this.#answered > UNPACED_BYTES) this.#waitForTurn();
  }

  /** Leaves what else arrives to the socket, and so to the server, until it is this one's turn. */
  #waitForTurn(): void {
    const { pace } = this.#terms;
    if (pace === null || this.#waitsForTurn || this.#isDestroyed) return;
    this.#waitsForTurn = true;
    this.#raw?.pause();
    pace.turn().then(() => this.#continue());
  }

  #message(type: number, bytes: Buffer): void {
    if (type === MESSAGE.notice && fieldsOf(bytes).F === STANDBY_WAIT) {
      // the server answers such a commit as done
      this.#fail(connectionFault(
        "COMMIT_NOT_REPLICATED",
        "the wait for the synchronous standby was cancelled; what was committed may be lost yet",
      ));
      return;
    }
    if (type === MESSAGE.error && ENDING.has(fieldsOf(bytes).V ?? "")) {
      // the driver would keep it for an answer that never comes, and fail a later statement with it
      const { C: code = "", M: message = "" } = fieldsOf(bytes);
      this.#fail(
        connectionFault("CONNECTION_CLOSED", `the database ended it: ${message} (${code})`),
      );
      return;
    }
    switch (this.#phase) {
      case "greeting":
        if (type !== MESSAGE.ready) return this.#hand(bytes);
        this.#greetingEnd = bytes;
        this.#phase = "preparing";
        this.#raw?.write(simpleQuery(this.#terms.preparation));
        return;
      case "preparing":
        return this.#prepare(type, bytes);
      case "ready": {
        if (type === MESSAGE.ready) return this.#ready(bytes);
        const isReadOnly = type === MESSAGE.error && fieldsOf(bytes).C === READ_ONLY;
        if (isReadOnly && this.#terms.replaced !== null) this.#isRetired = true;
        return this.#hand(bytes);
      }
    }
  }

  /** The end of an answer, which says whether a transaction is open. */
  #ready(bytes: Buffer): void {
    if (!this.#terms.autocommit || transactionStateOf(bytes) === NO_TRANSACTION) {
      this.#settle();
      return this.#hand(bytes);
    }
    this.#fail(connectionFault("CONNECTION_CLOSED", "a transaction was left open on it"));
  }

  /**
   * Lets the library take in the answers of its setting up. It sends the first statement with the
   * end of the answer about types, and takes the types in some microtasks later; a server that answers
   * at once was heard before, and arrays were written as plain text (postgres 3.4.9, fetchArrayTypes).
   */
  #settle(): void {
    if (this.#settled >= SETTING_UP || this.#isDestroyed) return;
    this.#settled++;
    this.#waitsForTurn = true;
    this.#raw?.pause();
    setImmediate(() => this.#continue());
  }

  #continue(): void {
    this.#waitsForTurn = false;
    this.#heardAt = performance.now();
    this.#raw?.resume();
  }

  /** Reads the answer to the preparation, which the pool does not see. */
  #prepare(type: number, bytes: Buffer): void {
    if (type === MESSAGE.parameterStatus) {
      const [name] = parameterOf(bytes);
      if (name !== "") this.#hand(bytes);
    } else if (type === MESSAGE.dataRow) this.#answer = firstColumnOf(bytes);
    else if (type === MESSAGE.error) {
      const { C: code = "", M: message = "" } = fieldsOf(bytes);
      this.#fail(connectionFault("CONNECTION_CLOSED", `it cannot be set up: ${message} (${code})`));
    } else if (type === MESSAGE.ready) {
      const refusal = this.#terms.judge(this.#answer);
      if (refusal !== null) return this.#fail(refusal);
      this.#phase = "ready";
      this.#incoming = new FrameReader((one) =>
        one === MESSAGE.notice || one === MESSAGE.error || one === MESSAGE.ready
      );
      this.#owed = Math.max(this.#owed - 1, 0);
      this.#settle();
      this.#hand(this.#greetingEnd ?? bytes);
    }
  }

  #hand(bytes: Buffer): void {
    this.emit("data", bytes);
  }

  #startWatch(): void {
    const { silenceMs, replaced } = this.#terms;
    if (silenceMs === null && replaced === null) return;
    const everyMs = Math.min((silenceMs ?? Infinity) / 5, replaced === null ? Infinity : 1_000);
    this.#watch = setInterval(() => {
      if (!this.#isOwed || this.#place === null) return;
      const silentMs = performance.now() - this.#heardAt;
      if (silenceMs !== null && silentMs >= silenceMs) {
        this.#fail(connectionFault("SERVER_SILENT", `the database is silent for ${silenceMs} ms`));
      } else if (replaced !== null && silentMs >= LONG_SILENCE_MS) {
        replaced.isReplaced(this.#place).then((isReplaced) => {
          if (!isReplaced || !this.#isOwed) return;
          this.#fail(connectionFault("NOT_WRITABLE", "another server became the primary"));
        });
      }
    }, everyMs);
  }

  /**
   * Has a lost connection fail what was asked before it is let go of. `npm:postgres` 3.4.9 lets go of
   * a closed socket in the same breath as it fails the query of a transaction; the rollback that
   * follows is then written to nothing, an error that nothing can catch, and the process ends
   * (porsager/postgres#1208). So the failure is reported first, and the end when the rollback was written.
   */
  #reportEnd(error: Error | null): void {
    if (error !== null) this.emit("error", error);
    else if (!this.#isEnding) {
      this.emit("error", connectionFault("CONNECTION_CLOSED", "the database ended it"));
    }
    // the rollback is written by an immediate that is not set yet: it is due before the second one
    setImmediate(() => setImmediate(() => this.emit("close", false)));
  }
}
