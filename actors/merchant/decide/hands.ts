import { isSameHand } from "../../../ledger/duties.ts";
import { type Hands, NO_HANDS } from "../../../ledger/rows.ts";
import type { AuditStamp, MerchantCommand } from "../messages.ts";

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

/** Whether an administrator must leave the decision on a record to another one: it is their own. */
export function isOwnRecord(
  record: Pick<Hands, "createdBy" | "createdAdmin">,
  audit: AuditStamp | undefined,
): boolean {
  return isBySameHand({ key: record.createdBy, administrator: record.createdAdmin }, audit);
}

/** Whether an earlier act and a command count as those of one person. */
export function isBySameHand(
  earlier: { readonly key: string | null; readonly administrator: string | null },
  audit: AuditStamp | undefined,
): boolean {
  return audit?.duties !== undefined &&
    isSameHand(audit.duties.fourEyes, earlier, {
      key: audit.actor,
      administrator: audit.administrator ?? null,
    });
}
