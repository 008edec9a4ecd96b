import { ZERO } from "../../../ledger/money/amount.ts";
import { depositFees, isWorthLessThanOne, topUpFees } from "../../../ledger/money/fees.ts";
import { tokenDecimals } from "../../../ledger/money/pair.ts";
import {
  type DepositRow,
  type InboxKey,
  NO_HANDS,
  type TransactionRow,
} from "../../../ledger/rows.ts";
import {
  decided,
  type Decision,
  type DecisionResult,
  post,
  type Posting,
  timeOf,
} from "../decision.ts";
import type { SweptEvent, TransferEvent } from "../chain_events.ts";
import { CLAIM, type MerchantView, type Records, transferKey } from "../state.ts";
import { confirmDeposit } from "./end_deposit.ts";

/** A deposit and its statement line as they begin. */
export interface OpenedDeposit {
  readonly deposit: DepositRow;
  readonly line: TransactionRow;
}

/**
 * The records of a transfer that is seen for the first time: pending, without effect on available.
 * What comes in on the merchant's own top-up address pays no percentage.
 */
function openDeposit(view: MerchantView, event: TransferEvent): OpenedDeposit {
  const { state } = view;
  const at = timeOf(state, event.at);
  const { merchantId, network, txid, logIndex } = event.key;
  const address = view.records.addresses.get(`${network}/${event.to}`);
  const isTopUp = address?.kind === "top_up";
  const referenceId = address?.referenceId ?? null;
  const transactionSeq = state.transactionSeq + 1;
  const { currency, amount } = event;
  return {
    deposit: {
      id: event.depositId,
      merchantId,
      seq: state.depositSeq + 1,
      transactionSeq,
      currency,
      network,
      amount,
      status: "PENDING",
      reason: null,
      source: isTopUp ? "top_up" : "onchain",
      referenceId,
      description: null,
      commission: ZERO,
      commissionRate: isTopUp ? "0" : state.merchant.depositCommissionRate,
      fixedFee: ZERO,
      usdRate: event.usdRate,
      margin: ZERO,
      marginTo: null,
      addressId: event.addressId,
      address: event.to,
      txid,
      logIndex,
      sender: event.from,
      height: event.height,
      expiresAt: event.expiresAt,
      metadata: { txHash: txid },
      createdAt: at,
      updatedAt: at,
      clearedAt: null,
      ...NO_HANDS,
      endorsedBy: null,
      endorsedAdmin: null,
    },
    line: {
      merchantId,
      seq: transactionSeq,
      id: event.transactionId,
      paymentId: event.depositId,
      type: "DEPOSIT",
      status: "PENDING",
      currency,
      network,
      effect: ZERO,
      fee: ZERO,
      txid,
      height: event.height,
      fromAddress: event.from,
      toAddress: event.to,
      referenceId,
      description: null,
      category: isTopUp ? "Top-up" : null,
      createdAt: at,
    },
  };
}

/** The posting that shows a transfer on the pending balance. */
export function pendingPosting(deposit: DepositRow): Decision["postings"] {
  return post({
    paymentId: deposit.id,
    leg: "seen",
    from: "world",
    to: "pending",
    currency: deposit.currency,
    network: deposit.network,
    amount: deposit.amount,
  });
}

/** Books a transfer that is in a block, but not yet in a solid one. Seeing it again changes nothing. */
export function seeTransfer(view: MerchantView, event: TransferEvent): DecisionResult<null> {
  const at = timeOf(view.state, event.at);
  const { network, txid, logIndex } = event.key;
  const claim = claimOf(view.records, event.key);
  if (claim?.status === "PENDING") return heldByClaim(claim);
  if (view.records.deposits.has(transferKey(network, txid, logIndex)) || claim !== undefined) {
    return decided(at, null, { consumed: [event.key] });
  }
  const { deposit, line } = openDeposit(view, event);
  return decided(at, null, {
    postings: pendingPosting(deposit),
    deposits: [deposit],
    transactions: [line],
    consumed: [event.key],
  });
}

/**
 * Credits a transfer that is final. Works from any earlier state, also from FAILED: what is final
 * counts, whatever was believed of it before, also where it says another amount than was seen. A
 * transaction that a deposit booked by hand has claimed is not credited again.
 */
