import { logEvent } from "../../log/log_event.ts";
import type { Network } from "../../ledger/money/pair.ts";

/**
 * Holds a network's signing until the own scan has read what may have left its wallets unknown to these books. A machine or
 * volume that was set back to a copy is known by nothing else: what was paid since is queued in it once more, and is in blocks
 * that its scan has yet to read. Nonces that are promised already are not held, as no other transfer ever gets them.
 */
export class ScanGate {
  readonly #network: Network;
  #isHeld = false;
  /** Height that was waited for at the last look; null: none was, or it was not known. */
  #awaited: number | null = null;

  constructor(network: Network) {
    this.#network = network;
  }

  /** True where signing waits for the scan, as of the last look. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /**
   * Looks how far the scan is.
   *
   * @param from height that has to be read, known before the cursor was read; null: nodes have not said it yet
   * @param read height of the solid cursor; null: nothing was read yet
   */
  look(from: number | null, read: number | null): void {
    const network = this.#network;
    const last = this.#awaited;
    this.#isHeld = from === null || read === null || read < from;
    this.#awaited = this.#isHeld ? from : null;
    if (this.#awaited !== null && last === null) {
      logEvent("treasury.scan_awaited", { network, height: this.#awaited, read: read ?? "none" });
    } else if (last !== null && !this.#isHeld) {
      logEvent("treasury.scan_reached", { network, height: last });
    }
  }
}
