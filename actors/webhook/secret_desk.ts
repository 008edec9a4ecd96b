/**
 * Opens the secrets that callbacks are signed with. A merchant whose secret cannot be opened here (the
 * key is lost, or this node was not told of a new one) is left alone for a while: its events wait and
 * use up no attempts, as nothing is wrong with its endpoint.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import type { AttemptMark } from "../../ledger/outbox/attempts.ts";
import type { ClaimedEvent } from "../../ledger/outbox/outbox.ts";
import { openIfReadable, type SecretBox } from "../../webhooks/secret_box.ts";

const log = getLogger(["engine", "webhook"]);

/** From one try to open a merchant's secret to the next, milliseconds. */
const WAIT_MS = 30_000;

/** How long a merchant is counted for which nothing is due any more, milliseconds. */
const RECENT_MS = 60_000;

/** Outcome of an event whose merchant's secret cannot be opened; no attempt was made. */
const NO_SECRET = "no_secret";

/** The secrets that a callback is signed with. */
export interface OpenedSecrets {
  readonly current: string;
  /** The one before, while it is valid. */
  readonly previous: string | null;
}

/** Opens secrets, and remembers whose cannot be opened. */
export class SecretDesk {
  readonly #open: SecretBox["open"];
  readonly #waitMs: number;
  /** When such merchants are tried again, by the monotonic clock. */
  readonly #closed = new Map<string, number>();

  /** @param waitMs from one try of a merchant's secret to the next, milliseconds */
  constructor(open: SecretBox["open"], waitMs: number = WAIT_MS) {
    this.#open = open;
    this.#waitMs = waitMs;
  }

  /** Merchants whose secrets could not be opened, the last time that something was due for them. */
  get waiting(): number {
    const since = performance.now() - RECENT_MS;
    let count = 0;
    for (const until of this.#closed.values()) if (until > since) count++;
    return count;
  }

  /** True if a merchant's secret was tried in vain a short while ago. */
  leavesAlone(merchantId: string): boolean {
    return (this.#closed.get(merchantId) ?? 0) > performance.now();
  }

  /** @returns null where the secret that callbacks are signed with cannot be opened */
  async open(
    { merchantId, secret, previousSecret }: Pick<
      ClaimedEvent,
      "merchantId" | "secret" | "previousSecret"
    >,
  ): Promise<OpenedSecrets | null> {
    const current = await openIfReadable(this.#open, secret, merchantId);
    if (current === null) {
      if (!this.#closed.has(merchantId)) {
        log.fatal("callbacks of {merchantId} wait as no configured key opens their secret", {
          merchantId,
        });
      }
      this.#closed.set(merchantId, performance.now() + this.#waitMs);
      return null;
    }
    this.#closed.delete(merchantId);
    // whoever has the new one can check it; nobody is helped by waiting for the old one
    const previous = previousSecret === null
      ? null
      : await openIfReadable(this.#open, previousSecret, merchantId);
    return { current, previous };
  }

  /** What is written down of an event that waits for its merchant's secret. */
  putOff({ eventId, merchantId, attempt, url }: ClaimedEvent): AttemptMark {
    const result = { kind: "released", delayMs: this.#waitMs } as const;
    const nothing = { httpStatus: null, durationMs: 0, answer: null };
    return { eventId, merchantId, attempt, url, result, outcome: NO_SECRET, ...nothing };
  }
}
