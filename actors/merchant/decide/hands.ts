import { isSameHand } from "../../../ledger/money/duties.ts";
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

/** True where an administrator made the record, so that another one has to decide on it. */
export function isOwnRecord(
  record: Pick<Hands, "createdBy" | "createdAdmin">,
  audit: AuditStamp | undefined,
): boolean {
  return isBySameHand({ key: record.createdBy, administrator: record.createdAdmin }, audit);
}

/** True where the person of a command also did an earlier act, as far as four eyes are asked for. */
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
