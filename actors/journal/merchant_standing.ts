/**
 * Merchants, and audited commands, that are not decided together with others just now.
 *
 * Paused: nothing is decided for them. One of their rows is locked by another transaction, or the
 * fate of one of their commits is being found out. Their messages wait in their mailboxes, in order,
 * until the pause is over or their senders' time is.
 *
 * Doubtful: a batch with them took as long as a statement may, and one of them is perhaps to blame.
 * Each is decided alone until it passes; their senders need not wait for that.
 *
 * References first: decided with others, but not before their references were read.
 *
 * Audited commands (an administrator's, or a change of a profile): all of them need the head of the
 * audit and the rules of approvals, so what is wrong with one may be wrong for all.
 *
 * @module
 */

import { isAudited } from "../merchant/decide/audit.ts";
import type { Batch } from "./queue.ts";

/** Shortest pause, milliseconds: about as long as another node's commit takes. */
const SHORTEST_MS = 5;
/** Longest pause after a try that kept no other merchant, milliseconds. */
const LONGEST_MS = 5_000;
/** A try that kept others is followed by a pause of so many times that, and grows to 60 s at most. */
const COST_FACTOR = 20;
const LONGEST_COST_MS = 60_000;
/** The first pause after an expensive try is so many times its cost, and those that follow twice as long each. */
const FIRST_COST_FACTOR = 4;
/** After so many milliseconds a pause is shown to the operator. */
const SUSPENDED_MS = 2_000;
/** Milliseconds for which a merchant is remembered after its pause when nothing more was heard of it. */
const FORGET_PAUSE_MS = 60_000;

interface Pause {
  /** Time at which the row was first found locked. */
  readonly since: number;
  readonly until: number;
}

export class PausedMerchants {
  readonly #pauses = new Map<string, Pause>();
  readonly #clock: () => number;

  /** @param clock monotonic milliseconds */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  /** Merchants that are paused, also for the moment that another node's commit takes. */
  get size(): number {
    return this.#pauses.size;
  }

