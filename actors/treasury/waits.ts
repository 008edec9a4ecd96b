import { logEvent } from "../../log/log_event.ts";
import type { Sql } from "postgres";
import type { ChainUnavailable } from "../../chains/chain.ts";
import type { Network, OutgoingAsset } from "../../ledger/money/pair.ts";
import type { OutgoingRow } from "../../ledger/rows.ts";
import { type Postponed, postponeQueued, returnQueued } from "../../ledger/treasury/queue.ts";

/** Milliseconds for which transfers are left alone, by the reason for their wait. */
export type Pause = Pick<Postponed, "firstMs" | "mostMs">;

/**
 * Pauses by what a transfer waits for. What only its own data can change is tried ever more seldom:
 * each try asks nodes. What all wait for, or what is seen to come, is tried soon.
 */
export const PAUSES = {
  /** The wallet lacks money: it is tried at once when more is there (see FundsWatch). */
  money: { firstMs: 3_000, mostMs: 30_000 },
  /** A deposit address lacks what its sweep needs, or the hot wallet has none left to delegate: nothing tells when that comes. */
  address: { firstMs: 3_000, mostMs: 6_000 },
  /** Nodes do not answer, or are behind: no fault of the transfer's. */
  node: { firstMs: 3_000, mostMs: 30_000 },
  /** The signer signs nothing at all. */
  signer: { firstMs: 3_000, mostMs: 3_000 },
  /** Something about this transfer alone: it would fail, it is over a cap, its data is odd. */
  own: { firstMs: 3_000, mostMs: 600_000 },
} as const satisfies Record<string, Pause>;

/** Milliseconds for which transfers are left alone that were not tried, so that the next poll meets others first. */
const UNTRIED_MS = 6_000;
/** Transfers that a line of the log names. */
const MOST_NAMED = 5;
/** The reason shown for a transfer that a node did not answer for. */
export const ANOTHER_TRY = "waiting for another try";
/** The reason shown for one that was not tried, as nodes did not answer for others of its currency. */
const UNTRIED = "waiting for nodes to answer";
/** The reason shown for one whose payer has as many transactions in no block as nodes hold of it. */
export const WAITS_FOR_LANE = "waiting for earlier transactions of its wallet";

