/**
 * Delivers the events of every merchant. One small actor per endpoint with something to deliver;
 * their claims and marks are batched across all of them, as the journal batches commits. Nothing
 * but the outbox is durable: whatever is lost here is found again by the next poll.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import type { AttemptMark } from "../../ledger/outbox/attempts.ts";
import type { ClaimedEvent, Outbox, Want } from "../../ledger/outbox/outbox.ts";
import { delay } from "../../ledger/database/delay.ts";
import type { CrashPointName } from "../runtime/crash_point.ts";
import { within } from "../runtime/within.ts";
import { AttemptMarker } from "./attempt_marker.ts";
import { type AttemptDeps, Attempts } from "./attempts.ts";
import { Claims, Endpoint, RetryAlarm } from "./endpoint.ts";

/** Deliveries under way at the same time, all merchants together, where nothing else is said. */
export const IN_FLIGHT = 1_024;
/** Of them the share of endpoints that have answered badly, all of these together. */
const IN_TROUBLE = 0.25;
/**
 * Attempts whose rows something else holds, all merchants together: from here on nothing more is
 * delivered to merchants whose rows are held, so that those of very many do not fill the memory. The
 * places of all others stay theirs.
 */
const HELD = 8_192;
/** Merchants served by one claim. */
const CLAIM_MERCHANTS = 200;
/** The longest that a claim waits until half of an endpoint's deliveries have ended. */
const REFILL_MS = 25;
/** Interval at which lost wake-ups, expired leases and retries of other nodes are looked for. */
const POLL_MS = 1_000;
/** Merchants of one poll; the next one goes on after them. */
const POLL_MERCHANTS = 1_000;
/** Time for which an endpoint's bad answers are remembered without new events. */
const MEMORY_MS = 60_000;
/** Pause after a claim that failed. */
const CLAIM_RETRY_MS = 250;
/** Bound of {@linkcode Webhooks.stop} on deliveries under way, and on each of its other steps. */
const DRAIN_MS = 5_000;

/** Dependencies of the deliveries. */
export interface WebhookDeps extends AttemptDeps {
  readonly outbox: Outbox;
  readonly crashPoint: (name: CrashPointName) => void;
  readonly pollMs?: number;
  readonly drainMs?: number;
  /** Deliveries under way at the same time, all merchants together; default 1,024. */
  readonly inFlight?: number;
}

/** The deliveries of all merchants. */
export class Webhooks {
  readonly #deps: WebhookDeps;
  readonly #endpoints = new Map<string, Endpoint>();
  /** Endpoints that may have due events, in the order in which they are served. */
  readonly #wanting = new Set<string>();
  readonly #attempts: Attempts;
  readonly #claims: Claims;
  readonly #marker: AttemptMarker;
  readonly #alarm = new RetryAlarm((merchantId) => this.wake(merchantId));
  readonly #abort = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #most: number;
  #inFlight = 0;
  /** Those of them to endpoints that have answered badly. */
  #inTrouble = 0;
  #claiming: Promise<void> | null = null;
  #polling: Promise<void> | null = null;
  #reviving: Promise<void> | null = null;
  #pollTimer: ReturnType<typeof setInterval> | undefined;
  #polledUpTo = "";
  #stopped = false;

