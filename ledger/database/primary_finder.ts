/**
 * Which of several servers is the primary.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import { connectionFault } from "./database_errors.ts";
import type { Host } from "./database_url.ts";

/** A server's statement about itself. */
export interface HostState {
  /** True where it takes writes: it is neither in recovery nor read-only. */
  readonly writable: boolean;
  /** Its timeline, which each promotion raises; 0 where it is in recovery. */
  readonly timeline: number;
}

/** A primary. */
interface Found {
  readonly host: Host;
  readonly timeline: number;
}

/** Asks one server for its state. Rejects when it does not answer in time. */
export type AskHost = (host: Host) => Promise<HostState>;

/** For how long an answer about a server in use counts, milliseconds. */
const FRESH_MS = 1_000;

/**
 * Knows the primary of a pool. All servers are asked at once when there is a doubt. Of several that
 * take writes the one on the highest timeline counts: it was promoted last. One on a lower timeline
 * than was used before is a former primary that came back, and is never used again.
 */
export class PrimaryFinder {
  readonly #hosts: readonly Host[];
  readonly #ask: AskHost;
  readonly #now: () => number;
  /** Called with the primary when it is another one than before. */
  onReplaced: (primary: Host) => void = () => {};
  #current: Host | null = null;
  /** The one that was used last, also where it is in doubt. */
  #last: Host | null = null;
  #timeline = 0;
  #askedAt = -Infinity;
  #asking: Promise<Host> | null = null;

  /** @param now monotonic milliseconds */
  constructor(hosts: readonly Host[], ask: AskHost, now: () => number) {
    this.#hosts = hosts;
    this.#ask = ask;
    this.#now = now;
  }

  /**
   * The primary, as far as it is known.
   *
   * @throws {Error} when none of the servers takes writes, with what each of them said
   */
  async find(): Promise<Host> {
    return this.#current ?? await this.#look();
  }

  /** Says that the primary did not do as one; the next {@linkcode find} asks all servers. */
  doubt(host: Host): void {
    if (this.#current === host) this.#current = null;
  }

  /** Asks all servers, at most once a second, whether another one than this has become the primary. */
  async isReplaced(host: Host): Promise<boolean> {
    try {
      const fresh = this.#now() - this.#askedAt < FRESH_MS ? this.#current : null;
      return (fresh ?? await this.#look()) !== host;
    } catch {
      // no server takes writes: nothing took its place
      return false;
    }
  }

  #look(): Promise<Host> {
    this.#asking ??= this.#askAll().finally(() => this.#asking = null);
    return this.#asking;
  }

  async #askAll(): Promise<Host> {
    const asked = this.#hosts.map((host) => this.#ask(host));
    // what was promoted since need not wait for what does not answer any more
    const promoted = new Promise<Found>((resolve) => {
      asked.forEach((answer, index) =>
        answer.then((state) => {
          const host = this.#hosts[index];
          if (host === undefined || !state.writable || this.#timeline === 0) return;
          if (state.timeline > this.#timeline) resolve({ host, timeline: state.timeline });
        }, () => {})
      );
    });
    const all = Promise.allSettled(asked).then((answers) => this.#choose(answers));
    const found = await Promise.race([promoted, all]);
    this.#askedAt = this.#now();
    return this.#use(found);
  }

  /** The best of all answers; or what each server said where none of them is a primary. */
  #choose(answers: readonly PromiseSettledResult<HostState>[]): Found | string {
    let best: Found | null = null;
    const said: string[] = [];
    answers.forEach((answer, index) => {
      const host = this.#hosts[index];
      if (host === undefined) return;
      const place = `${host.host}:${host.port}`;
      if (answer.status === "rejected") {
        const { reason } = answer;
        said.push(`${place} ${reason instanceof Error ? reason.message : String(reason)}`);
      } else if (!answer.value.writable) said.push(`${place} takes no writes`);
      else if (answer.value.timeline < this.#timeline) said.push(`${place} is a former primary`);
      else {
        const { timeline } = answer.value;
        const isBetter = best === null || timeline > best.timeline ||
          (timeline === best.timeline && host === this.#current);
        if (isBetter) best = { host, timeline };
      }
    });
    return best ?? said.join("; ");
  }

  #use(found: Found | string): Host {
    if (typeof found === "string") {
      this.#current = null;
      throw connectionFault("NOT_WRITABLE", `no server is a primary: ${found}`);
    }
    const isAnother = this.#last !== null && this.#last !== found.host;
    this.#current = found.host;
    this.#last = found.host;
    this.#timeline = found.timeline;
    if (isAnother) {
      const { timeline } = found;
      logEvent("database.primary", {
        ...found.host,
        timeline,
      });
      this.onReplaced(found.host);
    }
    return found.host;
  }
}
