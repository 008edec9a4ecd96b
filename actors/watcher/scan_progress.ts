import { getLogger } from "@logtape/logtape";
import type { Network } from "../../ledger/money/pair.ts";
import type { CatchUp } from "./watcher_status.ts";

const log = getLogger(["engine", "watcher"]);

/** Blocks behind from which on reading is called catching up: five minutes of a chain. */
const FAR_BEHIND = 100;
/** How often progress is told. */
const TELL_MS = 5_000;

/** Tells how catching up goes: every few seconds in the log, always to whoever asks. */
export class ScanProgress {
  readonly #network: Network;
  readonly #monotonic: () => number;
  #began: { readonly at: number; readonly height: number } | null = null;
  #toldAt = 0;
  #toldHeight = 0;
  #state: CatchUp | null = null;

  constructor(network: Network, monotonic: () => number) {
    this.#network = network;
    this.#monotonic = monotonic;
  }

  /** What is known now; null while the scan is in step. */
  get state(): CatchUp | null {
    return this.#state;
  }

  /** Notes how far the scan is. @param target newest solid block of the chain */
  note(height: number, target: number): void {
    const now = this.#monotonic();
    const left = Math.max(0, target - height);
    if (this.#began === null) {
      if (left < FAR_BEHIND) return;
      this.#began = { at: now, height };
      this.#toldAt = now;
      this.#toldHeight = height;
      this.#state = { perSecond: 0, left };
      log.info("{network} catches up from block {height} on: {left} blocks", {
        network: this.#network,
        height,
        left,
      });
      return;
    }
    if (left === 0) return this.#end(height);
    const passed = now - this.#toldAt;
    if (passed < TELL_MS) {
      this.#state = { perSecond: this.#state?.perSecond ?? 0, left };
      return;
    }
    const perSecond = (height - this.#toldHeight) / (passed / 1_000);
    this.#state = { perSecond, left };
    this.#toldAt = now;
    this.#toldHeight = height;
    log.info("{network} catches up: block {height}, {perSecond} blocks/s, {left} left{rest}", {
      network: this.#network,
      height,
      perSecond: Math.round(perSecond),
      left,
      rest: perSecond < 1 ? "" : `, about ${Math.ceil(left / perSecond)} s`,
    });
  }

  #end(height: number): void {
    const { at, height: from } = this.#began ?? { at: this.#monotonic(), height };
    const seconds = Math.max(0.001, (this.#monotonic() - at) / 1_000);
    log.info("{network} has caught up at block {height}: {blocks} blocks in {seconds} s", {
      network: this.#network,
      height,
      blocks: height - from,
      seconds: Math.round(seconds),
    });
    this.#began = null;
    this.#state = null;
  }
}
