import { formatAmount, fromUnits } from "../../../ledger/money/amount.ts";
import { type Hand, isSameHand } from "../../../ledger/money/duties.ts";
import { type Hands, NO_HANDS, type SettlementRow } from "../../../ledger/payment_rows.ts";
import type { AuditRow, MerchantRow } from "../../../ledger/rows.ts";
import type { Decision } from "../decision.ts";
import type { AuditStamp, ProfilePatch } from "../messages.ts";
import type { MerchantCommand } from "../merchants.ts";
import type { MerchantView } from "../state.ts";

/** A command that the audit keeps, with who is behind it. */
export type AuditedCommand =
  & Extract<MerchantCommand, { readonly audit?: AuditStamp }>
  & { readonly audit: AuditStamp };

/** True for a message that the audit keeps. */
export function isAudited(message: { readonly type: string }): message is AuditedCommand {
  return "audit" in message && message.audit !== undefined;
}

type Image = Readonly<Record<string, unknown>>;

/** The audit's row of a command: who, what, and the record before and after. */
export function auditRow(
  view: MerchantView,
  message: AuditedCommand,
  decision: Decision,
): AuditRow {
  const { subject, before, after } = images(view, message, decision);
  const { auditId: id, actor, action, requestId } = message.audit;
  const { merchantId } = view.state.merchant;
  return {
    id,
    merchantId,
    actor,
    action,
    subject,
    before,
    after,
    requestId,
    createdAt: decision.at,
  };
}

function images(
  { state, records }: MerchantView,
  message: AuditedCommand,
  decision: Decision,
): { readonly subject: string; readonly before: Image | null; readonly after: Image | null } {
  switch (message.type) {
    case "approve-withdrawal":
    case "decline-withdrawal":
    case "book-payout":
    case "ingest-withdrawal": {
      const { withdrawalId: subject } = message;
      const before = ending(records.withdrawals.get(subject));
      return { subject, before, after: ending(decision.withdrawals[0]) ?? before };
    }
    case "settle-withdrawal": {
      const { withdrawalId: subject, verdict, reason: remark, txid, paidBy } = message;
      const before = ending(records.withdrawals.get(subject));
      const found = { verdict, remark, txid, arrived: formatAmount(message.arrived) };
      const after = {
        ...ending(decision.withdrawals[0]) ?? before,
        ...found,
        paidBy: paidBy?.txid ?? null,
      };
      return { subject, before, after };
    }
    case "approve-settlement":
    case "decline-settlement": {
      const { settlementId: subject } = message;
      const known = records.settlements.get(subject);
      const before = ending(known);
      const [moved] = decision.settlements;
      if (moved === undefined) return { subject, before, after: before };
      return { subject, before, after: { ...ending(moved), steps: stepsTaken(known, moved) } };
    }
    case "create-settlement": {
      const [made] = decision.settlements;
      const after = made === undefined ? null : {
        status: made.status,
        steps: stepsTaken(undefined, made),
        amount: formatAmount(made.amount),
        currency: made.currency,
        network: made.network,
        address: made.address,
      };
      return { subject: made?.id ?? message.settlementId, before: null, after };
    }
    case "decide-deposit": {
      const { depositId: subject } = message;
      const before = ending(records.depositsById.get(subject));
      return { subject, before, after: ending(decision.deposits[0]) ?? before };
    }
    case "activate-settlement-address": {
      const { addressId: subject, active } = message;
      const before = { active: records.whitelist.get(subject)?.active ?? null };
      return { subject, before, after: { active } };
    }
    case "update-profile":
      return {
        subject: state.merchant.merchantId,
        before: named(state.merchant, message.patch),
        after: named(decision.profile ?? state.merchant, message.patch),
      };
    default: {
      const never: never = message;
      return never;
    }
  }
}

function ending(
  record: { readonly status: string; readonly reason: string | null } | undefined,
): Image | null {
  return record === undefined ? null : { status: record.status, reason: record.reason };
}

/** The states that a settlement passed by one command. */
function stepsTaken(before: SettlementRow | undefined, after: SettlementRow): readonly string[] {
  return after.history.slice(before?.history.length ?? 0).map(({ status }) => status);
}

const SECRETS: readonly string[] = ["webhookSecret", "webhookSecretPrevious"];

/** The named fields of a profile as they are shown; secrets are not. */
function named(merchant: MerchantRow, patch: ProfilePatch): Image {
  const all: Readonly<Record<string, unknown>> = {
    ...merchant,
    webhookTimeout: merchant.webhookTimeoutMs,
  };
  return Object.fromEntries(
    Object.keys(patch).map((field) => {
      const value = all[field];
      if (SECRETS.includes(field)) return [field, "[secret]"];
      return [field, typeof value === "bigint" ? formatAmount(fromUnits(value)) : value ?? null];
    }),
  );
}

type Making = Extract<MerchantCommand, { readonly by?: unknown }>;

/** The hands of a record that a command makes. */
export function madeBy({ by }: Pick<Making, "by">): Hands {
  return by === undefined
    ? NO_HANDS
    : { ...NO_HANDS, createdBy: by.key, createdAdmin: by.administrator };
}

/** The hands of a record that a command lets go. */
export function approvedBy(
  audit: AuditStamp | undefined,
): Pick<Hands, "approvedBy" | "approvedAdmin"> {
  return { approvedBy: audit?.actor ?? null, approvedAdmin: audit?.administrator ?? null };
}

/** True where an administrator made the record, so that another one has to decide on it. */
export function isOwnRecord(
  record: Pick<Hands, "createdBy" | "createdAdmin">,
  audit: AuditStamp | undefined,
): boolean {
  return isBySameHand({ key: record.createdBy, administrator: record.createdAdmin }, audit);
}

/** True where the person of a command also did an earlier act, as far as four eyes are asked for. */
export function isBySameHand(
  earlier: Hand,
  audit: AuditStamp | undefined,
): boolean {
  return audit?.duties !== undefined &&
    isSameHand(audit.duties.fourEyes, earlier, {
      key: audit.actor,
      administrator: audit.administrator ?? null,
    });
}
