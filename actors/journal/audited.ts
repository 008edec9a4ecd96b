import type { Work } from "./decide_batch.ts";
import type { Decidable } from "./envelope.ts";

/** How long audited commands are sent away at first, milliseconds; doubling while it goes on. */
const REST_MS = 5_000;
const LONGEST_REST_MS = 60_000;
/** A row that is found held so long after a rest is found anew, milliseconds. */
const ANEW_MS = 10_000;

/** Whether a message is a command whose effect is audited: an administrator's, or a change of a profile. */
function isAudited({ message }: Decidable): boolean {
  return "audit" in message && message.audit !== undefined;
}

/** The audited commands of a batch, and everything else in it. */
export function apartFromAudited(work: Work): { readonly audited: Work; readonly others: Work } {
  const audited = new Map<string, readonly Decidable[]>();
  const others = new Map<string, readonly Decidable[]>();
  for (const [merchantId, envelopes] of work) {
    const ruled = envelopes.filter(isAudited);
    const rest = envelopes.filter((envelope) => !isAudited(envelope));
    if (ruled.length > 0) audited.set(merchantId, ruled);
    if (rest.length > 0) others.set(merchantId, rest);
  }
  return { audited, others };
}

/**
 * Sends audited commands away for a while after a row that all of them need was found held: trying each
 * would cost everybody the wait for it.
 */
export class AuditRest {
  /** Monotonic milliseconds. */
  #heldAt = -Infinity;
  #restMs = REST_MS;

  /** How long ago such a row was last found held, milliseconds. */
  get heldMs(): number {
    return performance.now() - this.#heldAt;
  }

  /** Such a row was found held. */
  begin(): void {
    const goesOn = this.heldMs < this.#restMs + ANEW_MS;
    this.#restMs = goesOn ? Math.min(2 * this.#restMs, LONGEST_REST_MS) : REST_MS;
    this.#heldAt = performance.now();
  }

  /** Sends those of a batch away, while it lasts; they are settled then. */
  refuse(work: Work): void {
    if (this.heldMs >= this.#restMs) return;
    for (const envelope of [...work.values()].flat()) {
      if (envelope.kind === "command" && isAudited(envelope)) {
        envelope.settle({ kind: "overloaded" });
      }
    }
  }
}
