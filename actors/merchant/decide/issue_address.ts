import type { Settings } from "../../../ledger/journal/read_settings.ts";
import { CURRENCIES, type Network, pairKey } from "../../../ledger/money/pair.ts";
import type { DepositAddressRow } from "../../../ledger/rows.ts";
import { decided, type DecisionResult, refused, timeOf } from "../decision.ts";
import type { AddressIssued, IssueAddress } from "../messages.ts";
import type { MerchantView } from "../state.ts";

/** True where any currency can be deposited on a network. */
function acceptsDeposits(settings: Settings, network: Network): boolean {
  return CURRENCIES.some((currency) =>
    settings.pairs.get(pairKey(currency, network))?.depositsEnabled === true
  );
}

/** Decides which address an end customer pays to: the one it has, or a fresh one. */
export function issueAddress(
  view: MerchantView,
  settings: Settings,
  message: IssueAddress,
): DecisionResult<AddressIssued> {
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
}

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