  constructor(deps: WebhookDeps) {
    this.#deps = deps;
    this.#most = deps.inFlight ?? IN_FLIGHT;
    this.#attempts = new Attempts(deps);
    this.#claims = new Claims(deps.outbox);
    this.#marker = new AttemptMarker(deps.outbox, (marks, recovered) => {
      this.#marked(marks);
      // only what was just learnt; the next poll finds whatever is left of it
      if (recovered.length > 0 && !this.#stopped) this.#reviving ??= this.#revive();
    });
  }

  /** Figures for metrics. */
  get figures() {
    return {
      inFlight: this.#inFlight,
      /** Attempts by what came of them. */
      results: this.#attempts.results,
      endpoints: this.#endpoints.size,
      /** Attempts not written down yet, those that never will be, and those whose rows are held. */
      unmarked: this.#marker.size,
      lostMarks: this.#marker.lost,
      heldMarks: this.#marker.held,
      /** Endpoints whose events the database refused to hand out. */
      refusedClaims: this.#claims.refused,
      /** Events that could not be made into a request. */
      unsendable: this.#attempts.unsendable,
      /** Merchants whose events wait as their secret cannot be opened. */
      withoutSecret: this.#attempts.withoutSecret,
    };
  }

  /** Takes up what a merchant's outbox has that is due. */
  wake(merchantId: string): void {
    if (this.#stopped) return;
    this.#wanting.add(merchantId);
    this.#claiming ??= this.#claim();
  }

  /** Frees what an earlier session of this node held, and polls the outbox from now on. */
  start(): void {
    const poll = () => this.#polling ??= this.#poll();
    const { outbox } = this.#deps;
    this.#polling = this.#wakeAll("free the claims of an earlier session", () => outbox.release())
      .then(() => this.#poll());
    this.#pollTimer = setInterval(poll, this.#deps.pollMs ?? POLL_MS);
  }

  /** Takes nothing more, lets what is under way finish within a bound, and gives the rest back. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#pollTimer);
    this.#alarm.clear();
    this.#wanting.clear();
    const drainMs = this.#deps.drainMs ?? DRAIN_MS;
    // a database that does not answer must not keep the process: it would be killed, and leases run out
    await within(drainMs, Promise.all([this.#polling, this.#claiming]));
    const drain = setTimeout(() => this.#abort.abort(), drainMs);
    // a sender that is stuck gives nothing up, and is ended below
    await within(2 * drainMs, Promise.all(this.#running));
    clearTimeout(drain);
    if (!await within(drainMs, this.#marker.close())) {
      const count = this.#marker.size;
      logEvent("callback.not_drained", { count });
    }
    await within(drainMs, Promise.resolve(this.#reviving));
    this.#deps.sender.close();
  }

  #endpoint(merchantId: string): Endpoint {
    let endpoint = this.#endpoints.get(merchantId);
    if (endpoint === undefined) this.#endpoints.set(merchantId, endpoint = new Endpoint());
    endpoint.touchedAt = performance.now();
    return endpoint;
  }

  /** Claims for the endpoints that want events until none of them has room or anything due. */
  async #claim(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    for (let wants = this.#wants(); wants.length > 0; wants = this.#wants()) {
      try {
        await this.#claims.claim(wants, (wants, events) => this.#take(wants, events));
      } catch (error) {
        logEvent("callback.claim_failed", { error });
        if (this.#stopped) break;
        for (const { merchantId } of wants) this.#wanting.add(merchantId);
        await delay(CLAIM_RETRY_MS);
      }
    }
    this.#claiming = null;
  }

  /**
   * Deliveries that may still begin. What is not written down counts, or it would grow without bound;
   * what held rows keep counts for their merchants alone.
   */
  get #left(): number {
    const { size, held } = this.#marker;
    return this.#most - this.#inFlight - (size - held);
  }

  /** True if so many are under way that slow endpoints must not take the rest. */
  get #isCrowded(): boolean {
    return this.#left < this.#most / 2;
  }

  /**
   * Takes the next endpoints out of the line. One without room is left out: it comes back when its
   * deliveries end, when one is written down, or with the next poll. Those that have answered badly
   * share a part of all places, so that however many hang, the others are served.
   */
  #wants(): Want[] {
    const wants: Want[] = [];
    let left = this.#left;
    let leftForTrouble = Math.ceil(this.#most * IN_TROUBLE) - this.#inTrouble;
    for (const merchantId of this.#wanting) {
      if (left <= 0 || wants.length === CLAIM_MERCHANTS) break;
      this.#wanting.delete(merchantId);
      if (this.#claims.leavesAlone(merchantId) || this.#attempts.leavesAlone(merchantId)) continue;
      const endpoint = this.#endpoint(merchantId);
      // counted anew for each: together they must not take in one claim what a crowd may not have
      const isCrowded = left < this.#most / 2;
      const bound = endpoint.isInTrouble ? Math.min(left, Math.max(leftForTrouble, 0)) : left;
      const isHeld = this.#marker.holds(merchantId);
      if (isHeld && this.#marker.held >= HELD) continue;
      const unwritten = this.#marker.of(merchantId);
      const room = Math.min(endpoint.room(isCrowded, unwritten, isHeld), bound);
      if (room === 0) continue;
      wants.push({ merchantId, room });
      left -= room;
      if (endpoint.isInTrouble) leftForTrouble -= room;
    }
    return wants;
  }

  /** Delivers what was claimed; endpoints that were given all they had room for may have more. */
  #take(wants: readonly Want[], events: readonly ClaimedEvent[]): void {
    const given = Map.groupBy(events, ({ merchantId }) => merchantId);
    for (const { merchantId, room } of wants) {
      this.#endpoint(merchantId).hasMore = given.get(merchantId)?.length === room;
    }
    if (events.length > 0) this.#deps.crashPoint("webhook.after-claim");
    for (const event of events) this.#deliver(event);
  }

  #deliver(event: ClaimedEvent): void {
    const endpoint = this.#endpoint(event.merchantId);
    const isInTrouble = endpoint.isInTrouble;
    endpoint.inFlight++;
    this.#inFlight++;
    if (isInTrouble) this.#inTrouble++;
    const running = this.#attempt(event, endpoint).catch((error: unknown) => {
      // the lease runs out and the event is tried again; a bug of this service, which must be seen
      logEvent("callback.broke", { eventId: event.eventId, error });
    }).finally(() => {
      endpoint.inFlight--;
      this.#inFlight--;
      if (isInTrouble) this.#inTrouble--;
      this.#running.delete(running);
      if (this.#stopped) return;
      const isDue = endpoint.goesByHalves && endpoint.isHalfEmpty(this.#isCrowded);
      if (isDue) this.wake(event.merchantId);
      else if (this.#wanting.size > 0) this.#claiming ??= this.#claim();
    });
    this.#running.add(running);
  }

  async #attempt(event: ClaimedEvent, endpoint: Endpoint): Promise<void> {
    const mark = await this.#attempts.make(event, this.#abort.signal);
    this.#deps.crashPoint("webhook.after-send");
    endpoint.answered(mark.result.kind);
    this.#marker.add(mark);
  }

  /** After a batch of attempts is durable: retries get their alarm, endpoints their next events. */
  #marked(marks: readonly AttemptMark[]): void {
    if (this.#stopped) return;
    for (const { merchantId, result } of marks) {
      if ("delayMs" in result) this.#alarm.set(merchantId, result.delayMs ?? 0);
      const endpoint = this.#endpoints.get(merchantId);
      if (endpoint?.goesByHalves === true && !endpoint.isHalfEmpty(this.#isCrowded)) {
        // soon its deliveries will have made room for more; where they hang, it takes what it can
        this.#alarm.set(merchantId, REFILL_MS);
      } else {
        this.wake(merchantId);
      }
    }
  }

  /** Endpoints that acknowledge again get what they missed. */
  async #revive(): Promise<void> {
    await this.#wakeAll("revive failed events", () => this.#deps.outbox.revive());
    this.#reviving = null;
  }

  /** Wakes merchants that the outbox names. What fails is done by the next poll, or leases run out. */
  async #wakeAll(what: string, find: () => Promise<readonly string[]>): Promise<void> {
    try {
      for (const merchantId of await find()) this.wake(merchantId);
    } catch (error) {
      logEvent("callback.work_failed", { what, error });
    }
  }

  /** Finds what no wake-up announced: after a crash, from other nodes, switched off meanwhile. */
  async #poll(): Promise<void> {
    const { outbox } = this.#deps;
    await this.#wakeAll("poll the outbox", async () => {
      const found = await outbox.waiting(this.#polledUpTo, POLL_MERCHANTS);
      this.#polledUpTo = found.length < POLL_MERCHANTS ? "" : found.at(-1)?.merchantId ?? "";
      const { on = [], off = [] } = Object.groupBy(found, ({ state }) => state);
      for (const { merchantId } of on) this.wake(merchantId);
      if (off.length > 0) await outbox.skip(off.map(({ merchantId }) => merchantId));
      return [];
    });
    await this.#wakeAll("probe endpoints", () => outbox.probe());
    await (this.#reviving ??= this.#revive());
    const before = performance.now() - MEMORY_MS;
    for (const [merchantId, endpoint] of this.#endpoints) {
      if (endpoint.inFlight > 0 || this.#wanting.has(merchantId)) continue;
      if (endpoint.isOrdinary || endpoint.touchedAt < before) this.#endpoints.delete(merchantId);
    }
    this.#polling = null;
  }
}
