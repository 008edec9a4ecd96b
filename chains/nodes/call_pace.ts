/**
 * Limits the calls that this process sends a node per second, for all callers together.
 *
 * @module
 */

import { isAskedByRequest } from "../call_lane.ts";
import { NotAsked } from "./node_failures.ts";

/** A second as a provider counts it, and a tenth for calls that catch up with each other on their way. */
const WINDOW_MS = 1_100;
/** After so long without a refusal one call per second more is tried again, up to what was configured. */
const RECOVER_MS = 60_000;
/** Calls per second to a node without a limit, once it has refused for too many and named no number. */
const GUESS = 10;

/** The part of a node's calls that requests from outside may take. */
const REQUESTS_SHARE = 1 / 4;

/**
 * Calls that wait for each other. The service's own two lanes get every other turn while both wait;
 * what requests ask gets a turn while neither does.
 */
type OwnLane = "blocks" | "others";
type Lane = OwnLane | "requests";

/** The lane of a call: reading blocks comes in crowds, so that it waits apart from all else. */
function laneOf(readsBlocks: boolean): Lane {
  if (isAskedByRequest()) return "requests";
  return readsBlocks ? "blocks" : "others";
}

interface Waiter {
  /** Calls that it sends in one request. */
  readonly calls: number;
  readonly grant: () => void;
}

/**
 * Never more than so many calls in any second, in turns between lanes, within a lane in order. Calls
 * for requests from outside take a quarter of them at most, and wait for all others.
 */
export class CallPace {
  readonly #waiting: Readonly<Record<Lane, Waiter[]>> = {
    blocks: [],
    others: [],
    requests: [],
  };
  readonly #windowMs: number;
  readonly #now: () => number;
  /** Calls of the present window with their times, oldest first. */
  #sent: { readonly at: number; readonly isForRequest: boolean }[] = [];
  #next: OwnLane = "others";
  #timer: ReturnType<typeof setTimeout> | undefined;
  #allowed: number;
  #slowedAt = -Infinity;

  /**
   * @param most calls per second, at least 1
   * @param options.now monotonic milliseconds
   */
  constructor(
    readonly most: number,
    options: { readonly windowMs?: number; readonly now?: () => number } = {},
  ) {
    this.#allowed = Math.max(1, most);
    this.#windowMs = options.windowMs ?? WINDOW_MS;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Of a node that is not limited and said how much is too much, or `null` that it was. */
  static learnt(perSecond: number | null): CallPace {
    return new CallPace(Math.max(1, (perSecond ?? GUESS + 1) - 1));
  }

  /** Calls per second at present. */
  get perSecond(): number {
    const now = this.#now();
    if (this.#allowed < this.most && now - this.#slowedAt >= RECOVER_MS) {
      this.#allowed++;
      this.#slowedAt = now;
    }
    return this.#allowed;
  }

  /** Calls that wait for their turn. */
  get waiting(): number {
    const { blocks, others, requests } = this.#waiting;
    return blocks.length + others.length + requests.length;
  }

  /** True if a call would be sent at once. */
  get isFree(): boolean {
    if (this.waiting > 0) return false;
    const from = this.#now() - this.#windowMs;
    return this.#sent.filter(({ at }) => at > from).length < this.perSecond;
  }

  /** The node refused: others use the same quota, or it is smaller than was configured. */
  slowDown(perSecond: number | null): void {
    const named = perSecond === null ? Infinity : perSecond - 1;
    this.#allowed = Math.max(1, Math.min(named, Math.floor(this.#allowed * 0.75)));
    this.#slowedAt = this.#now();
  }

  /**
   * Waits until the call may be sent.
   *
   * @param readsBlocks true for one of a crowd that reads blocks
   * @param calls calls that one request carries; each of them counts
   * @throws {NotAsked} when the caller gives up before its turn
   */
  turn(readsBlocks: boolean, signal?: AbortSignal, calls = 1): Promise<void> {
    const lane = laneOf(readsBlocks);
    if (signal?.aborted === true) return Promise.reject(tooLate());
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = () => {
      const place = this.#waiting[lane].indexOf(waiter);
      if (place >= 0) this.#waiting[lane].splice(place, 1);
      reject(tooLate());
    };
    const waiter: Waiter = {
      calls,
      grant: () => {
        signal?.removeEventListener("abort", giveUp);
        resolve();
      },
    };
    signal?.addEventListener("abort", giveUp, { once: true });
    this.#waiting[lane].push(waiter);
    this.#grantAll();
    return promise;
  }

  #grantAll(): void {
    clearTimeout(this.#timer);
    const now = this.#now();
    this.#sent = this.#sent.filter(({ at }) => now - at < this.#windowMs);
    while (this.#sent.length < this.perSecond) {
      const lane = this.#pick();
      const waiter = lane === null ? undefined : this.#waiting[lane][0];
      if (lane === null || waiter === undefined || !this.#hasRoomFor(waiter)) break;
      this.#waiting[lane].shift();
      if (lane !== "requests") this.#next = other(lane);
      for (let i = 0; i < waiter.calls; i++) {
        this.#sent.push({ at: now, isForRequest: lane === "requests" });
      }
      waiter.grant();
    }
    if (this.waiting === 0) return;
    // with fewer allowed than were sent, as many have to leave the window; requests, and calls that go
    // together, are looked at again with each that leaves
    const leaving = this.#sent[Math.max(0, this.#sent.length - this.perSecond)];
    const pause = Math.max(1, Math.ceil((leaving?.at ?? now) + this.#windowMs - now));
    this.#timer = setTimeout(() => this.#grantAll(), pause);
  }

  /** True if all its calls may be sent now; more than are ever allowed at once go by themselves. */
  #hasRoomFor({ calls }: Waiter): boolean {
    return this.#sent.length === 0 || this.#sent.length + calls <= this.perSecond;
  }

  /** The lane whose turn is next; null: none may have one now. */
  #pick(): Lane | null {
    const lane = this.#waiting[this.#next].length > 0 ? this.#next : other(this.#next);
    if (this.#waiting[lane].length > 0) return lane;
    const used = this.#sent.filter(({ isForRequest }) => isForRequest).length;
    const share = Math.max(1, Math.floor(this.perSecond * REQUESTS_SHARE));
    return this.#waiting.requests.length > 0 && used < share ? "requests" : null;
  }
}

function other(lane: OwnLane): OwnLane {
  return lane === "blocks" ? "others" : "blocks";
}

function tooLate(): NotAsked {
  return new NotAsked("Cannot ask a node as its calls per second left no room for it in time");
}