  /** Merchants that have been paused for longer than any commit takes. */
  get suspended(): number {
    const before = this.#clock() - SUSPENDED_MS;
    let count = 0;
    for (const { since } of this.#pauses.values()) if (since < before) count++;
    return count;
  }

  /**
   * Pauses a merchant whose row is locked: for as long again as it has been found so, so that one
   * that another node writes waits milliseconds, and one that stays locked is tried ever more rarely.
   *
   * @param costMs how long the try kept others waiting
   * @returns milliseconds until the pause ends
   */
  pause(merchantId: string, costMs: number): number {
    const now = this.#clock();
    const known = this.#pauses.get(merchantId);
    if (known?.until === Infinity) return Infinity;
    const since = known?.since ?? now;
    const longest = Math.max(LONGEST_MS, costMs * FIRST_COST_FACTOR, 2 * (now - since));
    const byCost = Math.min(costMs * COST_FACTOR, LONGEST_COST_MS, longest);
    const grown = Math.min(Math.max(now - since, SHORTEST_MS), LONGEST_MS);
    const pause = Math.max(byCost, grown);
    this.#pauses.set(merchantId, { since, until: now + pause });
    return pause;
  }

  /** Pauses a merchant until {@linkcode resume}. */
  pauseUntilResumed(merchantId: string): void {
    this.#pauses.set(merchantId, { since: this.#clock(), until: Infinity });
  }

  /** Ends a pause: the merchant's rows could be written. */
  resume(merchantId: string): void {
    this.#pauses.delete(merchantId);
  }

  /** True while nothing of a merchant is taken up. */
  has(merchantId: string): boolean {
    const pause = this.#pauses.get(merchantId);
    return pause !== undefined && pause.until > this.#clock();
  }

  /** Milliseconds until the next pause ends; null where none will by itself. */
  get nextMs(): number | null {
    let next = Infinity;
    const now = this.#clock();
    for (const { until } of this.#pauses.values()) if (until > now) next = Math.min(next, until);
    return next === Infinity ? null : next - now;
  }

  /** Forgets merchants that were not heard of again. */
  tidy(): void {
    const now = this.#clock();
    for (const [merchantId, { until }] of this.#pauses) {
      if (until + FORGET_PAUSE_MS < now) this.#pauses.delete(merchantId);
    }
  }
}

/** A failure that cost so much counts as slow, milliseconds. */
const SLOW_MS = 1_000;
/** After so many slow failures in a row the database is slow for all. */
const STALLED_AFTER = 3;
/** Milliseconds for which a merchant stays in doubt after nothing more was heard of it. */
const FORGET_DOUBT_MS = 600_000;

interface Doubt {
  readonly since: number;
  /** Count of merchants that had passed when it began. */
  readonly passed: number;
}

export class DoubtfulMerchants {
  readonly #doubts = new Map<string, Doubt>();
  readonly #clock: () => number;
  #passed = 0;
  #slowInARow = 0;

  /** @param clock monotonic milliseconds */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  /** True where the last failures were slow and nothing has passed between them: no merchant is to blame. */
  get isStalled(): boolean {
    return this.#slowInARow >= STALLED_AFTER;
  }

  /** True for a merchant that is to be decided alone. */
  has(merchantId: string): boolean {
    return this.#doubts.has(merchantId);
  }

  /** Counts a failure. @returns whether it was slow */
  failed(costMs: number): boolean {
    if (costMs < SLOW_MS) return false;
    this.#slowInARow++;
    return true;
  }

  /** Ends a row of slow failures: the database answers, if not for all. */
  answered(): void {
    this.#slowInARow = 0;
  }

  /** Has merchants decided alone until each has passed. */
  add(merchantIds: Iterable<string>): void {
    const doubt = { since: this.#clock(), passed: this.#passed };
    for (const merchantId of merchantIds) {
      if (!this.#doubts.has(merchantId)) this.#doubts.set(merchantId, doubt);
    }
  }

  /**
   * True where a merchant that was slow alone is to blame: it was in doubt, and others have passed since.
   * While nothing passes, the database may be slow for all.
   */
  isToBlame(merchantId: string): boolean {
    const doubt = this.#doubts.get(merchantId);
    return doubt !== undefined && doubt.passed < this.#passed;
  }

  /** Ends the doubt about a merchant whose messages were decided and written. */
  pass(merchantId: string): void {
    this.#doubts.delete(merchantId);
    this.#passed++;
    this.#slowInARow = 0;
  }

  /** Forgets merchants that were not heard of again. */
  tidy(): void {
    const before = this.#clock() - FORGET_DOUBT_MS;
    for (const [merchantId, { since }] of this.#doubts) {
      if (since < before) this.#doubts.delete(merchantId);
    }
  }
}

/** Milliseconds for which a merchant's references are read first. */
const REFERENCES_FIRST_MS = 600_000;

/**
 * Merchants who asked for a taken reference a while ago, or for a payout that they could not pay: their
 * references are read before they are decided, which costs less than deciding again.
 */
export class ReferencesFirst {
  readonly #until = new Map<string, number>();
  readonly #clock: () => number;

  /** @param clock monotonic milliseconds */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  has(merchantId: string): boolean {
    return this.#until.has(merchantId);
  }

  add(merchantId: string): void {
    this.#until.set(merchantId, this.#clock() + REFERENCES_FIRST_MS);
  }

  /** Forgets merchants whose time is over. */
  tidy(): void {
    const now = this.#clock();
    for (const [merchantId, until] of this.#until) {
      if (until <= now) this.#until.delete(merchantId);
    }
  }
}

/** Time for which audited commands are refused at first, milliseconds; doubling while it goes on. */
const FIRST_AUDIT_MS = 5_000;
const LONGEST_AUDIT_MS = 60_000;
/** A row that is found locked so long after a pause is found anew, milliseconds. */
const ANEW_MS = 10_000;

/**
 * Refuses audited commands for a while after a row that all of them need was found locked: trying each
 * would cost all merchants the wait for it.
 */
export class AuditPause {
  /** Monotonic milliseconds. */
  #lockedAt = -Infinity;
  #pauseMs = FIRST_AUDIT_MS;

  /** Milliseconds since such a row was last found locked. */
  get lockedMs(): number {
    return performance.now() - this.#lockedAt;
  }

  /** Such a row was found locked. */
  begin(): void {
    const goesOn = this.lockedMs < this.#pauseMs + ANEW_MS;
    this.#pauseMs = goesOn ? Math.min(2 * this.#pauseMs, LONGEST_AUDIT_MS) : FIRST_AUDIT_MS;
    this.#lockedAt = performance.now();
  }

  /** Refuses those of a batch while the pause lasts; they are answered then. */
  refuse(batch: Batch): void {
    if (this.lockedMs >= this.#pauseMs) return;
    for (const queued of [...batch.values()].flat()) {
      if (queued.kind === "command" && isAudited(queued.message)) {
        queued.answer({ kind: "overloaded" });
      }
    }
  }
}
