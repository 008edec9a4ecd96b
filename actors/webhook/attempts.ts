import { logEvent } from "../../log/log_event.ts";
import { isTracing, traceSpan } from "../../log/traces.ts";
import type { AttemptMark, AttemptResult } from "../../ledger/outbox/attempts.ts";
import type { ClaimedEvent } from "../../ledger/outbox/outbox.ts";
import { type AttemptOutcome, isRetried, retryDelayMs } from "../../webhooks/attempt_outcome.ts";
import { isSentType } from "../../webhooks/events.ts";
import { openIfReadable, type SecretBox } from "../../webhooks/secret_box.ts";
import type { Sender } from "../../webhooks/sender.ts";
import type { SigningSecrets } from "../../webhooks/signature.ts";

/** From one try to open a merchant's secret to the next, milliseconds. */
const SECRET_WAIT_MS = 30_000;
/** Time for which a merchant is counted for which nothing is due any more, milliseconds. */
const RECENT_MS = 60_000;
/** Time without attempts after the sender failed to start, milliseconds. */
const SENDER_WAIT_MS = 5_000;

/** Outcome of an event whose merchant's secret cannot be opened; no attempt was made. */
const NO_SECRET = "no_secret";
/** Outcome of an attempt for which no request could be made. */
const UNSENDABLE = "UNSENDABLE";

/** Dependencies of attempts. */
export interface AttemptDeps {
  readonly sender: Sender;
  /** Decrypts a merchant's secret; absent: secrets are kept as they are. */
  readonly openSecret?: SecretBox["open"];
  /** Time for which events wait whose merchant's secret cannot be opened, milliseconds. */
  readonly secretWaitMs?: number;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** A number in [0, 1), for jitter. */
  readonly random: () => number;
}

/**
 * Makes attempts. A merchant whose secret cannot be opened here (the key is lost, or this node does
 * not have a new one) is left alone for a while: its events wait and use up no attempts, as nothing
 * is wrong with its endpoint.
 */
export class Attempts {
  /** End of the time without attempts, for want of a sender; by the monotonic clock. */
  #noSenderUntil = -Infinity;
  /** Next try for merchants whose secret cannot be opened, by the monotonic clock. */
  readonly #withoutSecret = new Map<string, number>();
  #unsendable = 0;
  /** Attempts by what came of them. */
  readonly results = { delivered: 0, retry: 0, failed: 0, released: 0 };

  constructor(private readonly deps: AttemptDeps) {}

  /** Merchants whose secrets could not be opened, the last time that something was due for them. */
  get withoutSecret(): number {
    const since = performance.now() - RECENT_MS;
    return this.#withoutSecret.values().filter((until) => until > since).toArray().length;
  }

  /** Events that could not be made into a request. */
  get unsendable(): number {
    return this.#unsendable;
  }

  /** True if the sender, or a merchant's secret, was tried in vain a short while ago. */
  leavesAlone(merchantId: string): boolean {
    const until = this.#withoutSecret.get(merchantId) ?? -Infinity;
    return Math.max(until, this.#noSenderUntil) > performance.now();
  }

  /** Makes one attempt; does not throw for what the endpoint, the event or its secret is like. */
  async make(event: ClaimedEvent, signal: AbortSignal): Promise<AttemptMark> {
    const from = Date.now();
    const mark = await this.#make(event, signal);
    this.results[mark.result.kind]++;
    if (mark.result.kind === "retry" || mark.result.kind === "failed") logUnanswered(mark);
    if (isTracing()) traceAttempt(event, mark, from);
    return mark;
  }

  async #make(event: ClaimedEvent, signal: AbortSignal): Promise<AttemptMark> {
    const { eventId, merchantId, attempt, url } = event;
    const secrets = await this.#open(event);
    if (secrets === null) {
      const result = { kind: "released", delayMs: this.#secretWaitMs } as const;
      const nothing = { httpStatus: null, durationMs: 0, answer: null };
      return { eventId, merchantId, attempt, url, result, outcome: NO_SECRET, ...nothing };
    }
    const outcome = await this.#send(event, secrets, signal);
    return {
      eventId,
      merchantId,
      attempt,
      url,
      result: this.#resultOf(event, outcome),
      outcome: outcome.category === "network" ? outcome.code : outcome.category,
      httpStatus: "status" in outcome ? outcome.status : null,
      durationMs: outcome.durationMs,
      answer: "answer" in outcome ? outcome.answer : null,
    };
  }

  get #secretWaitMs(): number {
    return this.deps.secretWaitMs ?? SECRET_WAIT_MS;
  }

