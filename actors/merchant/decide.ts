import type { Settings } from "../../ledger/journal/read_settings.ts";
import { pairKey } from "../../ledger/money/pair.ts";
import type { ChainEvent } from "./chain_events.ts";
import {
  activateSettlementAddress,
  addSettlementAddress,
  issueAddress,
  removeSettlementAddress,
  updateProfile,
} from "./decide/account.ts";
import { auditRow, isAudited } from "./decide/audit.ts";
import { settlePayout } from "./decide/end_payout.ts";
import { createDeposit, decideDeposit } from "./decide/manual_deposit.ts";
import { takeMargin } from "./decide/margin.ts";
import { bookPayout, ingestWithdrawal, settleWithdrawal } from "./decide/reported_payout.ts";
import {
  approveSettlement,
  declineSettlement,
  settle,
  submitSettlement,
} from "./decide/settlement.ts";
import { confirmTopUp, creditTransfer, failDeposit, seeTransfer } from "./decide/transfer.ts";
import { approveWithdrawal, declineWithdrawal, reserve } from "./decide/withdrawal.ts";
import type { DecisionResult } from "./decision.ts";
import type { Answers, MerchantCommand } from "./merchants.ts";
import type { MerchantView } from "./state.ts";

/** A message of a merchant's mailbox that changes money or records. */
export type MerchantMessage = MerchantCommand | ChainEvent;

/** Any answer a merchant gives. */
export type Answer = Answers[keyof Answers] | null;

/**
 * Decides one message on what the merchant knows. Pure: no clock, no chance, no input or output.
 *
 * @throws when a broken assumption shows: a bug, not a refusal
 */
export function decide(
  view: MerchantView,
  settings: Settings,
  message: MerchantMessage,
): DecisionResult<Answer> {
  const result = judge(view, settings, message);
  if (!isAudited(message) || result.kind !== "decided") return result;
  const audits = [auditRow(view, message, result.decision)];
  return { ...result, decision: { ...result.decision, audits } };
}

function judge(
  view: MerchantView,
  settings: Settings,
  message: MerchantMessage,
): DecisionResult<Answer> {
  switch (message.type) {
    case "reserve":
      return reserve(view, settings, message);
    case "book-payout":
      return bookPayout(view, settings, message);
    case "approve-withdrawal":
      return approveWithdrawal(view, message);
    case "decline-withdrawal":
      return declineWithdrawal(view, message);
    case "create-settlement":
      return settle(view, settings, message);
    case "approve-settlement":
      return approveSettlement(view, message);
    case "decline-settlement":
      return declineSettlement(view, message);
    case "add-settlement-address":
      return addSettlementAddress(view, message);
    case "remove-settlement-address":
      return removeSettlementAddress(view, message);
    case "activate-settlement-address":
      return activateSettlementAddress(view, message);
    case "create-deposit":
      return createDeposit(view, settings, message);
    case "decide-deposit":
      return decideDeposit(view, message);
    case "ingest-withdrawal":
      return ingestWithdrawal(view, message);
    case "settle-withdrawal":
      return settleWithdrawal(view, message);
    case "issue-address":
      return issueAddress(view, settings, message);
    case "update-profile":
      return updateProfile(view, message);
    case "transfer": {
      const pair = settings.pairs.get(pairKey(message.currency, message.key.network));
      if (pair?.depositsEnabled !== true) {
        return {
          kind: "quarantined",
          reason: `unclaimed: deposits of ${message.currency} are disabled`,
        };
      }
      return message.phase === "seen" ? seeTransfer(view, message) : creditTransfer(view, message);
    }
    case "vanished":
      return failDeposit(view, message);
    case "outcome":
      return settlePayout(view, message);
    case "swept":
      return confirmTopUp(view, message);
    case "submitted":
      return submitSettlement(view, message);
    case "margin":
      return takeMargin(view, message);
    default: {
      const never: never = message;
      return never;
    }
  }
}
