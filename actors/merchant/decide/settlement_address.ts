import { decided, type DecisionResult, refused, timeOf } from "../decision.ts";
import type {
  ActivateSettlementAddress,
  AddSettlementAddress,
  Answers,
  RemoveSettlementAddress,
} from "../messages.ts";
import type { MerchantView } from "../state.ts";
import { approvedBy, isOwnRecord, madeBy } from "./audit.ts";

/** Puts an address on the whitelist, not active yet. */
export function addSettlementAddress(
  view: MerchantView,
  message: AddSettlementAddress,
): DecisionResult<Answers["add-settlement-address"]> {
  const { state, records } = view;
  const { network, address, label } = message;
  if (state.merchant.status !== "ACTIVE") return refused({ code: "merchant_not_active" });
  const listed = [...records.whitelist.values()].some((row) =>
    row.network === network && row.address === address && row.removedAt === null
  );
  if (listed) return refused({ code: "settlement_address_exists" });
  const at = timeOf(state, message.at);
  const row = {
    id: message.addressId,
    merchantId: state.merchant.merchantId,
    network,
    address,
    label,
    active: false,
    removedAt: null,
    createdAt: at,
    ...madeBy(message),
  };
  return decided(at, row, { whitelist: [row] });
}

/** Takes an address off the whitelist. */
export function removeSettlementAddress(
  view: MerchantView,
  message: RemoveSettlementAddress,
): DecisionResult<Answers["remove-settlement-address"]> {
  const row = view.records.whitelist.get(message.addressId);
  if (row === undefined || row.removedAt !== null) return refused({ code: "record_not_found" });
  const at = timeOf(view.state, message.at);
  return decided(at, {}, { whitelist: [{ ...row, active: false, removedAt: at }] });
}

/** Opens or closes a whitelisted address for settlements; an administrator's word. */
export function activateSettlementAddress(
  view: MerchantView,
  message: ActivateSettlementAddress,
): DecisionResult<Answers["activate-settlement-address"]> {
  const row = view.records.whitelist.get(message.addressId);
  if (row === undefined || row.removedAt !== null) return refused({ code: "record_not_found" });
  const changed = row.active !== message.active;
  if (changed && message.active && isOwnRecord(row, message.audit)) {
    return refused({ code: "same_administrator" });
  }
  const approval = changed && message.active ? approvedBy(message.audit) : {};
  const next = { ...row, ...approval, active: message.active };
  return decided(timeOf(view.state, message.at), next, { whitelist: changed ? [next] : [] });
}
