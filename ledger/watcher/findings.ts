import { type Amount, formatAmount } from "../money/amount.ts";
import type { Currency } from "../money/pair.ts";

/** A transfer to an address of a merchant. */
export interface TransferFinding {
  readonly merchantId: string;
  readonly addressId: string;
  readonly txid: string;
  readonly logIndex: number;
  /** Position of its log among all logs of its block, see `Transfer.blockLog`; absent or null where none is proven. */
  readonly blockLog?: number | null;
  readonly currency: Currency;
  readonly amount: Amount;
  readonly from: string;
  readonly to: string;
  readonly height: number;
  /** Hash of that block; absent or null where only the transaction was read. */
  readonly hash?: string | null;
  /** The last tick at which a block may hold its transaction. */
  readonly diesAfter: number;
  /** About when that is, for people and timers; Unix milliseconds. */
  readonly expiresAt: number;
}

/** The place of a transfer in its chain, and its amount: one of the same id elsewhere is another transfer. */
export type TransferPlace = Pick<TransferFinding, "height" | "blockLog" | "amount">;

/** The key of a transfer within its network. */
export function keyOf(
  { merchantId, txid, logIndex }: Pick<TransferFinding, "merchantId" | "txid" | "logIndex">,
): string {
  return `${merchantId}/${txid}/${logIndex}`;
}

/**
 * A transfer as its merchant's inbox has it, in JSON.
 *
 * @param more what else is to be known of it
 */
export function inboxData(
  finding: TransferFinding,
  more: Readonly<Record<string, string>> = {},
): string {
  return JSON.stringify({
    ...more,
    currency: finding.currency,
    amount: formatAmount(finding.amount),
    from: finding.from,
    to: finding.to,
    addressId: finding.addressId,
    height: finding.height,
    diesAfter: finding.diesAfter,
    expiresAt: finding.expiresAt,
  });
}
