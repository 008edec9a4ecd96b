import { add, type Amount, subtract, ZERO } from "../ledger/amount.ts";

/** A confirmation that has begun. */
export interface UnderWay {
  /** What the same administrator was confirming already when it began. */
  readonly others: Amount;
  /** To be called when it is decided. */
  end(): void;
}

/**
 * Confirmations of deposits by hand that are not decided yet, by administrator: many small ones at
 * once must not each find the sum of the day below the limit of one administrator. Of two at once, the
 * later to begin counts the earlier one.
 */
export class ConfirmationsUnderWay {
  readonly #sums = new Map<string, Amount>();

  /** Begins one, before the sum of the day is read. */
  begin(administrator: string, amount: Amount): UnderWay {
    const others = this.#sums.get(administrator) ?? ZERO;
    this.#sums.set(administrator, add(others, amount));
    return {
      others,
      end: () => {
        const left = subtract(this.#sums.get(administrator) ?? ZERO, amount);
        if (left > ZERO) this.#sums.set(administrator, left);
        else this.#sums.delete(administrator);
      },
    };
  }
}
