/**
 * The connections of one listener: who has how many, what each one is at, and which one has to go.
 *
 * @module
 */

import type { ConnectionBounds } from "./connection_bounds.ts";

/** Reason that a connection was ended or never served. */
export type EndReason =
  /** The first head, the body, the next request or the reading of the answer took too long. */
  | "head"
  | "body"
  | "idle"
  | "send"
  /** It waited, and others needed its place. */
  | "room"
  /** It carried many requests at a time, which only HTTP/2 does. */
  | "streams"
  /** There was no place: every connection of the client, or of all, was being answered. */
  | "refused"
  /** The service stops, and no request of it is being answered. */
  | "stop";

/** Phases of a request, in their order. */
type RequestPhase = "body" | "answer" | "send";

/** A request on a connection. */
export interface Exchange {
  phase: RequestPhase;
  since: number;
}

/** The part of a request that an open connection waits for; `nothing` while a request is answered. */
type Wait = "head" | "body" | "idle" | "nothing";

/** A connection as {@linkcode Connections} knows it. */
export class OpenConnection {
  /** Requests that were begun and not ended: one with HTTP/1.1, several with HTTP/2. */
  readonly exchanges = new Set<Exchange>();
  wait: Wait = "head";
  since: number;

  /**
   * @param client address that it counts for; null: a trusted proxy, which speaks for many
   * @param close ends it at once
   */
  constructor(readonly client: string | null, now: number, readonly close: () => void) {
    this.since = now;
  }
}

type Waiting = Map<string, Set<OpenConnection>>;

/** Stands for trusted proxies where connections are kept by client. */
const PROXIES = "";

/** Clients that are looked at for the one with the most connections. */
const LOOKED_AT = 256;

/**
 * A connection may go for another client's where it has waited for so long, or where its client has
 * more that wait for the same: what is only just on its way is not in the way.
 */
const SLOW_MS = 1_000;
const MANY = 16;
/** By then the head that a client has sent is read, as time that the thread is held does not count. */
const READ_MS = 250;

/**
 * Requests of one connection that are begun and not ended, at most. HTTP/1.1 sends one after the
 * other, of which the end of the last few may be noticed late. HTTP/2, which Deno's server speaks
 * unasked, would let one connection stand for hundreds.
 */
const MOST_AT_ONCE = 16;

