import type { SettlementRow, WithdrawalRow } from "../../../ledger/payment_rows.ts";
import { decided, refused, timeOf, type Verb } from "../decision.ts";
import { type CreateSettlement, NOT_INITIATED } from "../messages.ts";
import type { MerchantView } from "../state.ts";
import { approvedBy, isOwnRecord, madeBy } from "./audit.ts";
import { moveSettlement, openSettlement, refund } from "./end_payout.ts";
import { fundsRefusal, giveUpAtOnce, openPayout, outgoingRow, payoutFees } from "./withdrawal.ts";

/** Time for which the same key gets the same answer. */
const KEY_LIFETIME_MS = 24 * 3_600_000;

/**
 * Decides a settlement: a payout to one of the merchant's own, whitelisted and active addresses.
 * At or above the threshold it waits for an administrator.
 */
export const settle: Verb<"create-settlement"> = (view, message, settings) => {
  const { state } = view;
  const { currency, network, amount } = message;
  const at = timeOf(state, message.at);

  if (state.merchant.status !== "ACTIVE") return refused({ code: "merchant_not_active" });
  const earlier = sameKey(view, message);
  if (earlier !== undefined) {
    if (earlier.bodyHash !== message.bodyHash) return refused({ code: "idempotency_conflict" });
    return decided(at, { settlement: earlier, created: false }, {});
  }
  const fees = payoutFees(settings, message);
  if ("code" in fees) return refused(fees);
  const listed = [...view.records.whitelist.values()].find((row) =>
    row.address === message.destination && row.network === network && row.active &&
    row.removedAt === null
  );
  if (listed === undefined) return refused({ code: "destination_not_whitelisted" });
  const short = fundsRefusal(view, message, fees);
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
  const request = { ...message, referenceId: null, description: null };
  const { settlementId } = message;
  const opened = openPayout(view, request, { settlementId, needsApproval }, fees);
  // what waits for an administrator is handed over only when it is approved
  if (message.giveUp === null || needsApproval) {
    return decided(at, { settlement, created: true }, { ...opened, settlements: [settlement] });
  }
  const failed = moveSettlement(settlement, ["FAILED"], message.giveUp.reason, at);
  return decided(at, { settlement: failed, created: true }, {
    ...giveUpAtOnce(view, opened, { ...message.giveUp, at }),
    settlements: [failed],
  });
};

/** The settlement made under the same key; one that could not be initiated has released it. */
function sameKey(view: MerchantView, message: CreateSettlement): SettlementRow | undefined {
  const { idempotencyKey, at } = message;
  if (idempotencyKey === null) return undefined;
  return [...view.records.settlements.values()].find((row) =>
    row.idempotencyKey === idempotencyKey && row.createdAt > at - KEY_LIFETIME_MS &&
    !(row.status === "FAILED" && row.reason === NOT_INITIATED)
  );
}

function withdrawalOf(view: MerchantView, settlement: SettlementRow): WithdrawalRow {
  const withdrawal = view.records.withdrawals.get(settlement.withdrawalId);
  if (withdrawal === undefined) {
    throw new Error(`Cannot move a settlement as its withdrawal is missing: ${settlement.id}`);
  }
  return withdrawal;
}

/** Lets a waiting settlement go to the treasury. Approving it again changes nothing. */
export const approveSettlement: Verb<"approve-settlement"> = (view, message) => {
  const settlement = view.records.settlements.get(message.settlementId);
  if (settlement === undefined) return refused({ code: "record_not_found" });
  const at = timeOf(view.state, message.at);
  switch (settlement.status) {
    case "APPROVED":
    case "PROCESSING":
    case "SUBMITTED_TO_LEDGER":
    case "COMPLETED":
    case "FAILED":
      return decided(at, { status: settlement.status, changed: false }, {});
    case "PENDING":
    case "CANCELLED":
    case "REJECTED":
      return refused({ code: "wrong_state", from: settlement.status, to: "APPROVED" });
    case "APPROVAL_REQUIRED": {
      if (isOwnRecord(settlement, message.audit) || message.isFundedByApprover === true) {
        return refused({ code: "same_administrator" });
      }
      const approval = approvedBy(message.audit);
      const withdrawal = withdrawalOf(view, settlement);
      // its payout is queued in the commit of its approval
      return decided(at, { status: "PROCESSING", changed: true }, {
        settlements: [
          moveSettlement({ ...settlement, ...approval }, ["APPROVED", "PROCESSING"], null, at),
        ],
        withdrawals: [{ ...withdrawal, ...approval, status: "PENDING" }],
        outgoing: [outgoingRow(withdrawal, at)],
      });
    }
    default: {
      const never: never = settlement.status;
      return never;
    }
  }
};

/** Turns a waiting settlement down (administrator) or back (merchant): refunded. */
export const declineSettlement: Verb<"decline-settlement"> = (view, message) => {
  const settlement = view.records.settlements.get(message.settlementId);
  if (settlement === undefined) return refused({ code: "record_not_found" });
  const { to } = message;
  if (settlement.status !== "APPROVAL_REQUIRED") {
    return refused({ code: "wrong_state", from: settlement.status, to });
  }
  const at = timeOf(view.state, message.at);
  const withdrawal = withdrawalOf(view, settlement);
  const moved = moveSettlement(settlement, [to], message.reason, at);
  return decided(at, { status: to, settlement: moved }, {
    ...refund(view, withdrawal, message, null),
    settlements: [moved],
  });
};

/** Moves a settlement whose transaction is signed and on its way. */
export const submitSettlement: Verb<"submitted"> = (view, event) => {
  const at = timeOf(view.state, event.at);
  const withdrawal = view.records.withdrawals.get(event.withdrawalId);
  const settlement = view.records.settlements.get(withdrawal?.settlementId ?? "");
  const moves = settlement?.status === "PROCESSING"
    ? [moveSettlement(settlement, ["SUBMITTED_TO_LEDGER"], null, at)]
    : [];
  return decided(at, null, { settlements: moves, consumed: [event.key] });
};
