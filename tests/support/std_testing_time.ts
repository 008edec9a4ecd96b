/**
 * The part of `@std/testing/time` that tests use, with the same names and meanings, as long as the
 * registry that package lives in cannot be relied on. `deno.json` maps `@std/testing/time` here.
 *
 * @module
 */

/** A timer that waits. */
interface Timer {
  readonly id: number;
  at: number;
  /** Milliseconds between two calls; null: it is called once. */
  readonly every: number | null;
  readonly call: () => void;
}

const REAL = {
  Date: globalThis.Date,
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
};

let active: FakeTime | null = null;

/**
 * Replaces `Date`, timeouts and intervals until it is disposed of: time stands still, and goes on
 * only by what the test asks for. One at a time.
 */
export class FakeTime implements Disposable {
  /** The time it began with, Unix milliseconds. */
  readonly start: number;
  #now: number;
  #lastId = 0;
  readonly #timers = new Map<number, Timer>();

  /**
   * @param start Unix milliseconds or a date; the real time where absent
   * @throws {TypeError} while another one is there
   */
  constructor(start: number | string | Date | null = null) {
    if (active !== null) throw new TypeError("Cannot fake the time as it is faked already");
    this.start = start === null ? REAL.Date.now() : new REAL.Date(start).getTime();
    this.#now = this.start;
    active = this;
    const now = () => this.#now;
    globalThis.Date = class extends REAL.Date {
      // deno-lint-ignore no-explicit-any -- as the real one, which takes whatever it is given
      constructor(...parts: any[]) {
        super(...(parts.length === 0 ? [now()] : parts) as [number]);
      }
      static override now = now;
    } as DateConstructor;
    const later =
      (every: boolean) => (call: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
        this.#add(() => call(...args), Math.max(ms, every ? 1 : 0), every);
    const forget = (id?: unknown) => void this.#timers.delete(Number(id));
    Object.assign(globalThis, {
      setTimeout: later(false),
      setInterval: later(true),
      clearTimeout: forget,
      clearInterval: forget,
    });
  }

  /** The time, Unix milliseconds. */
  get now(): number {
    return this.#now;
  }

  /** Goes on by some milliseconds, calling every timer that is due meanwhile at its time. */
  tick(ms = 0): void {
    const end = this.#now + ms;
    while (this.#callNext(end));
    this.#now = end;
  }

  /** The same, letting what each timer has begun go on before the next one is called. */
  async tickAsync(ms = 0): Promise<void> {
    const end = this.#now + ms;
    await this.runMicrotasks();
    while (this.#callNext(end)) await this.runMicrotasks();
    this.#now = end;
  }

  /** Lets everything go on that waits for no timer. */
  async runMicrotasks(): Promise<void> {
    await new Promise<void>((resolve) => REAL.setTimeout(resolve, 0));
  }

  /** Gives the real time back. */
  restore(): void {
    if (active !== this) throw new TypeError("Cannot give the time back as it is not faked");
    active = null;
    Object.assign(globalThis, REAL);
  }

  [Symbol.dispose](): void {
    this.restore();
  }

  #add(call: () => void, ms: number, repeats: boolean): number {
    const id = ++this.#lastId;
    this.#timers.set(id, { id, at: this.#now + ms, every: repeats ? ms : null, call });
    return id;
  }

  /** Calls the earliest timer that is due. @returns whether there was one */
  #callNext(end: number): boolean {
    let next: Timer | null = null;
    for (const timer of this.#timers.values()) {
      if (timer.at <= end && (next === null || timer.at < next.at)) next = timer;
    }
    if (next === null) return false;
    this.#now = Math.max(this.#now, next.at);
    if (next.every === null) this.#timers.delete(next.id);
    else next.at += next.every;
    next.call();
    return true;
  }
}
