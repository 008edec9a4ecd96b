import type { Fragment } from "postgres";
import type { Amount } from "../amount.ts";
import type { AnySql } from "../database/connect.ts";
import type { DepositRow } from "../rows.ts";
import { table } from "../table.ts";

/** What has come in on the address behind a hosted payment page. */
export interface SessionPayment {
  /**
   * The deposit that says how the payment stands: the first credited one, otherwise the first that
   * is under way, otherwise the first that came to nothing.
   */
  readonly deposit: Pick<
    DepositRow,
    "status" | "amount" | "currency" | "txid" | "createdAt" | "clearedAt"
  >;
  /** Sum of what is credited, in the token that the page asks for. */
  readonly credited: Amount;
  /** Sum of what is seen and not final yet, in that token. */
  readonly pending: Amount;
}

/** The columns of {@linkcode paymentOf}, under names that no column of a session has. */
const paymentColumns = table<{
  readonly depositStatus: DepositRow["status"];
  readonly depositAmount: Amount;
  readonly depositCurrency: DepositRow["currency"];
  readonly depositTxid: string | null;
  readonly depositCreatedAt: number;
  readonly depositClearedAt: number | null;
  readonly creditedSum: Amount;
  readonly pendingSum: Amount;
}>("book.deposit", {
  depositStatus: "text",
  depositAmount: "amount",
  depositCurrency: "text",
  depositTxid: "text",
  depositCreatedAt: "time",
  depositClearedAt: "time",
  creditedSum: "amount",
  pendingSum: "amount",
});

/**
 * Joins to each session `s` what has come in for it as columns of `p`, see
 * {@linkcode decodePayment}; each page has an address of its own.
 */
export function paymentOf(sql: AnySql): Fragment {
  return sql`
    LEFT JOIN LATERAL (
      SELECT d.status AS deposit_status, d.amount AS deposit_amount,
        d.currency AS deposit_currency, d.txid AS deposit_txid,
        d.created_at AS deposit_created_at, d.cleared_at AS deposit_cleared_at,
        coalesce(sum(d.amount) FILTER (WHERE d.status = 'CONFIRMED' AND d.currency = s.currency)
          OVER (), 0) AS credited_sum,
        coalesce(sum(d.amount) FILTER (WHERE d.status = 'PENDING' AND d.currency = s.currency)
          OVER (), 0) AS pending_sum
      FROM book.deposit d
      WHERE d.address_id = s.address_id AND d.merchant_id = s.merchant_id
      ORDER BY CASE d.status WHEN 'CONFIRMED' THEN 0 WHEN 'PENDING' THEN 1 ELSE 2 END,
        d.cleared_at, d.id
      LIMIT 1) p ON true`;
}

/** Reads the columns of {@linkcode paymentOf}; null where nothing has come in. */
export function decodePayment(row: Readonly<Record<string, unknown>>): SessionPayment | null {
  if (row["deposit_status"] === null) return null;
  const found = paymentColumns.decode(row);
  return {
    deposit: {
      status: found.depositStatus,
      amount: found.depositAmount,
      currency: found.depositCurrency,
      txid: found.depositTxid,
      createdAt: found.depositCreatedAt,
      clearedAt: found.depositClearedAt,
    },
    credited: found.creditedSum,
    pending: found.pendingSum,
  };
}
