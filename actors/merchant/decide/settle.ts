import { isExactIn } from "../../../ledger/money/amount.ts";
import { networkFeeOf, withdrawalFees } from "../../../ledger/money/fees.ts";
import type { Settings } from "../../../ledger/journal/read_settings.ts";
import { pairKey, tokenDecimals } from "../../../ledger/money/pair.ts";
import type { SettlementRow } from "../../../ledger/rows.ts";
import { decided, refused, timeOf, type Verdict } from "../decision.ts";
import { type CreateSettlement, NOT_INITIATED, type SettlementCreated } from "../messages.ts";
import type { MerchantView } from "../state.ts";
import { giveUpAtOnce } from "./give_up_at_once.ts";
import { madeBy } from "./hands.ts";
import { openPayout } from "./open_payout.ts";
import { fundsRefusal } from "./reserve.ts";
import { moveSettlement, openSettlement } from "./settlement_steps.ts";

/** How long the same key gets the same answer. */
const KEY_LIFETIME_MS = 24 * 3_600_000;

/**
 * Decides a settlement: a payout to one of the merchant's own, whitelisted and active addresses.
 * At or above the threshold it waits for an administrator.
 */
export function settle(
  view: MerchantView,
  settings: Settings,
  message: CreateSettlement,
): Verdict<SettlementCreated> {
  const { state } = view;
  const { currency, network, amount } = message;
  const pair = settings.pairs.get(pairKey(currency, network));
  const decimals = tokenDecimals(currency, network);
  const at = timeOf(state, message.at);

  if (state.merchant.status !== "ACTIVE") return refused({ code: "merchant_not_active" });
  const earlier = sameKey(view, message);
  if (earlier !== undefined) {
    if (earlier.bodyHash !== message.bodyHash) return refused({ code: "idempotency_conflict" });
    return decided(at, { settlement: earlier, created: false }, {});
  }
  if (pair === undefined || !pair.withdrawalsEnabled) {
    return refused({ code: "withdrawals_closed_for_pair", currency, network });
  }
  if (amount <= 0n) return refused({ code: "amount_not_positive" });
  if (!isExactIn(amount, decimals)) return refused({ code: "amount_not_exact", decimals });
  if (amount < pair.minWithdrawal) {
    return refused({ code: "below_minimum", minWithdrawal: pair.minWithdrawal, currency, network });
  }
  const listed = [...view.records.whitelist.values()].find((row) =>
    row.address === message.destination && row.network === network && row.active &&
    row.removedAt === null
  );
  if (listed === undefined) return refused({ code: "destination_not_whitelisted" });
  const networkFee = networkFeeOf(pair, message.dynamicFee);
  const fees = withdrawalFees(amount, settings.fees, networkFee, decimals);
  const short = fundsRefusal(view, currency, network, fees);
  if (short !== null) return refused(short);

  const threshold = settings.settlementThresholds.get(currency);
  if (threshold === undefined) {
    throw new Error(`Cannot settle as there is no threshold for the currency: ${currency}`);
  }
  // a threshold that one administrator has raised does not free what the same one asks for
  const { aloneUpTo } = message;
  const needsApproval = amount >= threshold || (aloneUpTo !== undefined && amount > aloneUpTo);
  const settlement = openSettlement(
    {
      id: message.settlementId,
      merchantId: state.merchant.merchantId,
      seq: state.settlementSeq + 1,
      withdrawalId: message.withdrawalId,
      currency,
      network,
      amount,
      totalFees: fees.totalFees,
      address: message.destination,
      label: listed.label,
      idempotencyKey: message.idempotencyKey,
      bodyHash: message.bodyHash,
      neededApproval: needsApproval,
      ...madeBy(message),
    },
    [needsApproval ? "APPROVAL_REQUIRED" : "PROCESSING"],
    at,
  );
  const request = { ...message, referenceId: null, description: null, needsApproval };
  const opened = openPayout(view, request, fees);
  // what waits for an administrator is handed over only when it is approved
  if (message.giveUp === null || needsApproval) {
    return decided(at, { settlement, created: true }, { ...opened, settlements: [settlement] });
  }
  const failed = moveSettlement(settlement, ["FAILED"], message.giveUp.reason, at);
  return decided(at, { settlement: failed, created: true }, {
    ...giveUpAtOnce(view, opened, { ...message.giveUp, at }),
    settlements: [failed],
  });
}

/** What was made under the same key; one that could not be initiated has released it. */
function sameKey(view: MerchantView, message: CreateSettlement): SettlementRow | undefined {
  const { idempotencyKey, at } = message;
  if (idempotencyKey === null) return undefined;
  return [...view.records.settlements.values()].find((row) =>
    row.idempotencyKey === idempotencyKey && row.createdAt > at - KEY_LIFETIME_MS &&
    !(row.status === "FAILED" && row.reason === NOT_INITIATED)
  );
}
