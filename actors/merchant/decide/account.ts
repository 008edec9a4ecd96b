import type { Settings } from "../../../ledger/settings.ts";
import { CURRENCIES, type Network, pairKey } from "../../../ledger/money/pair.ts";
import type { DepositAddressRow } from "../../../ledger/rows.ts";
import { MOST_SETTLEMENT_ADDRESSES } from "../../../ledger/settlements.ts";
import { decided, refused, timeOf, type Verb } from "../decision.ts";
import type { IssueAddress } from "../messages.ts";
import type { MerchantView } from "../state.ts";
import { approvedBy, isOwnRecord, madeBy } from "./audit.ts";

/** True where any currency can be deposited on a network. */
function acceptsDeposits(settings: Settings, network: Network): boolean {
  return CURRENCIES.some((currency) =>
    settings.pairs.get(pairKey(currency, network))?.depositsEnabled === true
  );
}

/** Decides which address an end customer pays to: the one it has, or a fresh one. */
export const issueAddress: Verb<"issue-address"> = (view, message, settings) => {
  const { state } = view;
  const { kind, network, identifier, referenceId, fresh } = message;
  if (state.merchant.status !== "ACTIVE") return refused({ code: "merchant_not_active" });
  if (!acceptsDeposits(settings, network)) {
    return refused({ code: "deposits_closed_on_network", network });
  }
  const at = timeOf(state, message.at);
  const existing = existingAddress(view, message);
  if (existing !== undefined) {
    if (message.createOnly) return refused({ code: "address_exists" });
    const changed = referenceId !== null && referenceId !== existing.referenceId;
    const { id: addressId, address, walletIndex } = existing;
    const answer = { addressId, address, walletIndex, created: false };
    return decided(at, answer, { addresses: changed ? [{ ...existing, referenceId }] : [] });
  }
  const { addressId, address, index: walletIndex } = fresh;
  return decided(at, { addressId, address, walletIndex, created: true }, {
    addresses: [{
      id: addressId,
      merchantId: state.merchant.merchantId,
      network,
      address,
      walletIndex,
      kind,
      identifier,
      referenceId,
      activated: false,
      createdAt: at,
    }],
  });
};

/** The address that this request is about, if it was handed out before. */
function existingAddress(view: MerchantView, message: IssueAddress): DepositAddressRow | undefined {
  switch (message.kind) {
    case "issued":
      return view.records.identifiers.get(`${message.network}/${message.identifier}`);
    case "top_up":
      return view.records.topUps.get(message.network);
    case "session":
      return undefined;
    default: {
      const never: never = message.kind;
      return never;
    }
  }
}

/** Puts an address on the whitelist, not active yet; a merchant has a bounded number of them. */
export const addSettlementAddress: Verb<"add-settlement-address"> = (view, message) => {
  const { state, records } = view;
  const { network, address, label } = message;
  if (state.merchant.status !== "ACTIVE") return refused({ code: "merchant_not_active" });
  const listed = [...records.whitelist.values()].some((row) =>
    row.network === network && row.address === address && row.removedAt === null
  );
  if (listed) return refused({ code: "settlement_address_exists" });
  if (records.listed >= MOST_SETTLEMENT_ADDRESSES) {
    return refused({ code: "too_many_settlement_addresses" });
  }
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
};

/** Takes an address off the whitelist. */
export const removeSettlementAddress: Verb<"remove-settlement-address"> = (view, message) => {
  const row = view.records.whitelist.get(message.addressId);
  if (row === undefined || row.removedAt !== null) return refused({ code: "record_not_found" });
  const at = timeOf(view.state, message.at);
  return decided(at, {}, { whitelist: [{ ...row, active: false, removedAt: at }] });
};

/** Opens or closes a whitelisted address for settlements; an administrator's word. */
export const activateSettlementAddress: Verb<"activate-settlement-address"> = (view, message) => {
  const row = view.records.whitelist.get(message.addressId);
  if (row === undefined || row.removedAt !== null) return refused({ code: "record_not_found" });
  const changed = row.active !== message.active;
  if (changed && message.active && isOwnRecord(row, message.audit)) {
    return refused({ code: "same_administrator" });
  }
  const approval = changed && message.active ? approvedBy(message.audit) : {};
  const next = { ...row, ...approval, active: message.active };
  return decided(timeOf(view.state, message.at), next, { whitelist: changed ? [next] : [] });
};

/**
 * Changes a merchant's settings; what the patch does not name stays. A new secret makes the one it
 * replaces the previous one, valid for as long as the patch says: decided here, so that of two
 * rotations at once neither loses a secret that was just handed out.
 */
export const updateProfile: Verb<"update-profile"> = (view, message) => {
  const { merchant } = view.state;
  const { webhookTimeout, ...patch } = message.patch;
  const overlaps = (patch.webhookPreviousUntil ?? 0) > message.at;
  const profile = {
    ...merchant,
    ...patch,
    ...(patch.webhookSecret === undefined
      ? {}
      : { webhookSecretPrevious: overlaps ? merchant.webhookSecret : null }),
    ...(webhookTimeout === undefined ? {} : { webhookTimeoutMs: webhookTimeout }),
  };
  return decided(timeOf(view.state, message.at), profile, { profile });
};
