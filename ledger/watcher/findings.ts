import type { Sql } from "postgres";
import { type Amount, amountOf, formatAmount } from "../money/amount.ts";
import type { Currency, Network, OutgoingAsset } from "../money/pair.ts";

/** An own transaction that was met on the chain and has no outcome from it yet. */
export interface OwnTransaction {
  readonly outgoingId: string;
  readonly number: number;
  readonly merchantId: string;
  readonly kind: string;
  /** The withdrawal it pays, null for transfers of the house. */
  readonly paymentId: string | null;
  readonly settlementId: string | null;
  readonly txid: string;
  readonly currency: OutgoingAsset;
  readonly amount: Amount;
  /** Derivation index of the paying address, or `hot`. */
  readonly wallet: string;
  readonly destination: string;
  /** True where it was declared dead before: then our proof was wrong, and it may be paid twice. */
  readonly wasExpired: boolean;
}

/**
 * Which of the given transaction ids are ours and not decided by the chain, by unique index. They
 * are sent as one text: to quote each of thousands for an array costs the service three times as
 * much. Their number is hidden from the planner, see `findAddresses`.
 */
export async function findOwnTransactions(
  sql: Sql,
  network: Network,
  txids: readonly string[],
): Promise<readonly OwnTransaction[]> {
  if (txids.length === 0) return [];
  const rows = await sql<
    (Omit<OwnTransaction, "amount"> & { readonly amount: string })[]
  >`
    SELECT a.outgoing_id AS "outgoingId", a.number, a.merchant_id AS "merchantId", o.kind,
      o.payment_id AS "paymentId", w.settlement_id AS "settlementId", a.txid, o.currency, trim_scale(o.amount)::text AS amount, o.wallet, o.destination,
      a.outcome IS NOT NULL AS "wasExpired"
    FROM book.attempt a JOIN book.outgoing o ON o.id = a.outgoing_id AND o.merchant_id = a.merchant_id
    LEFT JOIN book.withdrawal w ON w.id = o.payment_id AND w.merchant_id = o.merchant_id
    WHERE a.txid = ANY ((SELECT string_to_array(${
    txids.join(",")
  }, ','))::text[]) AND a.network = ${network}
      AND (a.outcome IS NULL OR a.outcome = 'expired')`;
  return rows.map((row) => ({ ...row, amount: amountOf(row.amount) }));
}

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
