import type { OutgoingRow } from "../../../ledger/rows.ts";
import type { Decision } from "../decision.ts";
import type { EventIds } from "../messages.ts";
import type { MerchantView } from "../state.ts";
import { refund } from "./refund.ts";

/** Time, reason and identifiers of the refund that gives a payout up. */
export interface GiveUp {
  readonly at: number;
  readonly reason: string;
  readonly chargeIds: readonly [string, string];
  readonly eventIds: EventIds;
}

/**
 * The records of a payout that is refunded in the commit that makes it: what was reserved and charged
 * is there with its reversal, and the treasury's row begins its life as void, so that no moment exists
 * in which it could be signed.
 *
 * @param opened the records as `openPayout` makes them, with a row of the treasury's
 * @throws when there is not exactly one withdrawal and one statement line
 */
export function giveUpAtOnce(
  { state }: Pick<MerchantView, "state">,
  opened: Partial<Decision>,
  giveUp: GiveUp,
): Partial<Decision> {
  const { withdrawals = [], transactions = [], charges = [], outgoing = [] } = opened;
  const { postings = [], margins = [] } = opened;
  const [withdrawal] = withdrawals;
  const [line] = transactions;
  if (withdrawal === undefined || line === undefined) {
    throw new Error("Cannot give a payout up as it was not opened");
  }
  const after = {
    state: { ...state, chargeSeq: state.chargeSeq + charges.length },
    records: { transactions: new Map([[line.seq, line]]) },
  };
  const back = refund(after, withdrawal, { ...giveUp, txid: null, height: null }, "queued");
  return {
    ...back,
    postings: [...postings, ...back.postings ?? []],
    charges: [...charges, ...back.charges ?? []],
    margins: [...margins, ...back.margins ?? []],
    outgoing: outgoing.map((row): OutgoingRow => ({
      ...row,
      status: "void",
      reason: giveUp.reason,
    })),
    voided: [],
  };
}
