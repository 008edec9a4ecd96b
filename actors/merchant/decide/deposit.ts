/**
 * The records of a deposit, as it is opened, confirmed or given up: by the chain or by hand.
 *
 * @module
 */

import { add, ZERO } from "../../../ledger/money/amount.ts";
import { depositFees, isWorthLessThanOne, topUpFees } from "../../../ledger/money/fees.ts";
import { tokenDecimals } from "../../../ledger/money/pair.ts";
import type { DepositRow, Hands, TransactionRow } from "../../../ledger/payment_rows.ts";
import type { DepositAddressRow, EventRow } from "../../../ledger/rows.ts";
import { depositConfirmedPayload, depositFailedPayload } from "../../../webhooks/events.ts";
import { type Decision, post, type Posting } from "../decision.ts";
import type { EndIds, EventIds } from "../messages.ts";
import type { MerchantState, MerchantView } from "../state.ts";
import { earnMargin, payMargin } from "./margin.ts";
import { chargesOf, endEvents, lineOf, newLine, withheldEvent } from "./statement.ts";

/** The word of one administrator alone, or none yet. */
export const NOT_ENDORSED = { endorsedBy: null, endorsedAdmin: null } as const;

/** The columns of a deposit that its opening sets. */
type NewDeposit =
  & Pick<DepositRow, "id" | "currency" | "network" | "amount" | "source" | "usdRate" | "metadata">
  & Pick<DepositRow, "addressId" | "address" | "referenceId" | "description" | "commissionRate">
  & Pick<DepositRow, "txid" | "logIndex" | "sender" | "height" | "expiresAt" | "diesAfter">
  & Hands;

/** A deposit and its statement line. */
export interface OpenedDeposit {
  readonly deposit: DepositRow;
  readonly line: TransactionRow;
}

/** A deposit and its statement line as they begin: pending, without effect on available. */
export function openDeposit(
  state: MerchantState,
  given: NewDeposit,
  line: Pick<TransactionRow, "id" | "category">,
  at: number,
): OpenedDeposit {
  const { id: paymentId, currency, network, txid, height } = given;
  const opened = newLine(state, {
    ...line,
    paymentId,
    type: "DEPOSIT",
    currency,
    network,
    txid,
    height,
    fromAddress: given.sender,
    toAddress: given.address,
    referenceId: given.referenceId,
    description: given.description,
    createdAt: at,
  });
  return {
    deposit: {
      ...given,
      merchantId: state.merchant.merchantId,
      seq: state.depositSeq + 1,
      transactionSeq: opened.seq,
      status: "PENDING",
      reason: null,
      commission: ZERO,
      fixedFee: ZERO,
      margin: ZERO,
      marginTo: null,
      createdAt: at,
      updatedAt: at,
      clearedAt: null,
      ...NOT_ENDORSED,
    },
    line: opened,
  };
}

/** The posting that shows a deposit on the pending balance. */
export function pendingPosting(deposit: DepositRow): readonly Posting[] {
  return post(deposit, { leg: "seen", from: "world", to: "pending", amount: deposit.amount });
}

export interface Confirmation extends EndIds {
  readonly at: number;
  readonly deposit: DepositRow;
  readonly line: TransactionRow;
  /** US dollars per unit, as of the first sight, so that a rescan decides the same. */
  readonly usdRate: string;
  /** The address, where the deposit came in on one. */
  readonly address: DepositAddressRow | undefined;
  /** The source of the amount: pending, or the chain itself for one that had been given up. */
  readonly from: "pending" | "world";
}

/**
 * A confirmed deposit's records: fees and margin taken, what is left available, the events made. Under
 * the threshold of 1 USD it is free of fees and sends no event; a top-up pays a flat fee.
 */