/**
 * Transfers of one round that cannot be signed now, each with its reason. They are written together,
 * so that they are also tried together: one poll of the wallet serves all of them.
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

  /** Number of transfers that were added since the last write. */
  get count(): number {
    return this.#rows.size + this.#untried.size;
  }

  /**
   * Adds a transfer that was not tried.
   *
   * @param said what the operator sees; default: nodes did not answer for others of its currency
   */
  leave({ id, reason }: OutgoingRow, said = UNTRIED): void {
    // one that was silent itself stays known as such: it is tried after the others
    this.#untried.set(id, reason === ANOTHER_TRY ? ANOTHER_TRY : said);
  }

  /** Writes them down; what begins to wait for something is logged once, in one line for each reason. */
  async write(sql: Sql): Promise<void> {
    const rows = [...this.#rows.values()];
    this.#rows.clear();
    const untried = [...this.#untried];
    this.#untried.clear();
    for (const said of [UNTRIED, ANOTHER_TRY, WAITS_FOR_LANE]) {
      const ids = untried.filter(([, reason]) => reason === said).map(([id]) => id);
      await returnQueued(sql, ids, said, UNTRIED_MS);
    }
    const begun = await postponeQueued(sql, rows);
    const news = rows.filter(({ outgoingId }) => begun.has(outgoingId));
    // some reasons name their transfer
    const alike = Map.groupBy(news, ({ outgoingId, reason }) => {
      const { kind } = this.#details.get(outgoingId) ?? {};
      return `${kind} ${reason.replaceAll(/out_[\w-]+/g, "...")}`;
    });
    for (const group of alike.values()) {
      const [first] = group;
      if (first === undefined) continue;
      logEvent("payout.waits", {
        network: this.#network,
        count: group.length,
        reason: first.reason,
        ...this.#details.get(first.outgoingId),
        transfers: group.slice(0, MOST_NAMED).map(({ outgoingId }) => outgoingId),
      });
    }
    this.#details.clear();
  }
}

/** After so many transfers of a currency in a row that nodes did not answer for, its newest is tried. */
const DOUBTFUL_AFTER = 3;

/** Record of nodes' answers for the transfers of one currency. */
interface Tally {
  /** Unanswered ones since the last that was answered for. */
  inARow: number;
  hasAnswer: boolean;
  readonly unanswered: OutgoingRow[];
}

/**
 * Transfers of one round that nodes did not answer for. Either those are to blame, or their currency,
 * or the nodes are away: so they are counted by currency, and before a currency is given up for the
 * round its newest transfer is tried as well.
 */
export class Silences {
  readonly #tallies = new Map<OutgoingAsset, Tally>();
  readonly #details = new Map<string, string>();
  #last: ChainUnavailable | null = null;

  /** Error of the last one of them. */
  get last(): ChainUnavailable | null {
    return this.#last;
  }

  /** Currencies of which no more are tried in this round. */
  get givenUp(): readonly OutgoingAsset[] {
    return [...this.#tallies.keys()].filter((currency) => this.#isGivenUp(currency));
  }

  /** Takes the next transfer to be tried out of those that are left; undefined: none is. */
  next<Row extends OutgoingRow>(left: Row[]): Row | undefined {
    for (let row = left.shift(); row !== undefined; row = left.shift()) {
      const { currency } = row;
      if (this.#isGivenUp(currency)) continue;
      if (this.#tallyOf(currency).inARow < DOUBTFUL_AFTER) return row;
      const newest = left.findLastIndex((one) => one.currency === currency);
      if (newest < 0) return row;
      left.unshift(row);
      return left.splice(newest + 1, 1)[0];
    }
    return undefined;
  }

  answered({ currency }: OutgoingRow): void {
    const tally = this.#tallyOf(currency);
    tally.inARow = 0;
    tally.hasAnswer = true;
  }

  unanswered(row: OutgoingRow, error: ChainUnavailable): void {
    const tally = this.#tallyOf(row.currency);
    tally.inARow++;
    tally.unanswered.push(row);
    this.#details.set(row.id, error.message);
    this.#last = error;
  }

  /**
   * Has them wait: those alone that failed while others of their currency were answered for are tried
   * ever more seldom.
   */
  addTo(waits: Waits): void {
    for (const { hasAnswer, unanswered } of this.#tallies.values()) {
      const pause = hasAnswer ? PAUSES.own : PAUSES.node;
      for (const row of unanswered) {
        waits.add(row, ANOTHER_TRY, pause, this.#details.get(row.id) ?? "");
      }
    }
  }

  #isGivenUp(currency: OutgoingAsset): boolean {
    return this.#tallyOf(currency).inARow > DOUBTFUL_AFTER;
  }

  #tallyOf(currency: OutgoingAsset): Tally {
    const known = this.#tallies.get(currency);
    if (known !== undefined) return known;
    const tally: Tally = { inARow: 0, hasAnswer: false, unanswered: [] };
    this.#tallies.set(currency, tally);
    return tally;
  }
}

/** Transfers in the order in which they are tried: those last that a node did not answer for before. */
export function silentLast<Row extends OutgoingRow>(rows: readonly Row[]): Row[] {
  const wasSilent = ({ reason }: OutgoingRow) => reason === ANOTHER_TRY;
  return [...rows.filter((row) => !wasSilent(row)), ...rows.filter(wasSilent)];
}

/** Milliseconds for which a currency is left alone whose cap of the day is reached. */
const CAPPED_MS = 60_000;
/** The same while the signer signs nothing at all. */
const CLOSED_MS = 3_000;
/** Transfers that find out whether a currency is signed for again. */
const PROBES = 4;

/** Cause for which a currency is not signed for: its cap of the day is reached, or nothing is signed at all. */
type HoldCause = "capped" | "closed";

/**
 * Currencies that the signer does not sign for at the moment. Preparing a transfer asks nodes, so
 * none is prepared while that would be in vain, and then only a few at first. Kept in memory: it
 * saves calls, and nothing depends on it.
 */
export class CurrencyHolds {
  readonly #now: () => number;
  readonly #until = new Map<OutgoingAsset, number>();

  /** @param now monotonic milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Currencies of which nothing is to be prepared now. */
  get held(): readonly OutgoingAsset[] {
    return [...this.#until].filter(([, until]) => until > this.#now()).map(([asset]) => asset);
  }

  /** The most transfers of a currency that are to be prepared now. */
  most(asset: OutgoingAsset): number {
    const until = this.#until.get(asset);
    if (until === undefined) return Infinity;
    return until > this.#now() ? 0 : PROBES;
  }

  /** Holds a currency of which a transfer was refused for a cause that all of it share. */
  refused(asset: OutgoingAsset, cause: HoldCause): void {
    this.#until.set(asset, this.#now() + (cause === "capped" ? CAPPED_MS : CLOSED_MS));
  }

  /** Ends the hold of a currency of which a transfer was signed. */
  signed(asset: OutgoingAsset): void {
    this.#until.delete(asset);
  }
}
