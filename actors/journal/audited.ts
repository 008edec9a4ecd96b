/**
 * Commands whose effect is audited: an administrator's, or a change of a profile. All of them need the
 * head of the audit and the rules of approvals, so what is wrong with one may be wrong for all.
 *
 * @module
 */

import { isAudited } from "../merchant/decide/audit.ts";
import type { Batch } from "./decide_batch.ts";
import type { QueuedMessage } from "./queue.ts";

/** Time for which audited commands are refused at first, milliseconds; doubling while it goes on. */
const FIRST_MS = 5_000;
const LONGEST_MS = 60_000;
/** A row that is found locked so long after a pause is found anew, milliseconds. */
const ANEW_MS = 10_000;

/** The audited commands of a batch, and everything else in it. */
export function apartFromAudited(
  batch: Batch,
): { readonly audited: Batch; readonly others: Batch } {
  const audited = new Map<string, readonly QueuedMessage[]>();
  const others = new Map<string, readonly QueuedMessage[]>();
  for (const [merchantId, messages] of batch) {
    const ruled = messages.filter(({ message }) => isAudited(message));
    const free = messages.filter(({ message }) => !isAudited(message));
    if (ruled.length > 0) audited.set(merchantId, ruled);
    if (free.length > 0) others.set(merchantId, free);
  }
  return { audited, others };
}

/**
 * Refuses audited commands for a while after a row that all of them need was found locked: trying each
 * would cost all merchants the wait for it.
 */
export class AuditPause {
  /** Monotonic milliseconds. */
  #lockedAt = -Infinity;
  #pauseMs = FIRST_MS;

  /** Milliseconds since such a row was last found locked. */
  get lockedMs(): number {
    return performance.now() - this.#lockedAt;
  }

  /** Such a row was found locked. */
  begin(): void {
    const goesOn = this.lockedMs < this.#pauseMs + ANEW_MS;
    this.#pauseMs = goesOn ? Math.min(2 * this.#pauseMs, LONGEST_MS) : FIRST_MS;
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
