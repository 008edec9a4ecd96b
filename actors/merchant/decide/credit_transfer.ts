import { depositFees, isWorthLessThanOne } from "../../../ledger/money/fees.ts";
import { tokenDecimals } from "../../../ledger/money/pair.ts";
import { decided, timeOf, type Verdict } from "../decision.ts";
import type { TransferFact } from "../facts.ts";
import { type MerchantView, transferKey } from "../state.ts";
import { claimOf, heldByClaim } from "./claim.ts";
import { confirmDeposit } from "./confirm_deposit.ts";
import { correctTransfer } from "./correct_transfer.ts";
import { holdTopUp } from "./hold_top_up.ts";
import { openDeposit, pendingPosting } from "./see_transfer.ts";

/**
 * Credits a transfer that is final. Works from any earlier state, also from FAILED: what is final
 * counts, whatever was thought of it before, also where it says another amount than was seen. A
 * transaction that a deposit booked by hand has claimed is not credited again.
 */
export function creditTransfer(view: MerchantView, fact: TransferFact): Verdict<null> {
  const at = timeOf(view.state, fact.at);
  const { network, txid, logIndex } = fact.key;
  const { deposits, transactions, addresses } = view.records;
  const existing = deposits.get(transferKey(network, txid, logIndex));
  const claim = claimOf(view.records, fact.key);
  if (claim?.status === "PENDING") return heldByClaim(claim);
  if (existing?.status === "CONFIRMED" || claim !== undefined) {
    return decided(at, null, { consumed: [fact.key] });
  }
  const seen = existing === undefined
    ? openDeposit(view, fact)
    : { deposit: existing, line: transactions.get(existing.transactionSeq) };
  if (seen.line === undefined) {
    throw new Error(`Cannot credit a deposit as its statement line is missing: ${seen.deposit.id}`);
  }
  const { deposit, line, corrections } = correctTransfer(seen.deposit, seen.line, fact);
  const address = addresses.get(`${network}/${fact.to}`);
  if (address?.kind === "top_up") {
    const changes = holdTopUp(deposit, line, fact, existing === undefined, at);
    return decided(at, null, {
      ...changes,
      postings: [...corrections, ...changes.postings ?? []],
      consumed: [fact.key],
    });
  }
  // the rate of the first sight decides, so that a rescan decides the same
  const exempt = isWorthLessThanOne(deposit.amount, deposit.usdRate ?? fact.usdRate);
  const activates = !exempt && address !== undefined && !address.activated;
  const decimals = tokenDecimals(deposit.currency, network);
  const fees = depositFees(deposit.amount, deposit.commissionRate, exempt, activates, decimals);
  const changes = confirmDeposit(view, {
    at,
    deposit: { ...deposit, height: fact.height },
    line,
    fees,
    exempt,
    address,
    // a failed deposit has already left pending: the money comes from the chain once more
    from: existing?.status === "FAILED" ? "world" : "pending",
    chargeIds: fact.chargeIds,
    eventIds: fact.eventIds,
  });
  return decided(at, null, {
    ...changes,
    postings: [
      ...(existing === undefined ? pendingPosting(deposit) : corrections),
      ...changes.postings ?? [],
    ],
    consumed: [fact.key],
  });
}
