import { getLogger } from "@logtape/logtape";
import type { Network } from "../../ledger/money/pair.ts";
import type { OutgoingRow } from "../../ledger/rows.ts";
import { type Postponed, postponeQueued } from "../../ledger/treasury/postpone_queued.ts";
import { returnQueued } from "../../ledger/treasury/return_queued.ts";
import type { Sql } from "postgres";

const log = getLogger(["engine", "treasury"]);

/** Milliseconds for which transfers are left alone, by the reason for their wait. */
export type Pause = Pick<Postponed, "firstMs" | "mostMs">;

/**
 * Pauses by what a transfer waits for. What only its own data can change is tried ever more seldom:
 * each try asks nodes. What all wait for, or what is seen to come, is tried soon.
 */
export const PAUSES = {
  /** The wallet lacks money: it is tried at once when more is there (see FundsWatch). */
  money: { firstMs: 3_000, mostMs: 30_000 },
  /** A deposit address lacks what its sweep needs, or stake is lacking: nothing tells when that comes. */
  address: { firstMs: 3_000, mostMs: 6_000 },
  /** Nodes do not answer, or are behind: no fault of the transfer's. */
  node: { firstMs: 3_000, mostMs: 30_000 },
  /** The signer signs nothing at all. */
  signer: { firstMs: 3_000, mostMs: 3_000 },
  /** Something about this transfer alone: it would fail, it is over a cap, its data is odd. */
  own: { firstMs: 3_000, mostMs: 600_000 },
} as const satisfies Record<string, Pause>;

/** Milliseconds for which transfers are left alone that were not tried, so that the next look meets others first. */
const UNTRIED_MS = 6_000;
/** The reason shown for a transfer that a node did not answer for. */
export const ANOTHER_TRY = "waiting for another try";
/** The reason shown for one that was not tried, as nodes did not answer for others of its currency. */
const UNTRIED = "waiting for nodes to answer";

/**
 * Transfers of one round that cannot be signed now, each with its reason. They are written together,
 * so that they are also tried together: one look at the wallet serves all of them.
 */
export class Waits {
  readonly #network: Network;
  readonly #rows = new Map<string, Postponed>();
  readonly #details = new Map<string, Readonly<Record<string, unknown>>>();
  /** Reasons of transfers that were not tried. */
  readonly #untried = new Map<string, string>();

  constructor(network: Network) {
    this.#network = network;
  }

  /** True for a transfer that is among them. */
  has(outgoingId: string): boolean {
    return this.#rows.has(outgoingId) || this.#untried.has(outgoingId);
  }

  /**
   * Adds a transfer.
   *
   * @param reason what the operator sees
   * @param detail what is logged besides when it begins to wait
   */
  add({ id, kind }: OutgoingRow, reason: string, pause: Pause, detail: string): void {
    this.#rows.set(id, { outgoingId: id, reason, ...pause });
    this.#details.set(id, { kind, detail });
  }

  /** Adds a transfer that was not tried, as nodes did not answer for others of its currency. */
  leave({ id, reason }: OutgoingRow): void {
    // one that was silent itself stays known as such: it is tried after the others
    this.#untried.set(id, reason === ANOTHER_TRY ? ANOTHER_TRY : UNTRIED);
  }

  /** Writes them down; what begins to wait for something is logged once, not at every try. */
  async write(sql: Sql): Promise<void> {
    const rows = [...this.#rows.values()];
    this.#rows.clear();
    const untried = [...this.#untried];
    this.#untried.clear();
    for (const said of [UNTRIED, ANOTHER_TRY]) {
      const ids = untried.filter(([, reason]) => reason === said).map(([id]) => id);
      await returnQueued(sql, ids, said, UNTRIED_MS);
    }
    const begun = await postponeQueued(sql, rows);
    for (const { outgoingId, reason } of rows) {
      if (!begun.has(outgoingId)) continue;
      log.warn("{network}: {outgoingId} ({kind}) waits, {reason}: {detail}", {
        network: this.#network,
        outgoingId,
        reason,
        ...this.#details.get(outgoingId),
      });
    }
    this.#details.clear();
  }
}