export function creditTransfer(view: MerchantView, event: TransferEvent): DecisionResult<null> {
  const at = timeOf(view.state, event.at);
  const { network, txid, logIndex } = event.key;
  const { deposits, transactions, addresses } = view.records;
  const existing = deposits.get(transferKey(network, txid, logIndex));
  const claim = claimOf(view.records, event.key);
  if (claim?.status === "PENDING") return heldByClaim(claim);
  if (existing?.status === "CONFIRMED" || claim !== undefined) {
    return decided(at, null, { consumed: [event.key] });
  }
  const seen = existing === undefined
    ? openDeposit(view, event)
    : { deposit: existing, line: transactions.get(existing.transactionSeq) };
  if (seen.line === undefined) {
    throw new Error(`Cannot credit a deposit as its statement line is missing: ${seen.deposit.id}`);
  }
  const { deposit, line, corrections } = correctTransfer(seen.deposit, seen.line, event);
  const address = addresses.get(`${network}/${event.to}`);
  if (address?.kind === "top_up") {
    const changes = holdTopUp(deposit, line, event, existing === undefined, at);
    return decided(at, null, {
      ...changes,
      postings: [...corrections, ...changes.postings ?? []],
      consumed: [event.key],
    });
  }
  // the rate of the first sight decides, so that a rescan decides the same
  const exempt = isWorthLessThanOne(deposit.amount, deposit.usdRate ?? event.usdRate);
  const activates = !exempt && address !== undefined && !address.activated;
  const decimals = tokenDecimals(deposit.currency, network);
  const fees = depositFees(deposit.amount, deposit.commissionRate, exempt, activates, decimals);
  const changes = confirmDeposit(view, {
    at,
    deposit: { ...deposit, height: event.height },
    line,
    fees,
    exempt,
    address,
    // a failed deposit has already left pending: the money comes from the chain once more
    from: existing?.status === "FAILED" ? "world" : "pending",
    chargeIds: event.chargeIds,
    eventIds: event.eventIds,
  });
  return decided(at, null, {
    ...changes,
    postings: [
      ...(existing === undefined ? pendingPosting(deposit) : corrections),
      ...changes.postings ?? [],
    ],
    consumed: [event.key],
  });
}

/** A deposit as its transfer became final. */
export interface CorrectedDeposit {
  readonly deposit: DepositRow;
  readonly line: TransactionRow;
  /** What makes pending agree; nothing where nothing was pending, or nothing has changed. */
  readonly corrections: readonly Posting[];
}

/**
 * Puts a deposit right whose transfer is final with other details than it was seen with. A contract
 * (an exchange that pays out to the address) runs again in the block that replaces the first one,
 * and may then pay another amount under the same transaction and log index.
 */
function correctTransfer(
  deposit: DepositRow,
  line: TransactionRow,
  event: TransferEvent,
): CorrectedDeposit {
  const { currency, amount, from: sender } = event;
  if (deposit.amount === amount && deposit.currency === currency) {
    return { deposit, line, corrections: [] };
  }
  const { id: paymentId, network } = deposit;
  const corrections = deposit.status !== "PENDING" ? [] : [
    ...post({
      paymentId,
      leg: "seen_wrong",
      from: "pending",
      to: "world",
      currency: deposit.currency,
      network,
      amount: deposit.amount,
    }),
    ...post({
      paymentId,
      leg: "corrected",
      from: "world",
      to: "pending",
      currency,
      network,
      amount,
    }),
  ];
  return {
    deposit: { ...deposit, currency, amount, sender },
    line: { ...line, currency, fromAddress: sender },
    corrections,
  };
}

/**
 * A top-up whose transfer is final. It stays pending, because only the sweep that carries it to the
 * master wallet makes it available; having no expiry any more says that it cannot be given up. One
 * that was given up for dead stays so until its sweep confirms it, with money from the chain.
 *
 * @param isNew whether nothing was booked for it yet
 */
function holdTopUp(
  deposit: DepositRow,
  line: TransactionRow,
  event: TransferEvent,
  isNew: boolean,
  at: number,
): Partial<Decision> {
  if (!isNew && deposit.expiresAt === null) return {};
  const { height } = event;
  return {
    postings: isNew ? pendingPosting(deposit) : [],
    deposits: [{ ...deposit, expiresAt: null, height, updatedAt: at }],
    transactions: [{ ...line, height }],
  };
}

/**
 * Confirms a top-up whose sweep is final: the money is in the hot wallet, so it becomes available less
 * the flat fee. One that was given up for dead before it became final has left pending, and its
 * money comes from the chain. Hearing it again changes nothing.
 *
 * @throws when no such top-up waits for its sweep: the planner tells of those only
 */
export function confirmTopUp(view: MerchantView, event: SweptEvent): DecisionResult<null> {
  const at = timeOf(view.state, event.at);
  const { network, txid, logIndex } = event.key;
  const deposit = view.records.deposits.get(transferKey(network, txid, logIndex));
  if (deposit?.status === "CONFIRMED") return decided(at, null, { consumed: [event.key] });
  const line = deposit && view.records.transactions.get(deposit.transactionSeq);
  const address = view.records.addresses.get(`${network}/${event.to}`);
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
    chargeIds: event.chargeIds,
    eventIds: event.eventIds,
  });
  return decided(at, null, { ...changes, consumed: [event.key] });
}

/**
 * The deposit booked by hand that has claimed a whole transaction. One that came to nothing claims
 * nothing any more: its transfers are credited as any other.
 */
function claimOf(records: Records, { network, txid }: InboxKey): DepositRow | undefined {
  const claim = records.deposits.get(transferKey(network, txid, CLAIM));
  return claim?.status === "FAILED" || claim?.status === "CANCELLED" ? undefined : claim;
}

/** A transfer waits until it is decided on the deposit that claims it. */
function heldByClaim(claim: DepositRow): DecisionResult<never> {
  return { kind: "quarantined", reason: `claimed: by ${claim.id}, which is not decided` };
}
