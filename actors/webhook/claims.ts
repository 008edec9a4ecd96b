import { logEvent } from "../../log/log_event.ts";
import { classifyDatabaseError } from "../../ledger/database/database_errors.ts";
import type { ClaimedEvent, Outbox, Want } from "../../ledger/outbox/outbox.ts";

/** Pause of an endpoint whose claim was refused, milliseconds; doubling. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * Claims for many endpoints at once, each of which may spoil the statement: what the database refuses
 * is claimed in halves, until the endpoint that it refuses stands alone. That one is left alone for a
 * growing while, and costs the others nothing meanwhile.
 */
export class Claims {
  /** Next claims for endpoints that were refused, by the monotonic clock. */
  readonly #refused = new Map<string, { readonly until: number; readonly pauseMs: number }>();

  /** @param monotonic milliseconds of a clock that is never set */
  constructor(
    private readonly outbox: Pick<Outbox, "claim">,
    private readonly monotonic: () => number = () => performance.now(),
  ) {}

  /** Endpoints whose last claim the database refused. */
  get refused(): number {
    return this.#refused.size;
  }

  /** True where an endpoint's claim was refused a short while ago. */
  leavesAlone(merchantId: string): boolean {
    return (this.#refused.get(merchantId)?.until ?? -Infinity) > this.monotonic();
  }

  /**
   * Claims, in halves where the database refuses it.
   *
   * @param onClaimed called with each part at once: a half that fails later takes nothing of it back
   * @throws when the database is away
   */
  async claim(
    wants: readonly Want[],
    onClaimed: (wants: readonly Want[], events: readonly ClaimedEvent[]) => void,
  ): Promise<void> {
    let events: readonly ClaimedEvent[];
    try {
      events = await this.outbox.claim(wants);
    } catch (error) {
      if (classifyDatabaseError(error) === "connection") throw error;
      const [first] = wants;
      if (wants.length > 1) {
        const middle = wants.length >> 1;
        await this.claim(wants.slice(0, middle), onClaimed);
        await this.claim(wants.slice(middle), onClaimed);
      } else if (first !== undefined) {
        this.#leaveAlone(first.merchantId, error);
      }
      return;
    }
    if (this.#refused.size > 0) {
      for (const { merchantId } of wants) this.#refused.delete(merchantId);
    }
    onClaimed(wants, events);
  }

  #leaveAlone(merchantId: string, error: unknown): void {
    const before = this.#refused.get(merchantId)?.pauseMs ?? FIRST_PAUSE_MS / 2;
    const pauseMs = Math.min(before * 2, LONGEST_PAUSE_MS);
    this.#refused.set(merchantId, { until: this.monotonic() + pauseMs, pauseMs });
    logEvent("callback.claim_refused", {
      merchantId,
      pauseMs,
      error,
    });
  }
}
