/**
 * Delivers the events of every merchant. One small actor per endpoint with something to deliver;
 * their claims and marks are batched across all of them, as the journal batches commits. Nothing
 * but the outbox is durable: whatever is lost here is found again by the sweep.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import type { AttemptMark, AttemptResult } from "../../ledger/outbox/attempts.ts";
import type { ClaimedEvent, Outbox, Want } from "../../ledger/outbox/outbox.ts";
import type { AttemptOutcome } from "../../webhooks/attempt_outcome.ts";
import { isSentType } from "../../webhooks/event_type.ts";
import { isRetried, retryDelayMs } from "../../webhooks/retry.ts";
import type { SecretBox } from "../../webhooks/secret_box.ts";
import type { Sender } from "../../webhooks/sender.ts";
import type { CrashPointName } from "../runtime/crash_point.ts";
import { within } from "../runtime/within.ts";
import { ApartClaims } from "./apart_claims.ts";
import { AttemptMarker } from "./attempt_marker.ts";
import { Endpoint } from "./endpoint.ts";
import { RetryAlarm } from "./retry_alarm.ts";
import { type OpenedSecrets, SecretDesk } from "./secret_desk.ts";

const log = getLogger(["engine", "webhook"]);

/** Deliveries under way at the same time, all merchants together, where nothing else is said. */
const IN_FLIGHT = 1_024;

/** Of them the share of endpoints that have answered badly, all of these together. */
const IN_TROUBLE = 0.25;

/**
 * Attempts whose rows something else holds, all merchants together: from here on nothing more is
 * delivered to merchants whose rows are held, so that those of very many do not fill the memory. The
 * places of all others stay theirs.
 */
const HELD = 8_192;

/** Outcome of an attempt for which no request could be made. */
const UNSENDABLE = "UNSENDABLE";

/** Merchants served by one claim. */
const CLAIM_MERCHANTS = 200;

/** The longest that a claim waits until half of an endpoint's deliveries have ended. */
const REFILL_MS = 25;

/** How often lost wake-ups, expired leases and retries of other nodes are looked for. */
const SWEEP_MS = 1_000;

/** Merchants looked at by one sweep; the next one goes on after them. */
const SWEEP_MERCHANTS = 1_000;

/** How long an endpoint's bad answers are remembered without new events. */
const MEMORY_MS = 60_000;

/** Pause after a claim that failed. */
const CLAIM_RETRY_MS = 250;

/** How long {@linkcode Webhooks.stop} lets deliveries under way finish, and each of its other steps. */
const DRAIN_MS = 5_000;

/** What the deliveries need. */
export interface WebhookDeps {
  readonly outbox: Outbox;
  readonly sender: Sender;
  /** Decrypts a merchant's secret; absent: secrets are kept as they are. */
  readonly openSecret?: SecretBox["open"];
  /** How long events wait whose merchant's secret cannot be opened, milliseconds. */
  readonly secretWaitMs?: number;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** A number in [0, 1), for jitter. */
  readonly random: () => number;
  readonly crashPoint: (name: CrashPointName) => void;
  /** Is told of every attempt, for metrics. */
  readonly onAttempt?: (outcome: AttemptOutcome, result: AttemptResult["kind"]) => void;
  readonly sweepMs?: number;
  readonly drainMs?: number;
  /** Deliveries under way at the same time, all merchants together; default 1,024. */
  readonly inFlight?: number;
}

/** The deliveries of all merchants. */
export interface Webhooks {
  /** Says that a merchant has new events. */
  wake(merchantId: string): void;
  start(): void;
  /** Takes nothing more, lets what is under way finish within a bound, and gives the rest back. */
  stop(): Promise<void>;
  /**
   * Figures for metrics: deliveries under way, endpoints in memory, attempts not written yet, and
   * attempts that could not be written at all.
   */
  readonly figures: {
    readonly inFlight: number;
    readonly endpoints: number;
    readonly unmarked: number;
    readonly lostMarks: number;
    /** Attempts whose rows something else holds. */
    readonly heldMarks: number;
    /** Endpoints whose events the database refused to hand out. */
    readonly refusedClaims: number;
    /** Events that could not be made into a request. */
    readonly unsendable: number;
    /** Merchants whose events wait as their secret cannot be opened. */
    readonly withoutSecret: number;
  };
}

function keptAsItIs(secret: string): Promise<string> {
  return Promise.resolve(secret);
}

/** The deliveries over an outbox and a sender. */
export function createWebhooks(deps: WebhookDeps): Webhooks {
  return new Deliveries(deps);
}

