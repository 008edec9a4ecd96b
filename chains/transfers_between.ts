/**
 * The transfers of a transaction that bring a currency from one address to another, whichever spelling the
 * addresses are named in.
 *
 * @module
 */

import type { Currency } from "../ledger/money/pair.ts";
import type { Chain, Transfer } from "./chain.ts";

/** Ends of a transfer; one that is left out may be any address. */
export interface Ends {
  readonly currency: Currency;
  readonly from?: string;
  readonly to?: string;
}

/** Those of the transfers that have these ends, in their order. */
export function transfersBetween<T extends Pick<Transfer, "currency" | "eventFrom" | "eventTo">>(
  { eventAddress }: Pick<Chain, "eventAddress">,
  transfers: readonly T[],
  { currency, from, to }: Ends,
): T[] {
  const [eventFrom, eventTo] = [from, to].map((end) =>
    end === undefined ? null : eventAddress(end)
  );
  return transfers.filter((transfer) =>
    transfer.currency === currency &&
    (eventFrom === null || transfer.eventFrom === eventFrom) &&
    (eventTo === null || transfer.eventTo === eventTo)
  );
}
