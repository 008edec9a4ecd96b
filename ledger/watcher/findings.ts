import type { Sql } from "postgres";
import { type Amount, formatAmount } from "../money/amount.ts";
import type { Currency, Network, OutgoingAsset } from "../money/pair.ts";
import { shape } from "../shape.ts";
import { amount, boolean, integer, orNull, type RowOf, text } from "../table.ts";

const ownShape = shape({
  outgoingId: text(),
  number: integer(),
  merchantId: text(),
  kind: text(),
  /** The withdrawal it pays, null for internal transfers. */
  paymentId: orNull(text()),
  settlementId: orNull(text()),
  txid: text(),
  currency: text<OutgoingAsset>(),
  amount: amount(),
  /** Derivation index of the paying address, or `hot`. */
  wallet: text(),
  destination: text(),
  /** True where it was declared dead before: then our proof was wrong, and it may be paid twice. */
  wasExpired: boolean(),
});
/** An own transaction that was met on the chain and has no outcome from it yet. */
export type OwnTransaction = RowOf<typeof ownShape>;

/**
 * Own transactions among the given ids that the chain has not decided, by unique index. The ids are
 * sent as one text: to quote each of thousands for an array costs the service three times as
 * much. Their number is hidden from the planner, see `findAddresses`.
 */
export async function findOwnTransactions(
  sql: Sql,
  network: Network,
  txids: readonly string[],
): Promise<readonly OwnTransaction[]> {
  if (txids.length === 0) return [];
  return ownShape.all(
    await sql`
    SELECT a.outgoing_id, a.number, a.merchant_id, o.kind, o.payment_id, w.settlement_id, a.txid, o.currency,
      o.amount, o.wallet, o.destination, a.outcome IS NOT NULL AS was_expired
    FROM book.attempt a JOIN book.outgoing o ON o.id = a.outgoing_id AND o.merchant_id = a.merchant_id
    LEFT JOIN book.withdrawal w ON w.id = o.payment_id AND w.merchant_id = o.merchant_id
    WHERE a.txid = ANY ((SELECT string_to_array(${
      txids.join(",")
    }, ','))::text[]) AND a.network = ${network}
      AND (a.outcome IS NULL OR a.outcome = 'expired')`,
  );
}

/** A transfer as its merchant's inbox has it, in JSON. */
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

/** A transfer to an address of a merchant. */
export interface TransferFinding {
  readonly merchantId: string;
  readonly addressId: string;
  readonly txid: string;
  readonly logIndex: number;
  readonly currency: Currency;
  readonly amount: Amount;
  readonly from: string;
  readonly to: string;
  readonly height: number;
  /** Hash of that block; absent or null where only the transaction was read. */
  readonly hash?: string | null;
  readonly expiresAt: number;
}

/** The end of an own transaction, from a solid block. */
export interface OutcomeFinding {
  readonly own: OwnTransaction;
  /** `unexpected`: it succeeded, but not with the transfer that was intended. */
  readonly result: "paid" | "failed" | "unexpected";
  readonly reason: string | null;
  readonly height: number;
  /** The transaction's cost, in the chain's own coin. */
  readonly fee: Amount;
}