export function confirmDeposit(
  { state }: Pick<MerchantView, "state">,
  { at, line, usdRate, address, from, chargeIds, eventIds, ...given }: Confirmation,
): Partial<Decision> & Pick<Decision, "postings" | "deposits"> {
  const { id, currency, network, amount, commissionRate } = given.deposit;
  const exempt = isWorthLessThanOne(amount, usdRate);
  const isTopUp = address?.kind === "top_up";
  const activates = !isTopUp && !exempt && address?.activated === false;
  const decimals = tokenDecimals(currency, network);
  const fees = isTopUp
    ? topUpFees(amount, state.merchant.directDepositFee, exempt, decimals)
    : depositFees(amount, commissionRate, exempt, activates, decimals);
  const { commission, activationFee, flatFee, receivable } = fees;
  const margin = earnMargin(state.merchant, { id, currency, network, volume: amount, at }, [
    { leg: "commission", account: "commission", fee: commission },
    { leg: "activation_fee", account: "activation_fee", fee: activationFee },
    { leg: "direct_deposit_fee", account: "direct_deposit_fee", fee: flatFee },
  ]);
  const fixedFee = add(activationFee, flatFee);
  const deposit: DepositRow = {
    ...given.deposit,
    status: "CONFIRMED",
    reason: null,
    commission,
    fixedFee,
    margin: margin.amount,
    marginTo: margin.to,
    updatedAt: at,
    clearedAt: at,
  };
  const due = payMargin(deposit, at);
  const postings = [
    ...post(deposit, { leg: "credit", from, to: "available", amount: receivable }),
    ...post(deposit, { leg: "commission", from, to: "commission", amount: commission }),
    ...post(deposit, { leg: "activation_fee", from, to: "activation_fee", amount: activationFee }),
    ...post(deposit, {
      leg: "direct_deposit_fee",
      from,
      to: "direct_deposit_fee",
      amount: flatFee,
    }),
    ...margin.postings,
    ...due.postings,
  ];
  const ended: TransactionRow = {
    ...line,
    status: "CONFIRMED",
    effect: add(receivable, margin.own),
    fee: add(commission, fixedFee),
    height: deposit.height,
  };
  return {
    postings,
    deposits: [deposit],
    transactions: [ended],
    charges: chargesOf(state, deposit, [
      { type: "DEPOSIT_COMMISSION", amount: commission, id: chargeIds[0] },
      { type: "ADDRESS_ACTIVATION", amount: activationFee, id: chargeIds[1] },
      // a top-up pays no commission, so that the first id is free
      { type: "DIRECT_DEPOSIT", amount: flatFee, id: chargeIds[0] },
    ], at),
    margins: margin.rows,
    inbox: due.inbox,
    addresses: activates ? [{ ...address, activated: true }] : [],
    events: (exempt ? withheld : endEvents)(state, {
      ids: eventIds,
      type: "deposit.confirmed",
      payload: (eventId) =>
        depositConfirmedPayload({
          ...fees,
          eventId,
          depositId: deposit.id,
          amount,
          currency,
          network,
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

/** The events of a deposit under the threshold: one for the log of deliveries, which nothing sends. */
function withheld(...end: Parameters<typeof withheldEvent>): readonly EventRow[] {
  return [withheldEvent(...end)];
}

/** An end customer's identifier as the merchant is shown it. */
function storedIdentifier(address: DepositAddressRow | undefined): string | null {
  if (address === undefined || address.identifier === null) return null;
  return `${address.merchantId}_${address.identifier}`;
}

/** The end of a pending deposit without money. */
export interface GivenUp {
  readonly to: "FAILED" | "CANCELLED";
  readonly reason: string;
  readonly eventIds: EventIds;
}

/** A given-up deposit's records: pending taken back, the events made. */
export function giveUpDeposit(
  { state, records }: MerchantView,
  deposit: DepositRow,
  { to: status, reason, eventIds }: GivenUp,
  at: number,
): Partial<Decision> & Pick<Decision, "deposits"> {
  const { id, currency, network, amount } = deposit;
  const line = { ...lineOf(records, deposit, "give up a deposit"), status };
  const exempt = isWorthLessThanOne(amount, deposit.usdRate ?? "1");
  const postings = post(deposit, { leg: "given_up", from: "pending", to: "world", amount });
  return {
    postings,
    deposits: [{ ...deposit, status, reason, updatedAt: at }],
    transactions: [line],
    events: status === "CANCELLED" ? [] : (exempt ? withheld : endEvents)(state, {
      ids: eventIds,
      type: "deposit.failed",
      payload: (eventId) =>
        depositFailedPayload({
          eventId,
          depositId: id,
          amount,
          currency,
          network,
          identifier: storedIdentifier(records.addressesById.get(deposit.addressId ?? "")),
          reason,
          txHash: deposit.txid,
          referenceId: deposit.referenceId,
          address: deposit.address,
        }),
      line,
      postings,
      at,
    }),
  };
}
