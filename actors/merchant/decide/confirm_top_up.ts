import { isWorthLessThanOne, topUpFees } from "../../../ledger/money/fees.ts";
import { tokenDecimals } from "../../../ledger/money/pair.ts";
import { decided, timeOf, type Verdict } from "../decision.ts";
import type { SweptFact } from "../facts.ts";
import { type MerchantView, transferKey } from "../state.ts";
import { confirmDeposit } from "./confirm_deposit.ts";

/**
 * Confirms a top-up whose sweep is final: the money is in the hot wallet, so it becomes available less
 * the flat fee. One that was given up for dead before it became final has left pending, and its
 * money comes from the chain. Hearing it again changes nothing.
 *
 * @throws when no such top-up waits for its sweep: the planner tells of those only
 */
export function confirmTopUp(view: MerchantView, fact: SweptFact): Verdict<null> {
  const at = timeOf(view.state, fact.at);
  const { network, txid, logIndex } = fact.key;
  const deposit = view.records.deposits.get(transferKey(network, txid, logIndex));
  if (deposit?.status === "CONFIRMED") return decided(at, null, { consumed: [fact.key] });
  const line = deposit && view.records.transactions.get(deposit.transactionSeq);
  const address = view.records.addresses.get(`${network}/${fact.to}`);
  if (deposit === undefined || line === undefined || deposit.expiresAt !== null) {
    throw new Error(`Cannot confirm a top-up as none waits for its sweep: ${txid}/${logIndex}`);
  }
  if (address?.kind !== "top_up" || deposit.status === "CANCELLED") {
    throw new Error(`Cannot confirm a deposit by a sweep as it is no top-up: ${deposit.id}`);
  }
  const exempt = isWorthLessThanOne(deposit.amount, deposit.usdRate ?? "1");
  const changes = confirmDeposit(view, {
    at,
    deposit,
    line,
    fees: topUpFees(
      deposit.amount,
      view.state.merchant.directDepositFee,
      exempt,
      tokenDecimals(deposit.currency, network),
    ),
    exempt,
    address,
    from: deposit.status === "FAILED" ? "world" : "pending",
    chargeIds: fact.chargeIds,
    eventIds: fact.eventIds,
  });
  return decided(at, null, { ...changes, consumed: [fact.key] });
}
