import { type Amount, amountOf } from "../amount.ts";
import type { Sql } from "../database/connect.ts";
import { type DepositRow, depositTable } from "../rows.ts";
import { type SessionRow, sessionTable } from "./session_row.ts";

/** What has come in on the address behind a hosted payment page. */
export interface SessionPayment {
  /**
   * The deposit that says how the payment stands: the first credited one, otherwise the first that
   * is under way, otherwise the first that came to nothing.
   */
  readonly deposit: DepositRow;
  /** Sum of what is credited, in the token that the page asks for. */
  readonly credited: Amount;
  /** Sum of what is seen and not final yet, in that token. */
  readonly pending: Amount;
}

/** A hosted payment page and what has come in for it; null while nothing was seen. */
export interface HostedPayment {
  readonly session: SessionRow;
  readonly payment: SessionPayment | null;
}

/**
 * Reads hosted payment pages with what has come in for them.
 *
 * @param tokenHashes SHA-256 of the tokens that open them, hex
 * @returns by hash; a hash that is no page's is absent
 */
export async function readHostedPayments(
  sql: Sql,
  tokenHashes: readonly string[],
): Promise<ReadonlyMap<string, HostedPayment>> {
  const rows = await sql`
    SELECT s.*, encode(s.token_hash, 'hex') AS hash
    FROM unnest(${[...tokenHashes]}::text[]) t(hash)
      JOIN hub.session s ON s.token_hash = decode(t.hash, 'hex')`;
  const sessions = rows.map((row): readonly [string, SessionRow] => [
    row.hash,
    sessionTable.decode(row),
  ]);
  const payments = await readPayments(sql, sessions.map(([, session]) => session));
  return new Map(sessions.map(([hash, session]) => [
    hash,
    { session, payment: payments.get(session.addressId) ?? null },
  ]));
}

/** By the address behind the page; each page has an address of its own. */
async function readPayments(
  sql: Sql,
  sessions: readonly SessionRow[],
): Promise<ReadonlyMap<string, SessionPayment>> {
  if (sessions.length === 0) return new Map();
  const rows = await sql`
    SELECT n.* FROM unnest(
      ${sessions.map(({ addressId }) => addressId)}::text[],
      ${sessions.map(({ merchantId }) => merchantId)}::text[],
      ${sessions.map(({ currency }) => currency)}::text[]) s(address_id, merchant_id, currency)
    CROSS JOIN LATERAL (
      SELECT d.*,
        coalesce(sum(d.amount) FILTER (WHERE d.status = 'CONFIRMED' AND d.currency = s.currency)
          OVER (), 0)::text AS credited_sum,
        coalesce(sum(d.amount) FILTER (WHERE d.status = 'PENDING' AND d.currency = s.currency)
          OVER (), 0)::text AS pending_sum
      FROM book.deposit d
      WHERE d.address_id = s.address_id AND d.merchant_id = s.merchant_id
      ORDER BY CASE d.status WHEN 'CONFIRMED' THEN 0 WHEN 'PENDING' THEN 1 ELSE 2 END,
        d.cleared_at, d.id
      LIMIT 1) n`;
  return new Map(rows.map((row) => [row.address_id, {
    deposit: depositTable.decode(row),
    credited: amountOf(row.credited_sum),
    pending: amountOf(row.pending_sum),
  }]));
}