class Deliveries implements Webhooks {
  readonly #deps: WebhookDeps;
  readonly #endpoints = new Map<string, Endpoint>();
  /** Endpoints that may have due events, in the order in which they are served. */
  readonly #wanting = new Set<string>();
  readonly #claims: ApartClaims;
  readonly #marker: AttemptMarker;
  readonly #alarm: RetryAlarm;
  readonly #secrets: SecretDesk;
  readonly #abort = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #most: number;
  #inFlight = 0;
  /** Those of them to endpoints that have answered badly. */
  #inTrouble = 0;
  #unsendable = 0;
  #claiming: Promise<void> | null = null;
  #sweeping: Promise<void> | null = null;
  #reviving: Promise<void> | null = null;
  #sweepTimer: ReturnType<typeof setInterval> | undefined;
  #sweptUpTo = "";
  #stopped = false;

  constructor(deps: WebhookDeps) {
    this.#deps = deps;
    this.#most = deps.inFlight ?? IN_FLIGHT;
    this.#secrets = new SecretDesk(deps.openSecret ?? keptAsItIs, deps.secretWaitMs);
    this.#claims = new ApartClaims(deps.outbox);
    this.#marker = new AttemptMarker(deps.outbox, (marks, recovered) => {
      this.#marked(marks);
      // only what was just learnt; the sweep finds whatever is left of it
      if (recovered.length > 0 && !this.#stopped) this.#reviving ??= this.#revive();
    });
    this.#alarm = new RetryAlarm((merchantId) => this.wake(merchantId));
  }

  get figures() {
    return {
      inFlight: this.#inFlight,
      endpoints: this.#endpoints.size,
      unmarked: this.#marker.size,
      lostMarks: this.#marker.lost,
      heldMarks: this.#marker.held,
      refusedClaims: this.#claims.refused,
      unsendable: this.#unsendable,
      withoutSecret: this.#secrets.waiting,
    };
  }

  wake(merchantId: string): void {
    if (this.#stopped) return;
    this.#wanting.add(merchantId);
    this.#claiming ??= this.#claim();
  }

  start(): void {
    const sweep = () => this.#sweeping ??= this.#sweep();
    this.#sweeping = this.#release().then(() => this.#sweep());
    this.#sweepTimer = setInterval(sweep, this.#deps.sweepMs ?? SWEEP_MS);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#sweepTimer);
    this.#alarm.clear();
    this.#wanting.clear();
    const drainMs = this.#deps.drainMs ?? DRAIN_MS;
    // a database that does not answer must not keep the process: it would be killed, and leases run out
    await within(drainMs, Promise.all([this.#sweeping, this.#claiming]));
    const drain = setTimeout(() => this.#abort.abort(), drainMs);
    await Promise.all(this.#running);
    clearTimeout(drain);
    const isWritten = await within(drainMs, this.#marker.close());
    if (!isWritten) {
      log.warn("{count} deliveries are not written down in time, and are made again", {
        count: this.#marker.size,
      });
    }
    await within(drainMs, Promise.resolve(this.#reviving));
    this.#deps.sender.close();
  }

  #endpoint(merchantId: string): Endpoint {
    let endpoint = this.#endpoints.get(merchantId);
    if (endpoint === undefined) {
      endpoint = new Endpoint(merchantId);
      this.#endpoints.set(merchantId, endpoint);
    }
    endpoint.touchedAt = performance.now();
    return endpoint;
  }

  /** Claims for the endpoints that want events until none of them has room or anything due. */
  async #claim(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    for (let wants = this.#wants(); wants.length > 0; wants = this.#wants()) {
      try {
        await this.#claims.claim(wants, (wants, events) => {
          this.#noteFilled(wants, events);
          if (events.length > 0) this.#deps.crashPoint("webhook.after-claim");
          for (const event of events) this.#deliver(event);
        });
      } catch (error) {
        log.error("cannot claim events: {error}", { error });
        if (this.#stopped) break;
        for (const { merchantId } of wants) this.#wanting.add(merchantId);
        await new Promise((resolve) => setTimeout(resolve, CLAIM_RETRY_MS));
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
   * deliveries end, when one is written down, or with the sweep. Those that have answered badly
   * share a part of all places, so that however many hang, the others are served.
   */
  #wants(): Want[] {
    const wants: Want[] = [];
    let left = this.#left;
    let leftForTrouble = Math.ceil(this.#most * IN_TROUBLE) - this.#inTrouble;
    for (const merchantId of this.#wanting) {
      if (left <= 0 || wants.length === CLAIM_MERCHANTS) break;
      this.#wanting.delete(merchantId);
      if (this.#claims.leavesAlone(merchantId) || this.#secrets.leavesAlone(merchantId)) continue;
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

  /** Remembers which endpoints were given all that they had room for. */
  #noteFilled(wants: readonly Want[], events: readonly ClaimedEvent[]): void {
    const given = new Map<string, number>();
    for (const { merchantId } of events) given.set(merchantId, (given.get(merchantId) ?? 0) + 1);
    for (const { merchantId, room } of wants) {
      this.#endpoint(merchantId).hasMore = given.get(merchantId) === room;
    }
  }

  #deliver(event: ClaimedEvent): void {
    const endpoint = this.#endpoint(event.merchantId);
    const isInTrouble = endpoint.isInTrouble;
    endpoint.inFlight++;
    this.#inFlight++;
    if (isInTrouble) this.#inTrouble++;
    const running = this.#attempt(event, endpoint).catch((error: unknown) => {
      // The lease runs out and the event is tried again; the fault is ours and must be seen.
      log.error("delivery of {eventId} broke: {error}", { eventId: event.eventId, error });
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
    const secrets = await this.#secrets.open(event);
    if (secrets === null) {
      this.#marker.add(this.#secrets.putOff(event));
      return;
    }
    const outcome = await this.#send(event, secrets);
    this.#deps.crashPoint("webhook.after-send");
    const result = this.#resultOf(event, outcome);
    if (result.kind === "delivered") endpoint.answeredWell();
    else if (result.kind !== "released") endpoint.answeredBadly();
    this.#deps.onAttempt?.(outcome, result.kind);
    this.#marker.add({
      eventId: event.eventId,
      merchantId: event.merchantId,
      attempt: event.attempt,
      url: event.url,
      result,
      outcome: outcome.category === "network" ? outcome.code : outcome.category,
      httpStatus: "status" in outcome ? outcome.status : null,
      durationMs: outcome.durationMs,
      answer: "answer" in outcome ? outcome.answer : null,
    });
  }

  /** Makes one attempt; what cannot be sent at all is an attempt that failed, as any other. */
  async #send(event: ClaimedEvent, secrets: OpenedSecrets): Promise<AttemptOutcome> {
    try {
      if (!isSentType(event.type)) {
        throw new TypeError(`Cannot deliver an event as its type is unknown: ${event.type}`);
      }
      return await this.#deps.sender.send(
        {
          merchantId: event.merchantId,
          eventId: event.eventId,
          type: event.type,
          body: event.payload,
          url: event.url,
          secrets,
          timeoutMs: event.timeoutMs,
        },
        this.#deps.now(),
        this.#abort.signal,
      );
    } catch (error) {
      this.#unsendable++;
      log.error("{eventId} cannot be sent: {error}", { eventId: event.eventId, error });
      return { category: "network", code: UNSENDABLE, durationMs: 0 };
    }
  }

  #resultOf(event: ClaimedEvent, outcome: AttemptOutcome): AttemptResult {
    switch (outcome.category) {
      case "acknowledged":
        return { kind: "delivered" };
      case "stopped":
        return { kind: "released" };
      case "not_acknowledged":
      case "bad_status":
      case "answer_too_long":
      case "timeout":
      case "network":
      case "refused_url":
        return isRetried(event.attempt, event.retryCount)
          ? { kind: "retry", delayMs: retryDelayMs(event.attempt, this.#deps.random()) }
          : { kind: "failed" };
      default: {
        const never: never = outcome;
        return never;
      }
    }
  }

  /** After a batch of attempts is durable: retries get their alarm, endpoints their next events. */
  #marked(marks: readonly AttemptMark[]): void {
    if (this.#stopped) return;
    for (const { merchantId, result } of marks) {
      if (result.kind === "retry") this.#alarm.set(merchantId, result.delayMs);
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
    try {
      for (const merchantId of await this.#deps.outbox.revive()) this.wake(merchantId);
    } catch (error) {
      log.error("cannot revive failed events: {error}", { error });
    }
    this.#reviving = null;
  }

  /** Frees what this node held when it died; where that fails, the leases run out by themselves. */
  async #release(): Promise<void> {
    try {
      const merchantIds = await this.#deps.outbox.release();
      for (const merchantId of merchantIds) this.wake(merchantId);
    } catch (error) {
      log.warn("cannot free the claims of an earlier session: {error}", { error });
    }
  }

  /** Finds what no wake-up told of: after a crash, from other nodes, switched off meanwhile. */
  async #sweep(): Promise<void> {
    try {
      const found = await this.#deps.outbox.waiting(this.#sweptUpTo, SWEEP_MERCHANTS);
      this.#sweptUpTo = found.length < SWEEP_MERCHANTS ? "" : found.at(-1)?.merchantId ?? "";
      const off = found.filter(({ state }) => state === "off").map(({ merchantId }) => merchantId);
      for (const { merchantId, state } of found) if (state === "on") this.wake(merchantId);
      if (off.length > 0) await this.#deps.outbox.skip(off);
    } catch (error) {
      log.error("cannot sweep the outbox: {error}", { error });
    }
    try {
      for (const merchantId of await this.#deps.outbox.probe()) this.wake(merchantId);
    } catch (error) {
      log.error("cannot probe endpoints: {error}", { error });
    }
    await (this.#reviving ??= this.#revive());
    this.#forgetIdle();
    this.#sweeping = null;
  }

  #forgetIdle(): void {
    const before = performance.now() - MEMORY_MS;
    for (const [merchantId, endpoint] of this.#endpoints) {
      if (endpoint.inFlight > 0 || this.#wanting.has(merchantId)) continue;
      if (endpoint.isOrdinary || endpoint.touchedAt < before) this.#endpoints.delete(merchantId);
    }
  }
}
