import { type Amount, amountOf } from "../amount.ts";
import type { Sql } from "../database/connect.ts";
import type { Currency } from "../pair.ts";
import type { DepositStatus } from "../transitions.ts";

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
