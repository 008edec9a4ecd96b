/**
 * Look-ups of the names of merchants' endpoints: when a URL is set, and when it is called.
 *
 * @module
 */

import { type Resolve, systemResolve } from "./sender.ts";

/**
 * Look-ups under way at most. The system's look-up cannot be given up and blocks a thread for as
 * long as name servers are silent (28 s with three of them). The runtime has 32 such threads for
 * each event loop, and files and all other names wait for the same ones: with 40 silent look-ups
 * `Deno.stat` took 27.5 s, with 28 of them 6 ms. A worker has threads of its own; all names of
 * endpoints are looked up by the service's main thread, so that this bound is the only one.
 */
const PLACES = 8;

/** Those of them for askers whose look-ups have been slow, so that the others always find a place. */
const SLOW_PLACES = 5;

/** From here on a look-up is slow, milliseconds. */
const SLOW_MS = 2_000;

/** Time for which an asker counts as slow after its last slow look-up, milliseconds: quick ones between change nothing. */
const SLOW_FOR_MS = 5 * 60_000;

/** Askers that are remembered as slow at most; the oldest is forgotten. */
const MOST_SLOW = 10_000;

/** An address as the system's resolver returns it. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** A question for the addresses of a name. */
export interface NameQuestion {
  readonly hostname: string;
  /** Whom it counts for: a merchant, or an administrator for one merchant. */
  readonly asker: string;
  /** An asker has one place for each, so that an endpoint whose name hangs can be replaced. */
  readonly use: "check" | "delivery";
  /** The longest that it waits for a place, milliseconds; what it waits for the answer is not bounded. */
  readonly waitMs: number;
}

/** Outcome of a question. `code` is the system's word where a name does not resolve. */
export type NameAnswer =
  | { readonly kind: "found"; readonly addresses: readonly ResolvedAddress[] }
  | { readonly kind: "failed"; readonly code: string }
  /** No place was free in time; nothing was asked. */
  | { readonly kind: "busy" };

type Answered = (answer: NameAnswer) => void;

interface LookUp {
  readonly asker: string;
  readonly use: NameQuestion["use"];
  /** Milliseconds of the monotonic clock. */
  readonly startedAt: number;
  readonly answered: Answered[];
}

interface Waiting {
  readonly question: NameQuestion;
  readonly late: ReturnType<typeof setTimeout>;
  readonly answered: Answered;
}

/** Bounds how many names are looked up at a time; a place is held until the look-up itself has ended. */
export class NameLookups {
  readonly #resolve: Resolve;
  /** By name: however many ask for a name that hangs, it is looked up once. */
  readonly #underWay = new Map<string, LookUp>();
  /** In the order in which they asked. */
  readonly #waiting = new Set<Waiting>();
  /** End of the last slow look-up of an asker, by the monotonic clock; the oldest come first. */
  readonly #slow = new Map<string, number>();
  readonly #slowMs: number;
  #refused = 0;
  #crowdedAt: number | null = null;

  /** @param options in place of the system's look-up, and of when one is slow; for tests */
  constructor(options: { readonly resolve?: Resolve; readonly slowMs?: number } = {}) {
    this.#resolve = options.resolve ?? systemResolve;
    this.#slowMs = options.slowMs ?? SLOW_MS;
  }

  /**
   * Look-ups under way, waiting, and turned away so far, and how long ago one was turned away last
   * because of others; `null`: never.
   */
  get figures() {
    return {
      underWay: this.#underWay.size,
      waiting: this.#waiting.size,
      refused: this.#refused,
      crowdedMsAgo: this.#crowdedAt === null ? null : performance.now() - this.#crowdedAt,
    };
  }

  /** Asks for the addresses of a name. */
  find(question: NameQuestion): Promise<NameAnswer> {
    return new Promise((answered) => {
      if (this.#start(question, answered)) return;
      const late = setTimeout(() => this.#refuse(waiting), question.waitMs);
      const waiting: Waiting = { question, late, answered };
      this.#waiting.add(waiting);
    });
  }

  /** @returns false where there is no place */
  #start(question: NameQuestion, answered: Answered): boolean {
    const same = this.#underWay.get(question.hostname);
    if (same !== undefined) {
      same.answered.push(answered);
      return true;
    }
    if (this.#isCrowdedFor(question) || this.#hasPlace(question)) return false;
    this.#lookUp(question, answered);
    return true;
  }

  /** True if the asker itself is what a question waits for. */
  #hasPlace({ asker, use }: NameQuestion): boolean {
    return this.#underWay.values().some((one) => one.asker === asker && one.use === use);
  }

  /** True if others are what a question waits for. */
  #isCrowdedFor({ asker }: NameQuestion): boolean {
    if (this.#underWay.size >= PLACES) return true;
    if (!this.#wasSlow(asker)) return false;
    const slow = this.#underWay.values().filter((one) =>
      this.#wasSlow(one.asker) || this.#isSlow(one)
    );
    return slow.toArray().length >= SLOW_PLACES;
  }

  #lookUp({ hostname, asker, use }: NameQuestion, answered: Answered): void {
    const one: LookUp = { asker, use, startedAt: performance.now(), answered: [answered] };
    this.#underWay.set(hostname, one);
    const ended = (answer: NameAnswer) => {
      this.#underWay.delete(hostname);
      this.#recordSlow(one);
      for (const answered of one.answered) answered(answer);
      this.#next();
    };
    try {
      this.#resolve(hostname, { all: true }, (error, addresses) => {
        if (error === null) ended({ kind: "found", addresses });
        else ended({ kind: "failed", code: error.code ?? error.name });
      });
    } catch (error) {
      // a name that cannot even be asked for is its asker's fault alone
      ended({ kind: "failed", code: error instanceof Error ? error.name : "EINVAL" });
    }
  }

  #wasSlow(asker: string): boolean {
    return performance.now() - (this.#slow.get(asker) ?? -Infinity) < SLOW_FOR_MS;
  }

  #recordSlow(one: LookUp): void {
    if (!this.#isSlow(one)) return;
    this.#slow.delete(one.asker);
    this.#slow.set(one.asker, performance.now());
    const [oldest] = this.#slow.keys();
    if (this.#slow.size > MOST_SLOW && oldest !== undefined) this.#slow.delete(oldest);
  }

  #next(): void {
    for (const waiting of this.#waiting) {
      if (!this.#start(waiting.question, waiting.answered)) continue;
      clearTimeout(waiting.late);
      this.#waiting.delete(waiting);
    }
  }

  #refuse(waiting: Waiting): void {
    this.#waiting.delete(waiting);
    this.#refused++;
    if (this.#isCrowdedFor(waiting.question)) this.#crowdedAt = performance.now();
    waiting.answered({ kind: "busy" });
  }

  #isSlow({ startedAt }: LookUp): boolean {
    return performance.now() - startedAt >= this.#slowMs;
  }
}
