import { add, type Amount } from "../../../ledger/amount.ts";
import { type DepositFees, depositFees, isWorthLessThanOne } from "../../../ledger/fees.ts";
import { tokenDecimals } from "../../../ledger/pair.ts";
import type { ChargeRow, DepositAddressRow, DepositRow } from "../../../ledger/rows.ts";
import { depositConfirmedPayload } from "../../../webhooks/payloads/deposit_confirmed.ts";
import { decided, eventRow, post, timeOf, type Verdict } from "../decision.ts";
import type { TransferFact } from "../facts.ts";
import { type MerchantView, transferKey } from "../state.ts";
import { openDeposit, pendingPosting } from "./see_transfer.ts";

/**
 * Credits a transfer that is final: fees taken, the rest available, the merchant told. Works from
 * any earlier state, also from FAILED: what is final counts, whatever was thought of it before.
 */
export function creditTransfer(view: MerchantView, fact: TransferFact): Verdict<null> {
  const { state } = view;
  const at = timeOf(state, fact.at);
  const { network, txid, logIndex } = fact.key;
  const existing = view.records.deposits.get(transferKey(network, txid, logIndex));
  if (existing !== undefined && existing.status === "CONFIRMED") {
    return decided(at, null, { consumed: [fact.key] });
  }
  const { deposit, line } = existing === undefined
    ? openDeposit(view, fact)
    : { deposit: existing, line: view.records.transactions.get(existing.transactionSeq) };
  if (line === undefined) {
    throw new Error(`Cannot credit a deposit as its statement line is missing: ${deposit.id}`);
  }
  if (deposit.amount !== fact.amount || deposit.currency !== fact.currency) {
    throw new Error(`Cannot credit a deposit as its transfer has changed: ${deposit.id}`);
  }

  const address = view.records.addresses.get(`${network}/${fact.to}`);
  // the rate of the first sight decides, so that a rescan decides the same
  const exempt = isWorthLessThanOne(deposit.amount, deposit.usdRate ?? fact.usdRate);
  const activates = !exempt && address !== undefined && !address.activated;
  const decimals = tokenDecimals(deposit.currency, network);
  const fees = depositFees(deposit.amount, deposit.commissionRate, exempt, activates, decimals);
  const confirmed: DepositRow = {
    ...deposit,
    status: "CONFIRMED",
    reason: null,
    commission: fees.commission,
    fixedFee: fees.activationFee,
    height: fact.height,
    updatedAt: at,
    clearedAt: at,
  };
  return decided(at, null, {
    postings: creditPostings(deposit, existing, fees),
    deposits: [confirmed],
    transactions: [{
      ...line,
      status: "CONFIRMED",
      effect: fees.receivable,
      fee: add(fees.commission, fees.activationFee),
      height: fact.height,
    }],
    charges: depositCharges(view, confirmed, fees, fact, at),
    addresses: activates ? [{ ...address, activated: true }] : [],
    events: exempt ? [] : [eventRow(state, {
      id: fact.eventId,
      paymentId: deposit.id,
      type: "deposit.confirmed",
      at,
      payload: depositConfirmedPayload({
        eventId: fact.eventId,
        depositId: deposit.id,
        amount: deposit.amount,
        currency: deposit.currency,
        identifier: storedIdentifier(address),
        txHash: txid,
        referenceId: deposit.referenceId,
        address: deposit.address,
        isTopUp: false,
        ...fees,
      }),
    })],
    consumed: [fact.key],
  });
}

/** An end customer's identifier as the merchant is shown it. */
export function storedIdentifier(address: DepositAddressRow | undefined): string | null {
  if (address === undefined || address.identifier === null) return null;
  return `${address.merchantId}_${address.identifier}`;
}

function creditPostings(
  deposit: DepositRow,
  existing: DepositRow | undefined,
  fees: DepositFees,
): ReturnType<typeof post> {
  // a failed deposit has already left pending: the money comes from the chain once more
  const revived = existing?.status === "FAILED";
  const from = revived ? "world" : "pending";
  const { id: paymentId, currency, network } = deposit;
  const move = (leg: string, to: "available" | "commission" | "activation_fee", amount: Amount) =>
    post({ paymentId, leg, from, to, currency, network, amount });
  return [
    ...(existing === undefined ? pendingPosting(deposit) : []),
    ...move("credit", "available", fees.receivable),
    ...move("commission", "commission", fees.commission),
    ...move("activation_fee", "activation_fee", fees.activationFee),
  ];
}

function depositCharges(
  view: MerchantView,
  deposit: DepositRow,
  fees: DepositFees,
  fact: TransferFact,
  at: number,
): readonly ChargeRow[] {
  const taken = [
    { type: "DEPOSIT_COMMISSION", amount: fees.commission, id: fact.chargeIds[0] },
    { type: "ADDRESS_ACTIVATION", amount: fees.activationFee, id: fact.chargeIds[1] },
  ] as const;
  return taken.filter((charge) => charge.amount > 0n).map((charge, index) => ({
    merchantId: deposit.merchantId,
    seq: view.state.chargeSeq + 1 + index,
    id: charge.id,
    paymentId: deposit.id,
    type: charge.type,
    currency: deposit.currency,
    network: deposit.network,
    amount: charge.amount,
    createdAt: at,
  }));
}
