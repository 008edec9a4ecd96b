import { add, negate } from "../../../ledger/money/amount.ts";
import type { Actor } from "../../../ledger/money/duties.ts";
import type { WithdrawalFees } from "../../../ledger/money/fees.ts";
import type { Currency, Network } from "../../../ledger/money/pair.ts";
import type { ChargeRow, OutgoingRow, WithdrawalRow } from "../../../ledger/rows.ts";
import { balancesAfter, type Decision, post, timeOf } from "../decision.ts";
import type { GiveUp } from "../messages.ts";
import type { MerchantView } from "../state.ts";
import { madeBy } from "./audit.ts";
import { refund } from "./end_payout.ts";
import { earnMargin } from "./margin.ts";

/** A payout that a withdrawal or a settlement asks for. */
export interface PayoutRequest {
  readonly at: number;
  readonly withdrawalId: string;
  readonly transactionId: string;
  readonly outgoingId: string;
  readonly chargeIds: readonly [string, string];
  readonly currency: Currency;
  readonly network: Network;
  readonly destination: string;
  readonly fromAddress: string | null;
  readonly referenceId: string | null;
  readonly description: string | null;
  /** The settlement that it carries out, null for a withdrawal. */
  readonly settlementId: string | null;
  /** True where it waits for an administrator before anything can leave. */
  readonly needsApproval: boolean;
  /** Who asked for it; absent: the service itself. */
  readonly by?: Actor;
}

/**
 * The records of a payout as it begins: funds reserved, fees charged, the statement line, and the
 * treasury's row, unless an administrator has to approve first.
 */
export function openPayout(
  view: MerchantView,
  request: PayoutRequest,
  fees: WithdrawalFees,
): Partial<Decision> {
  const { state } = view;
  const { merchantId } = state.merchant;
  const { currency, network, withdrawalId, settlementId, needsApproval } = request;
  const { amount } = fees;
  const at = timeOf(state, request.at);
  const transactionSeq = state.transactionSeq + 1;
  const posting = { paymentId: withdrawalId, from: "available", currency, network } as const;
  const margin = earnMargin(
    state.merchant,
    { paymentId: withdrawalId, currency, network, volume: amount, at },
    [{ leg: "commission", account: "commission", fee: fees.commission }],
  );
  const withdrawal: WithdrawalRow = {
    id: withdrawalId,
    merchantId,
    seq: settlementId === null ? state.withdrawalSeq + 1 : null,
    transactionSeq,
    settlementId,
    outgoingId: request.outgoingId,
    currency,
    network,
    amount,
    baseFee: fees.baseFee,
    markupRate: fees.markupRate,
    markupAmount: fees.markupAmount,
    networkFee: fees.networkFee,
    margin: margin.amount,
    marginTo: margin.to,
    destination: request.destination,
    referenceId: request.referenceId,
    description: request.description,
    status: needsApproval ? "PENDING_APPROVAL" : "PENDING",
    reason: null,
    txid: null,
    createdAt: at,
    processedAt: null,
    ...madeBy(request),
  };
  return {
    postings: [
      ...post({ ...posting, leg: "reserve", to: "reserved", amount }),
      ...post({ ...posting, leg: "commission", to: "commission", amount: fees.commission }),
      ...post({ ...posting, leg: "network_fee", to: "network_fee", amount: fees.networkFee }),
      ...margin.postings,
    ],
    withdrawals: [withdrawal],
    transactions: [{
      merchantId,
      seq: transactionSeq,
      id: request.transactionId,
      paymentId: withdrawalId,
      type: settlementId === null ? "WITHDRAWAL" : "SETTLEMENT",
      status: "PENDING",
      currency,
      network,
      effect: add(negate(fees.grossAmount), margin.own),
      fee: fees.totalFees,
      txid: null,
      height: null,
      fromAddress: request.fromAddress,
      toAddress: request.destination,
      referenceId: request.referenceId,
      description: request.description,
      category: null,
      createdAt: at,
    }],
    charges: charges(state.chargeSeq, merchantId, request, fees, at),
    outgoing: needsApproval ? [] : [outgoingRow(withdrawal, at)],
    margins: margin.rows,
  };
}

/** The treasury's row of a withdrawal. */
export function outgoingRow(withdrawal: WithdrawalRow, at: number): OutgoingRow {
  const { outgoingId: id, merchantId, network, currency, amount, destination } = withdrawal;
  return {
    id,
    merchantId,
    kind: withdrawal.settlementId === null ? "payout" : "settlement",
    paymentId: withdrawal.id,
    network,
    currency,
    amount,
    wallet: "hot",
    destination,
    status: "queued",
    reason: null,
    attempts: 0,
    leaseUntil: null,
    createdAt: at,
    updatedAt: at,
  };
}

function charges(
  seq: number,
  merchantId: string,
  request: PayoutRequest,
  fees: WithdrawalFees,
  at: number,
): readonly ChargeRow[] {
  const taken = [
    { type: "WITHDRAWAL_COMMISSION", amount: fees.commission, id: request.chargeIds[0] },
    { type: "NETWORK_FEE", amount: fees.networkFee, id: request.chargeIds[1] },
  ] as const;
  return taken.filter((charge) => charge.amount > 0n).map((charge, index) => ({
    merchantId,
    seq: seq + 1 + index,
    id: charge.id,
    paymentId: request.withdrawalId,
    type: charge.type,
    currency: request.currency,
    network: request.network,
    amount: charge.amount,
    createdAt: at,
  }));
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
  giveUp: GiveUp & { readonly at: number },
): Partial<Decision> {
  const { withdrawals = [], transactions = [], charges = [], outgoing = [] } = opened;
  const { postings = [], margins = [] } = opened;
  const [withdrawal] = withdrawals;
  const [line] = transactions;
  if (withdrawal === undefined || line === undefined) {
    throw new Error("Cannot give a payout up as it was not opened");
  }
  const after = {
    state: {
      ...state,
      balances: balancesAfter(state.balances, postings),
      chargeSeq: state.chargeSeq + charges.length,
    },
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
