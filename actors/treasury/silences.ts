import type { ChainUnavailable } from "../../chains/chain.ts";
import type { OutgoingAsset } from "../../ledger/money/pair.ts";
import type { OutgoingRow } from "../../ledger/rows.ts";
import { ANOTHER_TRY, PAUSES, type Waits } from "./waits.ts";

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
  next(left: OutgoingRow[]): OutgoingRow | undefined {
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
  tell(waits: Waits): void {
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
export function silentLast(rows: readonly OutgoingRow[]): OutgoingRow[] {
  const wasSilent = ({ reason }: OutgoingRow) => reason === ANOTHER_TRY;
  return [...rows.filter((row) => !wasSilent(row)), ...rows.filter(wasSilent)];
}
