import { verdictId } from "../../ledger/ingested.ts";
import { ANY_LOG, type RecordNeeds } from "../../ledger/journal/read_records.ts";
import type { MerchantMessage } from "../merchant/decide.ts";
import { CLAIM } from "../merchant/state.ts";

/** Which records the messages of a batch speak of, so that they are read with one query each. */
export function recordNeeds(
  messages: Iterable<{ readonly merchantId: string; readonly message: MerchantMessage }>,
): RecordNeeds {
  const withdrawals: RecordNeeds["withdrawals"][number][] = [];
  const references: RecordNeeds["references"][number][] = [];
  const transfers: RecordNeeds["transfers"][number][] = [];
  const addresses: RecordNeeds["addresses"][number][] = [];
  const identifiers: RecordNeeds["identifiers"][number][] = [];
  const deposits: RecordNeeds["deposits"][number][] = [];
  const addressIds: RecordNeeds["addressIds"][number][] = [];
  const settlements: RecordNeeds["settlements"][number][] = [];
  const settlementKeys: RecordNeeds["settlementKeys"][number][] = [];
  const topUps: RecordNeeds["topUps"][number][] = [];
  const whitelists: string[] = [];
  const ingested: string[] = [];
  const payments: RecordNeeds["payments"][number][] = [];
  for (const { merchantId, message } of messages) {
    switch (message.type) {
      case "update-profile":
      case "margin":
        break;
      case "reserve":
        if (message.referenceId !== null) {
          references.push({ merchantId, referenceId: message.referenceId });
        }
        break;
      case "approve-withdrawal":
      case "decline-withdrawal":
        withdrawals.push({ merchantId, id: message.withdrawalId });
        break;
      case "outcome":
      case "submitted":
        withdrawals.push({ merchantId, id: message.withdrawalId });
        if (message.settlementId !== null) {
          settlements.push({ merchantId, id: message.settlementId });
        }
        break;
      case "create-settlement":
        whitelists.push(merchantId);
        if (message.idempotencyKey !== null) {
          settlementKeys.push({ merchantId, key: message.idempotencyKey });
        }
        break;
      case "approve-settlement":
      case "decline-settlement":
        settlements.push({ merchantId, id: message.settlementId });
        withdrawals.push({ merchantId, id: message.withdrawalId });
        break;
      case "add-settlement-address":
      case "remove-settlement-address":
      case "activate-settlement-address":
        whitelists.push(merchantId);
        break;
      case "create-deposit":
        if (message.txid !== null) {
          const { network, txid } = message;
          transfers.push({ merchantId, network, txid, logIndex: ANY_LOG });
        }
        if (message.depositAddressId !== null) {
          addressIds.push({ merchantId, id: message.depositAddressId });
        }
        break;
      case "decide-deposit":
        deposits.push({ merchantId, id: message.depositId });
        if (message.ingestion !== null) ingested.push(message.ingestion.eventId);
        break;
      case "book-payout": {
        const { withdrawalId, network, referenceId, paidBy, ingestion } = message;
        withdrawals.push({ merchantId, id: withdrawalId });
        if (referenceId !== null) references.push({ merchantId, referenceId });
        ingested.push(ingestion.eventId);
        payments.push({ network, txid: paidBy.txid });
        break;
      }
      case "ingest-withdrawal": {
        const { withdrawalId, settlementId, network, paidBy } = message;
        withdrawals.push({ merchantId, id: withdrawalId });
        if (settlementId !== null) settlements.push({ merchantId, id: settlementId });
        ingested.push(message.ingestion.eventId);
        if (paidBy !== null) payments.push({ network, txid: paidBy.txid });
        break;
      }
      case "settle-withdrawal": {
        const { withdrawalId, settlementId, network, paidBy } = message;
        withdrawals.push({ merchantId, id: withdrawalId });
        if (settlementId !== null) settlements.push({ merchantId, id: settlementId });
        ingested.push(verdictId(withdrawalId));
        if (paidBy !== null) payments.push({ network, txid: paidBy.txid });
        break;
      }
      case "issue-address": {
        const { network, identifier, kind } = message;
        if (kind === "issued" && identifier !== null) {
          identifiers.push({ merchantId, network, identifier });
        }
        if (kind === "top_up") topUps.push({ merchantId, network });
        break;
      }
      case "transfer": {
        const { network, txid, logIndex } = message.key;
        transfers.push({ merchantId, network, txid, logIndex });
        // a deposit booked by hand may have claimed the whole transaction
        transfers.push({ merchantId, network, txid, logIndex: CLAIM });
        addresses.push({ merchantId, network, address: message.to });
        break;
      }
      case "vanished":
      case "swept": {
        const { network, txid, logIndex } = message.key;
        transfers.push({ merchantId, network, txid, logIndex });
        addresses.push({ merchantId, network, address: message.to });
        break;
      }
      default: {
        const never: never = message;
        return never;
      }
    }
  }
  return {
    withdrawals,
    references,
    transfers,
    addresses,
    identifiers,
    deposits,
    addressIds,
    settlements,
    settlementKeys,
    topUps,
    whitelists,
    ingested,
    payments,
  };
}
