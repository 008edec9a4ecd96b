import { formatAmount } from "../money/amount.ts";
import type { TransferFinding } from "./record_findings.ts";

/** A transfer as its merchant's inbox has it. */
export function inboxData(finding: TransferFinding): string {
  return JSON.stringify({
    currency: finding.currency,
    amount: formatAmount(finding.amount),
    from: finding.from,
    to: finding.to,
    addressId: finding.addressId,
    height: finding.height,
    expiresAt: finding.expiresAt,
  });
}
