import type { Needs } from "../../ledger/journal/read_facts.ts";
import type { MerchantMessage } from "./decide.ts";

/** Which records the messages of a batch speak of, so that they are read with one query each. */
export function needsOf(
  messages: Iterable<{ readonly merchantId: string; readonly message: MerchantMessage }>,
): Needs {
  const withdrawals: Needs["withdrawals"][number][] = [];
  const transfers: Needs["transfers"][number][] = [];
  const addresses: Needs["addresses"][number][] = [];
  const identifiers: Needs["identifiers"][number][] = [];
  const deposits: Needs["deposits"][number][] = [];
  const addressIds: Needs["addressIds"][number][] = [];
  const settlements: Needs["settlements"][number][] = [];
  const settlementKeys: Needs["settlementKeys"][number][] = [];
  const whitelists: string[] = [];
  const ingested: string[] = [];
  for (const { merchantId, message } of messages) {
    switch (message.type) {
      case "reserve":
      case "update-profile":
        break;
      case "release":
      case "outcome":
        withdrawals.push({ merchantId, id: message.withdrawalId });
        break;
      case "issue-address": {
        const { network, identifier } = message;
        identifiers.push({ merchantId, network, identifier });
        break;
      }
      case "transfer": {
        const { network, txid, logIndex } = message.key;
        transfers.push({ merchantId, network, txid, logIndex });
        addresses.push({ merchantId, network, address: message.to });
        break;
      }
      case "vanished": {
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
    transfers,
    addresses,
    identifiers,
    deposits,
    addressIds,
    settlements,
    settlementKeys,
    whitelists,
    ingested,
  };
}
