import type { Settings } from "../../ledger/settings.ts";
import {
  activateSettlementAddress,
  addSettlementAddress,
  issueAddress,
  removeSettlementAddress,
  updateProfile,
} from "./decide/account.ts";
import { auditRow, isAudited } from "./decide/audit.ts";
import { endPayout } from "./decide/end_payout.ts";
import { createDeposit, decideDeposit } from "./decide/manual_deposit.ts";
import { takeMargin } from "./decide/margin.ts";
import { bookPayout, ingestWithdrawal, settleWithdrawal } from "./decide/reported_payout.ts";
import {
  approveSettlement,
  declineSettlement,
  settle,
  submitSettlement,
} from "./decide/settlement.ts";
import { confirmTopUp, decideTransfer, failDeposit } from "./decide/transfer.ts";
import { approveWithdrawal, declineWithdrawal, reserve } from "./decide/withdrawal.ts";
import type { Answer, DecisionResult, MerchantMessage, Verb } from "./decision.ts";
import type { MerchantView } from "./state.ts";

const VERBS: { readonly [T in MerchantMessage["type"]]: Verb<T> } = {
  "reserve": reserve,
  "book-payout": bookPayout,
  "approve-withdrawal": approveWithdrawal,
  "decline-withdrawal": declineWithdrawal,
  "create-settlement": settle,
  "approve-settlement": approveSettlement,
  "decline-settlement": declineSettlement,
  "add-settlement-address": addSettlementAddress,
  "remove-settlement-address": removeSettlementAddress,
  "activate-settlement-address": activateSettlementAddress,
  "create-deposit": createDeposit,
  "decide-deposit": decideDeposit,
  "ingest-withdrawal": ingestWithdrawal,
  "settle-withdrawal": settleWithdrawal,
  "issue-address": issueAddress,
  "update-profile": updateProfile,
  "transfer": decideTransfer,
  "vanished": failDeposit,
  "outcome": endPayout,
  "swept": confirmTopUp,
  "submitted": submitSettlement,
  "margin": takeMargin,
};

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
  // the table gives each verb the messages of its own type
  const verb = VERBS[message.type] as Verb<MerchantMessage["type"]>;
  const result: DecisionResult<Answer> = verb(view, message, settings);
  if (!isAudited(message) || result.kind !== "decided") return result;
  const audits = [auditRow(view, message, result.decision)];
  return { ...result, decision: { ...result.decision, audits } };
}
