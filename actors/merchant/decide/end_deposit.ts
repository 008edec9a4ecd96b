import { add, type Amount } from "../../../ledger/money/amount.ts";
import { type DepositFees, isWorthLessThanOne } from "../../../ledger/money/fees.ts";
import type {
  Account,
  ChargeRow,
  DepositAddressRow,
  DepositRow,
  TransactionRow,
} from "../../../ledger/rows.ts";
import { depositConfirmedPayload } from "../../../webhooks/payloads/deposit_confirmed.ts";
import { depositFailedPayload } from "../../../webhooks/payloads/deposit_failed.ts";
import { decided, type Decision, type DecisionResult, post, timeOf } from "../decision.ts";
import type { VanishedEvent } from "../chain_events.ts";
import type { EventIds } from "../messages.ts";
import { type MerchantView, transferKey } from "../state.ts";
import { endEvents } from "./end_events.ts";
import { earnMargin, type Margin, payMargin } from "./margin.ts";

export interface Confirmation {
  readonly at: number;
  readonly deposit: DepositRow;
  readonly line: TransactionRow;
  readonly fees: DepositFees;
  /** Under the 1 USD threshold: no event is made. */
  readonly exempt: boolean;
  /** The address, where the deposit came in on one. */
  readonly address: DepositAddressRow | undefined;
  /** Where the amount comes from: pending, or the chain itself when it had been given up. */
  readonly from: "pending" | "world";
  readonly chargeIds: readonly [string, string];
  readonly eventIds: EventIds;
}

/** A confirmed deposit's records: fees and margin taken, the rest available, the events made. */
export function confirmDeposit(
  view: MerchantView,
  confirmation: Confirmation,
): Partial<Decision> {
  const { state } = view;
  const { at, fees, line, exempt, address, from } = confirmation;
  const isTopUp = address?.kind === "top_up";
  const activates = !isTopUp &&
    (fees.activationFee > 0n || (address?.activated === false && !exempt));
  const { id: paymentId, currency, network, amount } = confirmation.deposit;
  const margin = earnMargin(state.merchant, { paymentId, currency, network, volume: amount, at }, [
    { leg: "commission", account: "commission", fee: fees.commission },
    { leg: "activation_fee", account: "activation_fee", fee: fees.activationFee },
    { leg: "direct_deposit_fee", account: "direct_deposit_fee", fee: fees.flatFee },
  ]);
  const fixedFee = add(fees.activationFee, fees.flatFee);
  const deposit: DepositRow = {
    ...confirmation.deposit,
    status: "CONFIRMED",
    reason: null,
    commission: fees.commission,
    fixedFee,
    margin: margin.amount,
    marginTo: margin.to,
    updatedAt: at,
    clearedAt: at,
  };
  const due = payMargin(deposit, at);
  const postings = [...creditPostings(deposit, from, fees), ...margin.postings, ...due.postings];
  const ended: TransactionRow = {
    ...line,
    status: "CONFIRMED",
    effect: add(fees.receivable, margin.own),
    fee: add(fees.commission, fixedFee),
    height: deposit.height,
  };
  return {
    postings,
    deposits: [deposit],
    transactions: [ended],
    charges: depositCharges(view, deposit, fees, confirmation.chargeIds, at),
    margins: margin.rows,
    inbox: due.inbox,
    addresses: activates && address !== undefined ? [{ ...address, activated: true }] : [],
    events: exempt ? [] : endEvents(state, {
      ids: confirmation.eventIds,
      type: "deposit.confirmed",
      payload: (eventId) =>
        depositConfirmedPayload({
          ...fees,
          eventId,
          depositId: deposit.id,
          amount,
          currency,
          identifier: storedIdentifier(address),
          txHash: deposit.txid,
          referenceId: deposit.referenceId,
          address: deposit.address,
          isTopUp,
        }),
      line: ended,
      postings,
      at,
    }),
  };
}

/** An end customer's identifier as the merchant is shown it. */
function storedIdentifier(address: DepositAddressRow | undefined): string | null {
  if (address === undefined || address.identifier === null) return null;
  return `${address.merchantId}_${address.identifier}`;
}

function creditPostings(
  deposit: DepositRow,
  from: "pending" | "world",
  fees: DepositFees,
): Margin["postings"] {
  const { id: paymentId, currency, network } = deposit;
  const move = (leg: string, to: Account, amount: Amount) =>
    post({ paymentId, leg, from, to, currency, network, amount });
  return [
    ...move("credit", "available", fees.receivable),
    ...move("commission", "commission", fees.commission),
    ...move("activation_fee", "activation_fee", fees.activationFee),
    ...move("direct_deposit_fee", "direct_deposit_fee", fees.flatFee),
  ];
}

function depositCharges(
  view: MerchantView,
  deposit: DepositRow,
  fees: DepositFees,
  chargeIds: readonly [string, string],
  at: number,
): readonly ChargeRow[] {
  const taken = [
    { type: "DEPOSIT_COMMISSION", amount: fees.commission, id: chargeIds[0] },
    { type: "ADDRESS_ACTIVATION", amount: fees.activationFee, id: chargeIds[1] },
    // a top-up pays no commission, so that the first id is free
    { type: "DIRECT_DEPOSIT", amount: fees.flatFee, id: chargeIds[0] },
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

/** The end of a pending deposit without money. */
export interface GivenUp {
  readonly to: "FAILED" | "CANCELLED";
  readonly reason: string;
  readonly eventIds: EventIds;
}

/**
 * Gives up a deposit whose transfer is proven never to become final. A deposit that was credited,
 * given up already, or is final and waits for its sweep, is left alone.
 */
export function failDeposit(view: MerchantView, event: VanishedEvent): DecisionResult<null> {
  const at = timeOf(view.state, event.at);
  const { network, txid, logIndex } = event.key;
  const deposit = view.records.deposits.get(transferKey(network, txid, logIndex));
  const changes = deposit?.status === "PENDING" && deposit.expiresAt !== null
    ? giveUpDeposit(view, deposit, { ...event, to: "FAILED" }, at)
    : {};
  return decided(at, null, { ...changes, consumed: [event.key] });
}

/** A given-up deposit's records: pending taken back, the events made. */
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
