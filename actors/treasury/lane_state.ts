import type { Network } from "../../ledger/money/pair.ts";
import type { PromisedNonce } from "../../ledger/lanes/open_nonces.ts";
import { logEvent } from "../../log/log_event.ts";
import { NOT_BEGUN } from "./lane_faults.ts";
import { ABOVE_CAP } from "./lane_turn.ts";

/** The lanes of a network as of the last poll. */
export interface LaneState {
  /** Reason of the hot wallet's lane for which nothing is signed; null: there is none. */
  readonly stopped: string | null;
  /** Deposit addresses whose lanes are closed, as their nonces are not those of the books. */
  readonly closed: number;
  /** Nonces that are promised and that no solid block has used. */
  readonly open: number;
  /** Those of them that no block shows. */
  readonly unseen: number;
  /** Time since the lowest of the hot wallet's was promised, milliseconds; null: none is open. */
  readonly lowestAgeMs: number | null;
  /** Transactions that wait as fees are above the cap. */
  readonly capped: number;
  /** Transactions that were replaced since the start. */
  readonly replaced: number;
}

/** Facts of a turn that the state is made of. */
export interface LaneFacts {
  /** All that are open. */
  readonly promised: readonly PromisedNonce[];
  readonly stopped: string | null;
  /** Reasons for which lanes of deposit addresses are closed, by payer. */
  readonly closed: ReadonlyMap<string, string>;
  readonly replaced: number;
}

/** Keeps the state of a network's lanes, and tells once what stops or closes one. */
export class LaneNotes {
  readonly #network: Network;
  #state: LaneState | null = null;
  #closed: ReadonlyMap<string, string> = new Map();
  /** Transfers that wait as fees are above the cap, by whose lanes were decided last. */
  readonly #capped = { hot: 0, addresses: 0 };

  constructor(network: Network) {
    this.#network = network;
  }

  /** Null before the first turn. */
  get state(): LaneState | null {
    return this.#state;
  }

  /** Keeps the facts of a turn. */
  note({ promised, stopped, closed, replaced }: LaneFacts): void {
    const network = this.#network;
    if (stopped !== null && stopped !== NOT_BEGUN && this.#state?.stopped !== stopped) {
      logEvent("treasury.lane_stopped", { network, reason: stopped });
    }
    for (const [payer, reason] of closed) {
      if (this.#closed.get(payer) === reason) continue;
      logEvent("treasury.lane_closed", { network, wallet: payer, reason });
    }
    this.#closed = closed;
    const unseen = promised.filter(({ attempts }) => !attempts.some(({ isSeen }) => isSeen));
    this.#state = {
      stopped,
      closed: closed.size,
      open: promised.length,
      unseen: unseen.length,
      lowestAgeMs: promised.find(({ payer }) => payer === "hot")?.ageMs ?? null,
      capped: this.#capped.hot + this.#capped.addresses,
      replaced,
    };
  }

  /** Keeps what transfers wait for, by id, in the lanes that were decided. */
  waiting(of: "hot" | "addresses", waits: ReadonlyMap<string, string>): void {
    this.#capped[of] = [...waits.values()].filter((reason) => reason === ABOVE_CAP).length;
    if (this.#state === null) return;
    this.#state = { ...this.#state, capped: this.#capped.hot + this.#capped.addresses };
  }
}
