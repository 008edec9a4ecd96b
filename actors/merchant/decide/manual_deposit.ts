import {
  add,
  LARGEST_BALANCE_BY_HAND,
  LARGEST_PAYMENT,
  ZERO,
} from "../../../ledger/money/amount.ts";
import { pairKey } from "../../../ledger/money/pair.ts";
import type { DepositRow } from "../../../ledger/payment_rows.ts";
import type { IngestedRow } from "../../../ledger/rows.ts";
import { decided, refused, timeOf, type Verb } from "../decision.ts";
import type { DecideDeposit, Ingestion } from "../messages.ts";
import { CLAIM, type MerchantView, paymentKey } from "../state.ts";
import { approvedBy, isBySameHand, isOwnRecord, madeBy } from "./audit.ts";
import {
  confirmDeposit,
  giveUpDeposit,
  NOT_ENDORSED,
  openDeposit,
  pendingPosting,
} from "./deposit.ts";
import { lineOf } from "./statement.ts";

/** Books a deposit by hand: pending, until an operator or an upstream system decides on it. */
export const createDeposit: Verb<"create-deposit"> = (view, message, settings) => {
  const { state, records } = view;
  const { currency, network, amount, txid, depositAddressId } = message;
  if (settings.pairs.get(pairKey(currency, network))?.depositsEnabled !== true) {
    return refused({ code: "deposits_closed_for_pair", currency, network });
  }
  const address = records.addressesById.get(depositAddressId ?? "");
  const links = address?.network === network && address.kind !== "top_up";
  if (depositAddressId !== null && !links) {
    return refused({ code: "record_not_found" });
  }
  const known = txid === null
    ? undefined
    : [...records.deposits.values()].find((row) => row.network === network && row.txid === txid);
  if (known !== undefined) return refused({ code: "transfer_known", depositId: known.id });
  const held = state.balances.get(pairKey(currency, network));
  const sum = held === undefined ? ZERO : add(add(held.available, held.pending), held.reserved);
  if (amount > LARGEST_PAYMENT || add(sum, amount) > LARGEST_BALANCE_BY_HAND) {
    return refused({ code: "balance_too_large" });
  }

  const at = timeOf(state, message.at);
  const { depositId: id, source, description, metadata, usdRate } = message;
  const { deposit, line } = openDeposit(
    state,
    {
      id,
      currency,
      network,
      amount,
      source,
      referenceId: address?.referenceId ?? null,
      description,
      commissionRate: state.merchant.depositCommissionRate,
      usdRate,
      addressId: depositAddressId,
      address: address?.address ?? null,
      txid,
      logIndex: txid === null ? null : CLAIM,
      sender: null,
      height: null,
      expiresAt: null,
      diesAfter: null,
      metadata,
      ...madeBy(message),
    },
    { id: message.transactionId, category: "Manual deposit" },
    at,
  );
  return decided(at, deposit, {
    postings: pendingPosting(deposit),
    deposits: [deposit],
    transactions: [line],
  });
};

/** Decides on a deposit that was booked by hand; what the chain books only the chain decides. */
export const decideDeposit: Verb<"decide-deposit"> = (view, message) => {
  const { state, records } = view;
  const { ingestion, to } = message;
  const at = timeOf(state, message.at);
  const hash = ingestion === null ? undefined : records.ingested.get(ingestion.eventId);
  if (ingestion !== null && hash !== undefined) {
    if (hash !== ingestion.bodyHash) return refused({ code: "event_conflict" });
    return decided(at, { deposit: null, changed: false }, {});
  }
  const deposit = records.depositsById.get(message.depositId);
  if (deposit === undefined) return refused({ code: "record_not_found" });
  if (deposit.logIndex !== null && deposit.logIndex !== CLAIM) {
    return refused({ code: "not_manual", from: deposit.status, to });
  }
  const { merchantId } = state.merchant;
  const ingested = ingestion === null ? [] : [ingestedRow(ingestion, merchantId, at)];
  if (deposit.status === to) return decided(at, { deposit, changed: false }, { ingested });
  if (deposit.status !== "PENDING") {
    return refused({ code: "wrong_state", from: deposit.status, to });
  }
  const { network, txid } = deposit;
  if (
    to === "CONFIRMED" && txid !== null && records.ofAnother.has(paymentKey(network, txid))
  ) {
    return refused({ code: "transfer_of_another", from: deposit.status, to });
  }
  if (to === "CONFIRMED" && isOwnRecord(deposit, message.audit)) {
    return refused({ code: "same_administrator" });
  }
  const isRepeated = isEndorsedBySame(deposit, message);
  if (to === "CONFIRMED" && needsTwo(deposit, message)) {
    if (deposit.endorsedBy === null) {
      const endorsed = endorse(deposit, message, at);
      return decided(at, { deposit: endorsed, changed: true }, { deposits: [endorsed], ingested });
    }
    if (isRepeated) return decided(at, { deposit, changed: false }, { ingested });
  }
  // who has endorsed it and now may confirm it alone has said one word, not two: the day's sum counts it
  const first = isRepeated ? NOT_ENDORSED : {};
  const changes = to === "CONFIRMED"
    ? confirmManual(view, { ...deposit, ...first, ...approvedBy(message.audit) }, message, at)
    : giveUpDeposit(view, deposit, { ...message, to, reason: message.reason ?? "operator" }, at);
  const [ended = deposit] = changes.deposits;
  return decided(at, { deposit: ended, changed: true }, { ...changes, ingested });
};

/** True where one administrator alone may not confirm a deposit by hand: for its size, or with others. */
function needsTwo(
  deposit: DepositRow,
  { audit, confirmedBefore, needsAnother }: DecideDeposit,
): boolean {
  if (needsAnother === true) return true;
  const duties = audit?.duties;
  return duties !== undefined && duties.fourEyes !== "off" &&
    add(deposit.amount, confirmedBefore ?? ZERO) > duties.aloneUpTo;
}

/** True where the first of two confirmations was by the administrator who confirms now. */
function isEndorsedBySame(
  { endorsedBy: key, endorsedAdmin: administrator }: DepositRow,
  { audit }: DecideDeposit,
): boolean {
  return key !== null && isBySameHand({ key, administrator }, audit);
}

/** The first of two confirmations; the deposit stays pending. */
function endorse(deposit: DepositRow, { audit }: DecideDeposit, at: number): DepositRow {
  const endorsedBy = audit?.actor ?? null;
  return { ...deposit, endorsedBy, endorsedAdmin: audit?.administrator ?? null, updatedAt: at };
}

function confirmManual(
  view: MerchantView,
  deposit: DepositRow,
  { chargeIds, eventIds }: DecideDeposit,
  at: number,
): ReturnType<typeof confirmDeposit> {
  return confirmDeposit(view, {
    at,
    deposit,
    line: lineOf(view.records, deposit, "confirm a deposit"),
    usdRate: deposit.usdRate ?? "1",
    address: view.records.addressesById.get(deposit.addressId ?? ""),
    from: "pending",
    chargeIds,
    eventIds,
  });
}

/** The upstream message that a decision carries out, as it is kept with it. */
export function ingestedRow(ingestion: Ingestion, merchantId: string, at: number): IngestedRow {
  return { ...ingestion, merchantId, network: null, txid: null, createdAt: at };
}
