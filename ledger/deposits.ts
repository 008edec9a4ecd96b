import type { Sql } from "./database/connect.ts";
import { type Page, type PageRequest, readCountedPage, streamListPage } from "./lists/list_page.ts";
import { type ListFilter, ListQuery } from "./lists/list_query.ts";
import type { Currency, Network } from "./money/pair.ts";
import type { DepositStatus } from "./money/transitions.ts";
import { type DepositRow, depositTable } from "./payment_rows.ts";
import { shape } from "./shape.ts";
import { amount, type RowOf, text, time } from "./table.ts";

const depositOwner = shape({
  merchantId: text(),
  status: text<DepositStatus>(),
  amount: amount(),
});

/** Merchant and state of a deposit; null where there is none of that id. */
export async function findDepositOwner(
  sql: Sql,
  depositId: string,
): Promise<Pick<DepositRow, "merchantId" | "status" | "amount"> | null> {
  return depositOwner.first(
    await sql`SELECT merchant_id, status, amount FROM book.deposit WHERE id = ${depositId}`,
  );
}

/** One page of the deposits booked by hand that wait for a decision, newest first. */
export async function listOpenDeposits(
  sql: Sql,
  merchantId: string | undefined,
  request: PageRequest,
): Promise<Page<DepositRow>> {
  const waiting = sql`
    FROM book.deposit d WHERE d.status = 'PENDING' AND (d.log_index IS NULL OR d.log_index = -1)
      ${merchantId === undefined ? sql`` : sql`AND d.merchant_id = ${merchantId}`}`;
  const { decode } = depositTable;
  return await readCountedPage(sql, sql`d.*`, waiting, sql`d.id DESC`, request, decode);
}

/**
 * Reads one page of a merchant's deposits, newest first. No row stays in memory: each may be large.
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
  const query = new ListQuery(sql, "deposit", merchantId, filter);
  return await streamListPage(query, depositTable, request, take);
}

const addressDeposit = shape({
  id: text(),
  amount: amount(),
  currency: text<Currency>(),
  status: text<DepositStatus>(),
  createdAt: time(),
});
/** A deposit as it is shown beside its address. */
export type AddressDeposit = RowOf<typeof addressDeposit>;

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
  const rows = await sql`
    SELECT a.id AS address_id, n.id, n.amount, n.currency, n.status, n.created_at
    FROM unnest(${[...addressIds]}::text[]) a(id) CROSS JOIN LATERAL (
      SELECT d.* FROM book.deposit d
      WHERE d.address_id = a.id AND d.merchant_id = ${merchantId}
      ORDER BY d.address_id DESC, d.id DESC LIMIT ${SHOWN}) n
    ORDER BY n.id DESC`;
  const found = new Map<string, AddressDeposit[]>();
  for (const row of rows) {
    const list = found.get(row.address_id) ?? [];
    found.set(row.address_id, list);
    list.push(addressDeposit.decode(row));
  }
  return found;
}

/** Deposits of one transaction that are read at most: it may pay a merchant any number of times. */
export const MOST_OF_TRANSACTION = 100;

/** The first 100 of a merchant's deposits that came in by one transaction, or claim it, in the order of its logs. */
export async function findDepositsOfTransaction(
  sql: Sql,
  merchantId: string,
  network: Network,
  txid: string,
): Promise<readonly DepositRow[]> {
  const rows = await sql`
    SELECT d.* FROM book.deposit d
    WHERE d.merchant_id = ${merchantId} AND d.network = ${network} AND d.txid = ${txid}
    ORDER BY d.log_index LIMIT ${MOST_OF_TRANSACTION}::int`;
  return rows.map((row) => depositTable.decode(row));
}