/** Counts, bounds and ends the connections of one listener. */
export class Connections {
  readonly #bounds: ConnectionBounds;
  readonly #all = new Set<OpenConnection>();
  readonly #byClient: Waiting = new Map();
  /** By client, each client's in the order in which they began to wait. */
  readonly #waiting: Record<Exclude<Wait, "nothing">, Waiting> = {
    head: new Map(),
    body: new Map(),
    idle: new Map(),
  };
  readonly #ended: Record<EndReason, number> = {
    head: 0,
    body: 0,
    idle: 0,
    send: 0,
    streams: 0,
    room: 0,
    refused: 0,
    stop: 0,
  };
  #addressRefusedAt: number | null = null;

  constructor(bounds: ConnectionBounds) {
    this.#bounds = bounds;
  }

  /** Connections that are open. */
  get open(): number {
    return this.#all.size;
  }

  /** True while a new connection takes the place of another. */
  get isFull(): boolean {
    return this.#all.size >= this.#bounds.total;
  }

  /** Connections at most. */
  get limit(): number {
    return this.#bounds.total;
  }

  /** Connections that were ended from this side, by reason. */
  get ended(): Readonly<Record<EndReason, number>> {
    return this.#ended;
  }

  /** Time of the last refusal as an address had as many connections as one may have; null: never. */
  get addressRefusedAt(): number | null {
    return this.#addressRefusedAt;
  }

  /**
   * Takes a connection in, ending one that waits where there is no place.
   *
   * @param now of a clock that is never set and leaves out what this process was late, milliseconds
   * @returns null: there is no place
   */
  admit(client: string | null, now: number, close: () => void): OpenConnection | null {
    const own = client === null ? undefined : this.#byClient.get(client);
    const isOfOne = own !== undefined && own.size >= this.#bounds.perAddress;
    const isFull = isOfOne
      ? !this.#makeRoom(now, client ?? PROXIES)
      : this.#all.size >= this.#bounds.total && !this.#makeRoom(now);
    if (isFull) {
      this.#ended.refused++;
      if (isOfOne) this.#addressRefusedAt = now;
      return null;
    }
    const connection = new OpenConnection(client, now, close);
    this.#all.add(connection);
    addTo(this.#waiting.head, connection);
    if (client !== null) addTo(this.#byClient, connection);
    return connection;
  }

  /**
   * A request was answered in the turn that brought its head: a refusal. Nothing of it is kept, as a flood
   * consists of these, and its client is at once one that waits. Who takes none of the answers is sent no
   * more of them, and ended as idle.
   */
  answered(connection: OpenConnection, now: number): void {
    if (connection.exchanges.size > 0 || !this.#all.has(connection)) return;
    if (connection.wait !== "nothing") removeFrom(this.#waiting[connection.wait], connection);
    connection.wait = "idle";
    connection.since = now;
    addTo(this.#waiting.idle, connection);
  }

  /** True where one more request would be one of too many at a time on its connection. */
  isCrowded({ exchanges }: OpenConnection): boolean {
    return exchanges.size >= MOST_AT_ONCE;
  }

  /** A request's head is there. Of too many on one connection, the connection is ended. */
  begin(connection: OpenConnection, now: number): Exchange {
    const exchange: Exchange = { phase: "body", since: now };
    connection.exchanges.add(exchange);
    if (connection.exchanges.size > MOST_AT_ONCE && this.#all.has(connection)) {
      this.#close(connection, "streams");
    }
    this.#settle(connection, now);
    return exchange;
  }

  /** A request went on to its next phase. */
  move(connection: OpenConnection, exchange: Exchange, phase: RequestPhase, now: number): void {
    exchange.phase = phase;
    exchange.since = now;
    this.#settle(connection, now);
  }

  /** A request is over: its answer was taken, or its client has gone. */
  end(connection: OpenConnection, exchange: Exchange, now: number): void {
    connection.exchanges.delete(exchange);
    this.#settle(connection, now);
  }

  /** The connection is closed. */
  forget(connection: OpenConnection): void {
    if (!this.#all.delete(connection)) return;
    if (connection.wait !== "nothing") removeFrom(this.#waiting[connection.wait], connection);
    removeFrom(this.#byClient, connection);
  }

  /** Ends what took too long. */
  endOverdue(now: number): void {
    const { headMs, idleMs, bodyMs, sendMs } = this.#bounds;
    for (const connection of this.#all) {
      const { wait, since, exchanges } = connection;
      if (wait === "head" && now - since >= headMs) this.#close(connection, "head");
      else if (wait === "idle" && now - since >= idleMs) this.#close(connection, "idle");
      else if (isLate(exchanges, "body", now - bodyMs)) this.#close(connection, "body");
      else if (isLate(exchanges, "send", now - sendMs)) this.#close(connection, "send");
    }
  }

  /**
   * Ends what the stop of the service does not wait for: what sends no request, and after a while
   * answers that are not taken. What a route still works on is left alone.
   *
   * @param stopping when the stop began
   */
  endForStop(now: number, stopping: number): void {
    for (const connection of this.#all) {
      const { wait, since, exchanges } = connection;
      let [begun, isAnswered] = [Math.max(since, stopping), false];
      for (const exchange of exchanges) {
        if (exchange.phase === "answer") isAnswered = true;
        if (exchange.phase === "send") begun = Math.max(begun, exchange.since);
      }
      if (isAnswered) continue;
      // a client's idle time begins before it took the answer: the server closes what is idle itself
      const isOver = wait === "head" || (wait === "body" && now - since >= SLOW_MS) ||
        (wait !== "body" && now - begun >= this.#bounds.stopMs);
      if (isOver) this.#close(connection, "stop");
    }
  }

  /** Ends the connections that have waited longest, where descriptors ran out. */
  relieve(count: number, now: number): void {
    for (let i = 0; i < count && this.#makeRoom(now); i++);
  }

  #settle(connection: OpenConnection, now: number): void {
    if (!this.#all.has(connection)) return;
    const wait = waitOf(connection);
    if (wait === connection.wait) return;
    if (connection.wait !== "nothing") removeFrom(this.#waiting[connection.wait], connection);
    connection.wait = wait;
    connection.since = now;
    if (wait !== "nothing") addTo(this.#waiting[wait], connection);
  }

  /**
   * Ends the one connection that will be missed least: of those that wait for the same, the oldest
   * of the client that has the most. Many who open a few must not lose them to one who opens many.
   *
   * @param client ends one of this client's
   */
  #makeRoom(now: number, client?: string): boolean {
    for (const wait of ["head", "body", "idle"] as const) {
      const isItsOwn = client !== undefined && wait !== "body";
      const mayGo = ({ since }: OpenConnection, beside: number) =>
        isItsOwn || now - since >= SLOW_MS || beside > MANY;
      // an ordinary client whose many heads lie unread is not taken for one that sends none
      const wasRead = (connection: OpenConnection, beside: number) =>
        now - connection.since >= READ_MS && mayGo(connection, beside);
      const waiting = this.#waiting[wait];
      const candidate = client === undefined
        ? oldestOfLargest(waiting, wasRead) ?? oldestOfLargest(waiting, mayGo)
        : oldest(waiting.get(client), mayGo);
      if (candidate === null) continue;
      this.#close(candidate, "room");
      return true;
    }
    return false;
  }

  #close(connection: OpenConnection, reason: EndReason): void {
    this.#ended[reason]++;
    this.forget(connection);
    connection.close();
  }
}

function addTo(groups: Waiting, connection: OpenConnection): void {
  const client = connection.client ?? PROXIES;
  const group = groups.get(client);
  if (group === undefined) groups.set(client, new Set([connection]));
  else group.add(connection);
}

function removeFrom(groups: Waiting, connection: OpenConnection): void {
  const client = connection.client ?? PROXIES;
  const group = groups.get(client);
  group?.delete(connection);
  if (group?.size === 0) groups.delete(client);
}

/** True for a connection that may go, of so many of its client. */
type MayGo = (connection: OpenConnection, beside: number) => boolean;

function oldest(group: ReadonlySet<OpenConnection> | undefined, mayGo: MayGo) {
  const first = group?.values().next().value;
  return first !== undefined && mayGo(first, group?.size ?? 0) ? first : null;
}

/** Proxies come last: their connections are those of many clients. */
function oldestOfLargest(groups: Waiting, mayGo: MayGo): OpenConnection | null {
  let [found, size, looked]: [OpenConnection | null, number, number] = [null, 0, 0];
  for (const [client, group] of groups) {
    if (client === PROXIES || group.size <= size) continue;
    const candidate = oldest(group, mayGo);
    if (candidate !== null) [found, size] = [candidate, group.size];
    if (++looked >= LOOKED_AT) break;
  }
  return found ?? oldest(groups.get(PROXIES), mayGo);
}

function waitOf({ exchanges }: OpenConnection): Wait {
  if (exchanges.size === 0) return "idle";
  for (const { phase } of exchanges) if (phase !== "body") return "nothing";
  return "body";
}

function isLate(exchanges: ReadonlySet<Exchange>, phase: RequestPhase, since: number): boolean {
  for (const exchange of exchanges) {
    if (exchange.phase === phase && exchange.since <= since) return true;
  }
  return false;
}
