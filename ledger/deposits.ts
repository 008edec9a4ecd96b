import type { Sql } from "./database/connect.ts";
import { type Page, pageOf, type PageRequest } from "./lists/list_page.ts";
import { type Amount, amountOf } from "./money/amount.ts";
import type { Currency, Network } from "./money/pair.ts";
import type { DepositStatus } from "./money/transitions.ts";
import { type DepositRow, depositTable } from "./rows.ts";
import type { ListFilter } from "./lists/list_filter.ts";

/** Whose deposit this is, and how it stands; `null` where there is none of that id. */
export async function findDepositOwner(
  sql: Sql,
  depositId: string,
): Promise<Pick<DepositRow, "merchantId" | "status" | "amount"> | null> {
  const [row] = await sql<{ merchant_id: string; status: DepositRow["status"]; amount: string }[]>`
    SELECT merchant_id, status, trim_scale(amount)::text AS amount FROM book.deposit WHERE id = ${depositId}`;
  if (row === undefined) return null;
  return { merchantId: row.merchant_id, status: row.status, amount: amountOf(row.amount) };
}

/** One page of the deposits booked by hand that wait for a decision, newest first. */
export async function listOpenDeposits(
  sql: Sql,
  merchantId: string | undefined,
  { page, limit }: PageRequest,
): Promise<Page<DepositRow>> {
  const waiting = sql`
    FROM book.deposit d WHERE d.status = 'PENDING' AND (d.log_index IS NULL OR d.log_index = -1)
      ${merchantId === undefined ? sql`` : sql`AND d.merchant_id = ${merchantId}`}`;
  const [[counted], rows] = await Promise.all([
    sql<{ total: string }[]>`SELECT count(*) AS total ${waiting}`,
    sql`SELECT d.* ${waiting} ORDER BY d.id DESC OFFSET ${
      (page - 1) * limit
    }::bigint LIMIT ${limit}`,
  ]);
  return {
    total: Number(counted?.total ?? 0),
    rows: rows.map((row) => depositTable.decode(row)),
  };
}

/**
 * Reads one page of a merchant's deposits, newest first. No row is kept: each may be large.
 *
 * @param take called with each row as it arrives; what it was given counts only when this resolves
 * @returns rows of the whole list under the filter
 */
export async function listDeposits(
  sql: Sql,
  merchantId: string,
  filter: ListFilter,
  request: PageRequest,
  take: (row: DepositRow) => void,
): Promise<number> {
  let total = 0;
  await sql`
    WITH ${pageOf(sql, "deposit", merchantId, filter, request)}
    SELECT c.total, p.* FROM counted c LEFT JOIN page p ON true ORDER BY p.seq DESC`
    .forEach((row) => {
      total = Number(row.total);
      if (row.id !== null) take(depositTable.decode(row));
    });
  return total;
}

/** A deposit as it is shown beside its address. */
export interface AddressDeposit {
  readonly id: string;
  readonly amount: Amount;
  readonly currency: Currency;
  readonly status: DepositStatus;
  readonly createdAt: number;
}

/** Deposits shown with each address. */
const SHOWN = 10;

/**
 * The newest 10 deposits of each of a merchant's addresses, newest first; an address without any is
 * absent. Ordered by both columns of the index: by the id alone the planner may walk all deposits
 * from the newest until it has met 10 of the address.
 */
export async function newestDeposits(
  sql: Sql,
  merchantId: string,
  addressIds: readonly string[],
): Promise<ReadonlyMap<string, readonly AddressDeposit[]>> {
  if (addressIds.length === 0) return new Map();
  const rows = await sql<{
    address_id: string;
    id: string;
    amount: string;
    currency: Currency;
    status: DepositStatus;
    created_at: Date;
  }[]>`
    SELECT a.id AS address_id, n.id, trim_scale(n.amount)::text AS amount, n.currency, n.status,
      n.created_at
    FROM unnest(${[...addressIds]}::text[]) a(id) CROSS JOIN LATERAL (
      SELECT d.* FROM book.deposit d
      WHERE d.address_id = a.id AND d.merchant_id = ${merchantId}
      ORDER BY d.address_id DESC, d.id DESC LIMIT ${SHOWN}) n
    ORDER BY n.id DESC`;
  const found = new Map<string, AddressDeposit[]>();
  for (const row of rows) {
    const list = found.get(row.address_id) ?? [];
    found.set(row.address_id, list);
    list.push({
      id: row.id,
      amount: amountOf(row.amount),
      currency: row.currency,
      status: row.status,
      createdAt: row.created_at.getTime(),
    });
  }
  return found;
}

/** A merchant's deposits that came in by one transaction, or claim it, in the order of its logs. */
export async function findDepositsOfTransaction(
  sql: Sql,
  merchantId: string,
  network: Network,
  txid: string,
): Promise<readonly DepositRow[]> {
  const rows = await sql`
    SELECT d.* FROM book.deposit d
    WHERE d.merchant_id = ${merchantId} AND d.network = ${network} AND d.txid = ${txid}
    ORDER BY d.log_index`;
  return rows.map((row) => depositTable.decode(row));
}
