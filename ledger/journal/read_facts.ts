import type { Sql } from "postgres";
import type { Network } from "../pair.ts";
import {
  type DepositAddressRow,
  depositAddressTable,
  type DepositRow,
  depositTable,
  type TransactionRow,
  transactionTable,
  type WithdrawalRow,
  withdrawalTable,
} from "../rows.ts";
import type { OutgoingStatus } from "../transitions.ts";

/** Records that the messages of a batch speak of. */
export interface Needs {
  readonly withdrawals: readonly { readonly merchantId: string; readonly id: string }[];
  readonly transfers: readonly {
    readonly merchantId: string;
    readonly network: Network;
    readonly txid: string;
    readonly logIndex: number;
  }[];
  readonly addresses: readonly {
    readonly merchantId: string;
    readonly network: Network;
    readonly address: string;
  }[];
  readonly identifiers: readonly {
    readonly merchantId: string;
    readonly network: Network;
    readonly identifier: string;
  }[];
}

/** The records that exist among the needed ones; payments come with their statement lines. */
export interface Facts {
  readonly withdrawals: readonly WithdrawalRow[];
  readonly deposits: readonly DepositRow[];
  readonly addresses: readonly DepositAddressRow[];
  readonly transactions: readonly TransactionRow[];
  /** States of the payouts of the withdrawals. */
  readonly outgoing: readonly {
    readonly id: string;
    readonly merchantId: string;
    readonly status: OutgoingStatus;
  }[];
}

const NONE: Facts = {
  withdrawals: [],
  deposits: [],
  addresses: [],
  transactions: [],
  outgoing: [],
};

/**
 * Reads what a batch needs besides the accounts. Must be called after the accounts were read: rows
 * newer than an account's version make its slice miss, older ones cannot be returned.
 */
export async function readFacts(sql: Sql, needs: Needs): Promise<Facts> {
  const payments = needs.withdrawals.length + needs.transfers.length;
  if (payments + needs.addresses.length + needs.identifiers.length === 0) return NONE;
  const [withdrawals, deposits, addresses] = await Promise.all([
    needs.withdrawals.length === 0 ? [] : sql`
      SELECT w.*, o.status AS outgoing_status FROM book.withdrawal w
      JOIN book.outgoing o ON o.id = w.outgoing_id AND o.merchant_id = w.merchant_id
      JOIN unnest(${column(needs.withdrawals, "id")}::text[], ${
      column(needs.withdrawals, "merchantId")
    }::text[])
        AS k(id, merchant_id) ON w.id = k.id AND w.merchant_id = k.merchant_id`,
    needs.transfers.length === 0 ? [] : sql`
      SELECT d.* FROM book.deposit d
      JOIN unnest(${column(needs.transfers, "merchantId")}::text[], ${
      column(needs.transfers, "network")
    }::text[],
                  ${column(needs.transfers, "txid")}::text[], ${
      needs.transfers.map((t) => t.logIndex)
    }::int[])
        AS k(merchant_id, network, txid, log_index)
        ON d.merchant_id = k.merchant_id AND d.network = k.network AND d.txid = k.txid AND d.log_index = k.log_index`,
    readAddresses(sql, needs),
  ]);
  const found = {
    withdrawals: withdrawals.map((row) => withdrawalTable.decode(row)),
    deposits: deposits.map((row) => depositTable.decode(row)),
  };
  const lines = [...found.withdrawals, ...found.deposits];
  const transactions = lines.length === 0 ? [] : await sql`
    SELECT t.* FROM book.transaction t
    JOIN unnest(${column(lines, "merchantId")}::text[], ${
    lines.map((line) => line.transactionSeq)
  }::bigint[])
      AS k(merchant_id, seq) ON t.merchant_id = k.merchant_id AND t.seq = k.seq`;
  return {
    ...found,
    addresses,
    transactions: transactions.map((row) => transactionTable.decode(row)),
    outgoing: withdrawals.map((row) => ({
      id: row["outgoing_id"] as string,
      merchantId: row["merchant_id"] as string,
      status: row["outgoing_status"] as OutgoingStatus,
    })),
  };
}

async function readAddresses(sql: Sql, needs: Needs): Promise<readonly DepositAddressRow[]> {
  if (needs.addresses.length + needs.identifiers.length === 0) return [];
  const rows = await sql`
    SELECT a.* FROM book.deposit_address a
    JOIN unnest(${column(needs.addresses, "network")}::text[], ${
    column(needs.addresses, "address")
  }::text[],
                ${column(needs.addresses, "merchantId")}::text[])
      AS k(network, address, merchant_id)
      ON a.network = k.network AND a.address = k.address AND a.merchant_id = k.merchant_id
    UNION
    SELECT a.* FROM book.deposit_address a
    JOIN unnest(${column(needs.identifiers, "merchantId")}::text[], ${
    column(needs.identifiers, "network")
  }::text[],
                ${column(needs.identifiers, "identifier")}::text[])
      AS k(merchant_id, network, identifier)
      ON a.merchant_id = k.merchant_id AND a.network = k.network AND a.identifier = k.identifier AND a.kind = 'issued'`;
  return rows.map((row) => depositAddressTable.decode(row));
}

function column<K extends string>(
  rows: readonly { readonly [field in K]: string }[],
  field: K,
): string[] {
  return rows.map((row) => row[field]);
}
