import { isWorthLessThanOne } from "../../../ledger/money/fees.ts";
import type { DepositRow } from "../../../ledger/rows.ts";
import { depositFailedPayload } from "../../../webhooks/payloads/deposit_failed.ts";
import { decided, type Decision, post, timeOf, type Verdict } from "../decision.ts";
import type { VanishedFact } from "../facts.ts";
import type { EventIds } from "../messages.ts";
import { type MerchantView, transferKey } from "../state.ts";
import { storedIdentifier } from "./confirm_deposit.ts";
import { endEvents } from "./end_events.ts";

/** How a pending deposit ends without money. */
export interface GivenUp {
  readonly to: "FAILED" | "CANCELLED";
  readonly reason: string;
  readonly eventIds: EventIds;
}

/**
 * Gives up a deposit whose transfer is proven never to become final. A deposit that was credited,
 * given up already, or is final and waits for its sweep, is left alone.
 */
export function failDeposit(view: MerchantView, fact: VanishedFact): Verdict<null> {
  const at = timeOf(view.state, fact.at);
  const { network, txid, logIndex } = fact.key;
  const deposit = view.records.deposits.get(transferKey(network, txid, logIndex));
  const changes = deposit?.status === "PENDING" && deposit.expiresAt !== null
    ? giveUpDeposit(view, deposit, { ...fact, to: "FAILED" }, at)
    : {};
  return decided(at, null, { ...changes, consumed: [fact.key] });
}

/** A given-up deposit's records: pending taken back, the merchant told. */
export function giveUpDeposit(
  view: MerchantView,
  deposit: DepositRow,
  end: GivenUp,
  at: number,
): Partial<Decision> {
  const { id, currency, network, amount } = deposit;
  const line = view.records.transactions.get(deposit.transactionSeq);
  if (line === undefined) {
    throw new Error(`Cannot give up a deposit as its statement line is missing: ${id}`);
  }
  const exempt = isWorthLessThanOne(amount, deposit.usdRate ?? "1");
  const address = deposit.addressId === null
    ? undefined
    : view.records.addressesById.get(deposit.addressId);
  const posting = { paymentId: id, leg: "given_up", currency, network, amount } as const;
  const postings = post({ ...posting, from: "pending", to: "world" });
  const ended = { ...line, status: end.to };
  return {
    postings,
    deposits: [{ ...deposit, status: end.to, reason: end.reason, updatedAt: at }],
    transactions: [ended],
    events: exempt || end.to === "CANCELLED" ? [] : endEvents(view.state, {
      ids: end.eventIds,
      type: "deposit.failed",
      payload: (eventId) =>
        depositFailedPayload({
          eventId,
          depositId: id,
          amount,
          currency,
          identifier: storedIdentifier(address),
          reason: end.reason,
          txHash: deposit.txid,
          address: deposit.address,
        }),
      line: ended,
      postings,
      at,
    }),
  };
}