  /** @returns null where the secret that callbacks are signed with cannot be opened */
  async #open(
    { merchantId, secret, previousSecret }: ClaimedEvent,
  ): Promise<SigningSecrets | null> {
    const { openSecret } = this.deps;
    if (openSecret === undefined) return { current: secret, previous: previousSecret };
    const current = await openIfReadable(openSecret, secret, merchantId);
    if (current === null) {
      if (!this.#withoutSecret.has(merchantId)) {
        logEvent("callback.secret_closed", {
          merchantId,
        });
      }
      this.#withoutSecret.set(merchantId, performance.now() + this.#secretWaitMs);
      return null;
    }
    this.#withoutSecret.delete(merchantId);
    // a receiver that has the new one can check it, so that nothing waits for the old one
    const previous = previousSecret === null
      ? null
      : await openIfReadable(openSecret, previousSecret, merchantId);
    return { current, previous };
  }

  /** Sends an event; one that cannot be sent at all is an attempt that failed, as any other. */
  async #send(
    { merchantId, eventId, type, payload: body, url, timeoutMs }: ClaimedEvent,
    secrets: SigningSecrets,
    signal: AbortSignal,
  ): Promise<AttemptOutcome> {
    try {
      if (!isSentType(type)) {
        throw new TypeError(`Cannot deliver an event as its type is unknown: ${type}`);
      }
      const delivery = { merchantId, eventId, type, body, url, secrets, timeoutMs };
      return await this.deps.sender.send(delivery, this.deps.now(), signal);
    } catch (error) {
      this.#unsendable++;
      logEvent("callback.unsendable", { eventId, error });
      return { category: "network", code: UNSENDABLE, durationMs: 0 };
    }
  }

  #resultOf({ attempt, retryCount }: ClaimedEvent, { category }: AttemptOutcome): AttemptResult {
    switch (category) {
      case "acknowledged":
        return { kind: "delivered" };
      case "not_sent":
        this.#noSenderUntil = performance.now() + SENDER_WAIT_MS;
        return { kind: "released" };
      case "stopped":
        return { kind: "released" };
      case "not_acknowledged":
      case "bad_status":
      case "answer_too_long":
      case "timeout":
      case "network":
      case "refused_url":
        return isRetried(attempt, retryCount)
          ? { kind: "retry", delayMs: retryDelayMs(attempt, this.deps.random()) }
          : { kind: "failed" };
      default:
        return category satisfies never;
    }
  }
}

function logUnanswered({ eventId, merchantId, attempt, outcome, httpStatus }: AttemptMark): void {
  const reason = httpStatus === null ? outcome : `${outcome}, HTTP ${httpStatus}`;
  logEvent("callback.unanswered", { eventId, merchantId, attempt, reason });
}

/** The payment in the body of an event. */
const PAYMENT = /"(?:depositId|withdrawalId|transactionId)":"([^"]+)"/;

/** Traces an attempt, in the trace of the payment that its body names. */
function traceAttempt(event: ClaimedEvent, mark: AttemptMark, from: number): void {
  const { eventId: callback, merchantId: merchant, type, attempt } = event;
  const payment = PAYMENT.exec(event.payload)?.[1] ?? null;
  const { outcome, httpStatus: status } = mark;
  traceSpan("callback.deliver", {
    of: payment ?? callback,
    from,
    attributes: { callback, payment, merchant, type, attempt, outcome, status },
  });
}
