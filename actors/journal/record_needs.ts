import { verdictId } from "../../ledger/ingested.ts";
import { ANY_LOG, type RecordNeeds } from "../../ledger/journal/read_records.ts";
import type { MerchantMessage } from "../merchant/decide.ts";
import { CLAIM } from "../merchant/state.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer R)[] ? R[] : never };

/** Which records the messages of a batch speak of, so that they are read with one query each. */
export function recordNeeds(
  messages: Iterable<{ readonly merchantId: string; readonly message: MerchantMessage }>,
): RecordNeeds {
  const needs: Mutable<RecordNeeds> = {
    withdrawals: [],
    references: [],
    deposits: [],
    transfers: [],
    addressIds: [],
    addresses: [],
    identifiers: [],
    topUps: [],
    settlements: [],
    settlementKeys: [],
    whitelists: [],
    ingested: [],
    payments: [],
  };
  for (const { merchantId, message } of messages) add(needs, merchantId, message);
  return needs;
}

function add(needs: Mutable<RecordNeeds>, merchantId: string, message: MerchantMessage): void {
  switch (message.type) {
    case "update-profile":
    case "margin":
      return;
    case "reserve":
      return addReference(needs, merchantId, message.referenceId);
    case "approve-withdrawal":
    case "decline-withdrawal":
      return addWithdrawal(needs, merchantId, { ...message, settlementId: null });
    case "outcome":
    case "submitted":
    case "approve-settlement":
    case "decline-settlement":
      return addWithdrawal(needs, merchantId, message);
    case "create-settlement": {
      const { idempotencyKey: key } = message;
      needs.whitelists.push(merchantId);
      if (key !== null) needs.settlementKeys.push({ merchantId, key });
      return;
    }
    case "add-settlement-address":
    case "remove-settlement-address":
    case "activate-settlement-address":
      needs.whitelists.push(merchantId);
      return;
    case "create-deposit": {
      const { network, txid, depositAddressId: id } = message;
      if (txid !== null) needs.transfers.push({ merchantId, network, txid, logIndex: ANY_LOG });
      if (id !== null) needs.addressIds.push({ merchantId, id });
      return;
    }
    case "decide-deposit":
      needs.deposits.push({ merchantId, id: message.depositId });
      if (message.ingestion !== null) needs.ingested.push(message.ingestion.eventId);
      return;
    case "book-payout":
      addWithdrawal(needs, merchantId, { ...message, settlementId: null });
      addReference(needs, merchantId, message.referenceId);
      needs.ingested.push(message.ingestion.eventId);
      needs.payments.push({ network: message.network, txid: message.paidBy.txid });
      return;
    case "ingest-withdrawal":
    case "settle-withdrawal": {
      const { network, paidBy } = message;
      addWithdrawal(needs, merchantId, message);
      needs.ingested.push(
        message.type === "ingest-withdrawal"
          ? message.ingestion.eventId
          : verdictId(message.withdrawalId),
      );
      if (paidBy !== null) needs.payments.push({ network, txid: paidBy.txid });
      return;
    }
    case "issue-address": {
      const { network, identifier, kind } = message;
      if (kind === "top_up") needs.topUps.push({ merchantId, network });
      if (kind !== "issued" || identifier === null) return;
      needs.identifiers.push({ merchantId, network, identifier });
      return;
    }
    case "transfer":
    case "vanished":
    case "swept": {
      const { network, txid, logIndex } = message.key;
      needs.transfers.push({ merchantId, network, txid, logIndex });
      needs.addresses.push({ merchantId, network, address: message.to });
      if (message.type !== "transfer") return;
      // a deposit booked by hand may have claimed the whole transaction
      needs.transfers.push({ merchantId, network, txid, logIndex: CLAIM });
      return;
    }
    default: {
      const never: never = message;
      return never;
    }
  }
}

function addReference(
  needs: Mutable<RecordNeeds>,
  merchantId: string,
  referenceId: string | null,
): void {
  if (referenceId !== null) needs.references.push({ merchantId, referenceId });
}

/** A withdrawal, with the settlement that it carries out. */
function addWithdrawal(
  { withdrawals, settlements }: Mutable<RecordNeeds>,
  merchantId: string,
  payout: { readonly withdrawalId: string; readonly settlementId: string | null },
): void {
  withdrawals.push({ merchantId, id: payout.withdrawalId });
  if (payout.settlementId !== null) settlements.push({ merchantId, id: payout.settlementId });
}
