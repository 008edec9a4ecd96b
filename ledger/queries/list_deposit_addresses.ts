import { type Amount, amountOf } from "../amount.ts";
import type { Sql } from "../database/connect.ts";
import type { Currency, Network } from "../pair.ts";
import type { DepositStatus } from "../transitions.ts";

/** A deposit as it is shown beside its address. */
export interface AddressDeposit {
  readonly id: string;
  readonly amount: Amount;
  readonly currency: Currency;
  readonly status: DepositStatus;
  readonly createdAt: number;
}

/** An issued address with its newest deposits. */
export interface ListedAddress {
  readonly id: string;
  readonly address: string;
  readonly network: Network;
  readonly createdAt: number;
  readonly deposits: readonly AddressDeposit[];
}

/** Deposits shown with each address. */
const DEPOSITS_SHOWN = 10;

/**
 * Addresses issued by a merchant, newest first.
 *
 * @param network null: of every network
 * @param offset how many of the newest are passed over
 * @param limit how many are read
 */
export async function listDepositAddresses(
  sql: Sql,
  merchantId: string,
  network: Network | null,
  offset: number,
  limit: number,
): Promise<readonly ListedAddress[]> {
  const rows = await sql<{
    id: string;
    address: string;
    network: Network;
    created_at: Date;
    deposits: readonly {
      id: string;
      amount: string;
      currency: Currency;
      status: DepositStatus;
      at: number;
    }[];
  }[]>`
    SELECT a.id, a.address, a.network, a.created_at, coalesce(d.deposits, '[]') AS deposits
    FROM (
      SELECT x.* FROM book.deposit_address x
      WHERE x.merchant_id = ${merchantId} AND x.kind = 'issued'
        ${network === null ? sql`` : sql`AND x.network = ${network}`}
      ORDER BY x.id DESC OFFSET ${offset} LIMIT ${limit}) a
    LEFT JOIN LATERAL (
      SELECT json_agg(json_build_object('id', n.id, 'amount', trim_scale(n.amount)::text,
          'currency', n.currency, 'status', n.status,
          'at', floor(extract(epoch FROM n.created_at) * 1000)) ORDER BY n.id DESC) AS deposits
      FROM (SELECT e.* FROM book.deposit e
            WHERE e.address_id = a.id AND e.merchant_id = ${merchantId}
            ORDER BY e.id DESC LIMIT ${DEPOSITS_SHOWN}) n) d ON true
    ORDER BY a.id DESC`;
  return rows.map((row) => ({
    id: row.id,
    address: row.address,
    network: row.network,
    createdAt: row.created_at.getTime(),
    deposits: row.deposits.map((deposit) => ({
      id: deposit.id,
      amount: amountOf(deposit.amount),
      currency: deposit.currency,
      status: deposit.status,
      createdAt: deposit.at,
    })),
  }));
}
