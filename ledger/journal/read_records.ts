import type { Row, Sql } from "postgres";
import {
  type DepositRow,
  depositTable,
  type SettlementAddressRow,
  settlementAddressTable,
  type SettlementRow,
  settlementTable,
  type TransactionRow,
  transactionTable,
  type WithdrawalRow,
  withdrawalTable,
} from "../payment_rows.ts";
import {
  type DepositAddressRow,
  depositAddressTable,
  type IngestedRow,
  ingestedTable,
} from "../rows.ts";
import type { OutgoingStatus } from "../money/transitions.ts";
import { MOST_SETTLEMENT_ADDRESSES } from "../settlements.ts";
import { inPlace } from "../in_place.ts";
import { type OfAnother, readDeposits, readOfAnother } from "./read_deposits.ts";
import { column, type RecordNeed, type RecordNeeds } from "./record_needs.ts";

/**
 * Addresses of a whitelist that are counted at most. One of an earlier version may have any number: so many
 * more than a merchant may have that the removals of a whole batch do not seem to make room.
 */
const COUNTED = MOST_SETTLEMENT_ADDRESSES + 1_000;

/** The records that exist among the needed ones; payments come with their statement lines. */
export interface BatchRecords {
  readonly withdrawals: readonly WithdrawalRow[];
  readonly deposits: readonly DepositRow[];
  readonly addresses: readonly DepositAddressRow[];
  readonly transactions: readonly TransactionRow[];
  readonly settlements: readonly SettlementRow[];
  readonly whitelist: readonly SettlementAddressRow[];
  /** Addresses on the whitelists to be counted, up to {@linkcode COUNTED}. */
  readonly listed: readonly { readonly merchantId: string; readonly count: number }[];
  readonly ingested: readonly IngestedRow[];
  /** Living withdrawals that hold a wanted reference. */
  readonly holders: readonly {
    readonly merchantId: string;
    readonly referenceId: string;
    readonly withdrawalId: string;
  }[];
  /** Transactions named by those of them that were booked by hand, and that are another's. */
  readonly ofAnother: readonly OfAnother[];
  /** States of the payouts of the withdrawals. */
  readonly outgoing: readonly {
    readonly id: string;
    readonly merchantId: string;
    readonly status: OutgoingStatus;
  }[];
}

/**
 * Reads what a batch needs besides the accounts. Records that are named by id are read by the index
 * of their id: `IS NOT DISTINCT FROM` keeps the planner from one that begins with the merchant,
 * which looks as good while a table is small and reads all of a merchant's rows later. Must be called
 * after the accounts were read: rows newer than an account's version make its write miss, older ones
 * cannot be returned.
 */
export async function readRecords(sql: Sql, needs: RecordNeeds): Promise<BatchRecords> {
  const [withdrawals, holders, deposits, addresses, whitelists, rare] = await Promise.all([
    readWithdrawals(sql, needs),
    readHolders(sql, needs),
    readDeposits(sql, needs),
    readAddresses(sql, needs),
    readWhitelists(sql, needs),
    readRare(sql, needs),
  ]);
  const found = {
    withdrawals: withdrawals.map((row) => withdrawalTable.decode(row)),
    deposits: deposits.map((row) => depositTable.decode(row)),
  };
  const [linked, ofAnother] = needs.deposits.length === 0 ? [[], []] : await Promise.all([
    readAddressesById(
      sql,
      found.deposits.flatMap(({ addressId: id, merchantId }) =>
        id === null ? [] : [{ id, merchantId }]
      ),
    ),
    readOfAnother(sql, found.deposits),
  ]);
  const lines = [...found.withdrawals, ...found.deposits];
  const transactions = lines.length === 0 ? [] : await sql`
    SELECT t.* FROM book.transaction t
    JOIN unnest(${column(lines, "merchantId")}::text[],
                ${lines.map((line) => line.transactionSeq)}::bigint[]) AS k(merchant_id, seq)
      ON t.merchant_id = k.merchant_id AND t.seq = k.seq`;
  return {
    ...found,
    ...whitelists,
    ...rare,
    holders,
    ofAnother,
    addresses: [...addresses, ...linked].map((row) => depositAddressTable.decode(row)),
    transactions: transactions.map((row) => transactionTable.decode(row)),
    outgoing: withdrawals.filter((row) => row["outgoing_status"] !== null).map((row) => ({
      id: row["outgoing_id"] as string,
      merchantId: row["merchant_id"] as string,
      status: row["outgoing_status"] as OutgoingStatus,
    })),
  };
}

async function readWithdrawals(sql: Sql, { withdrawals }: RecordNeeds): Promise<readonly Row[]> {
  if (withdrawals.length === 0) return [];
  return await sql`
    SELECT w.*, o.status AS outgoing_status FROM book.withdrawal w
    LEFT JOIN book.outgoing o ON o.id = w.outgoing_id AND o.merchant_id = w.merchant_id
    JOIN unnest(${column(withdrawals, "id")}::text[], ${column(withdrawals, "merchantId")}::text[])
      AS k(id, merchant_id) ON w.id = k.id AND w.merchant_id IS NOT DISTINCT FROM k.merchant_id`;
}

/**
 * The withdrawals that hold wanted references, each found in one place of the unique index: a reference
 * like `1` may be that of every merchant. Compared as a row, reference and merchant are served by no
 * other index, and in its order one row is read of it.
 */
async function readHolders(
  sql: Sql,
  { references }: RecordNeeds,
): Promise<BatchRecords["holders"]> {
  if (references.length === 0) return [];
  return await sql<BatchRecords["holders"]>`
    SELECT k.merchant_id AS "merchantId", k.reference_id AS "referenceId", w.id AS "withdrawalId"
    FROM unnest(${column(references, "merchantId")}::text[],
                ${column(references, "referenceId")}::text[]) AS k(merchant_id, reference_id)
    CROSS JOIN LATERAL (
      SELECT x.id FROM book.withdrawal x
      WHERE x.reference_id IS NOT NULL
        AND (x.reference_id, x.merchant_id) >= (k.reference_id, k.merchant_id)
        AND (x.reference_id, x.merchant_id) <= (k.reference_id, k.merchant_id)
        AND x.status NOT IN ('FAILED','CANCELLED')
      ORDER BY x.reference_id, x.merchant_id LIMIT 1) w`;
}

async function readAddressesById(
  sql: Sql,
  needs: readonly RecordNeed[],
): Promise<readonly Row[]> {
  if (needs.length === 0) return [];
  return await sql`
    SELECT a.* FROM book.deposit_address a
    JOIN unnest(${column(needs, "id")}::text[], ${column(needs, "merchantId")}::text[])
      AS k(id, merchant_id) ON a.id = k.id AND a.merchant_id IS NOT DISTINCT FROM k.merchant_id`;
}

async function readAddresses(sql: Sql, needs: RecordNeeds): Promise<readonly Row[]> {
  const { addresses, identifiers, addressIds, topUps } = needs;
  const byAddress = addresses.length === 0 ? [] : await sql`
    SELECT a.* FROM book.deposit_address a
    JOIN unnest(${column(addresses, "network")}::text[], ${column(addresses, "address")}::text[],
                ${column(addresses, "merchantId")}::text[]) AS k(network, address, merchant_id)
      ON a.network = k.network AND a.address = k.address AND a.merchant_id = k.merchant_id`;
  const byIdentifier = identifiers.length === 0 ? [] : await sql`
    SELECT a.* FROM unnest(${column(identifiers, "merchantId")}::text[],
      ${column(identifiers, "network")}::text[],
      ${column(identifiers, "identifier")}::text[]) AS k(merchant_id, network, identifier)
    CROSS JOIN LATERAL (
      SELECT x.* FROM book.deposit_address x
      WHERE x.kind = 'issued' AND ${inPlace(sql, ["merchant_id", "network", "identifier"])}) a`;
  const byId = await readAddressesById(sql, addressIds);
  const byTopUp = topUps.length === 0 ? [] : await sql`
    SELECT a.* FROM unnest(${column(topUps, "merchantId")}::text[],
      ${column(topUps, "network")}::text[]) AS k(merchant_id, network)
    CROSS JOIN LATERAL (
      SELECT x.* FROM book.deposit_address x
      WHERE x.kind = 'top_up' AND ${inPlace(sql, ["merchant_id", "network"])}) a`;
  return [...byAddress, ...byIdentifier, ...byId, ...byTopUp];
}

/**
 * The addresses of whitelists that messages name, and the sizes of those that get one more. Counted in the
 * order of the index, which spares others' rows whatever share of the table the planner takes one merchant's for.
 */
async function readWhitelists(
  sql: Sql,
  { settlementAddresses, destinations, whitelists }: RecordNeeds,
): Promise<Pick<BatchRecords, "whitelist" | "listed">> {
  const [ids, owners] = [
    column(settlementAddresses, "id"),
    column(settlementAddresses, "merchantId"),
  ];
  const byId = ids.length === 0 ? [] : await sql`
    SELECT a.* FROM unnest(${ids}::text[], ${owners}::text[]) AS k(id, merchant_id)
    CROSS JOIN LATERAL (
      SELECT x.* FROM book.settlement_address x
      WHERE x.merchant_id IS NOT DISTINCT FROM k.merchant_id AND ${inPlace(sql, ["id"])}) a
    WHERE a.removed_at IS NULL`;
  const byPlace = destinations.length === 0 ? [] : await sql`
    SELECT a.* FROM unnest(${column(destinations, "merchantId")}::text[],
      ${column(destinations, "network")}::text[], ${column(destinations, "address")}::text[])
      AS k(merchant_id, network, address)
    CROSS JOIN LATERAL (
      SELECT x.* FROM book.settlement_address x
      WHERE x.removed_at IS NULL AND ${inPlace(sql, ["merchant_id", "network", "address"])}) a`;
  const listed = whitelists.length === 0 ? [] : await sql<BatchRecords["listed"]>`
    SELECT k.merchant_id AS "merchantId", n.count
    FROM unnest(${[...new Set(whitelists)]}::text[]) AS k(merchant_id)
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS count FROM (
        SELECT FROM book.settlement_address x
        WHERE x.merchant_id = k.merchant_id AND x.removed_at IS NULL
        ORDER BY x.merchant_id, x.network, x.address LIMIT ${COUNTED}::int) counted) n`;
  const whitelist = [...byId, ...byPlace].map((row) => settlementAddressTable.decode(row));
  return { whitelist, listed };
}

async function readRare(
  sql: Sql,
  needs: RecordNeeds,
): Promise<Pick<BatchRecords, "settlements" | "ingested">> {
  const { settlements, settlementKeys, ingested, payments } = needs;
  const byId = settlements.length === 0 ? [] : await sql`
    SELECT s.* FROM book.settlement s
    JOIN unnest(${column(settlements, "id")}::text[], ${column(settlements, "merchantId")}::text[])
      AS k(id, merchant_id) ON s.id = k.id AND s.merchant_id IS NOT DISTINCT FROM k.merchant_id`;
  const byKey = settlementKeys.length === 0 ? [] : await sql`
    SELECT s.* FROM unnest(${column(settlementKeys, "merchantId")}::text[],
      ${column(settlementKeys, "key")}::text[]) AS k(merchant_id, idempotency_key)
    CROSS JOIN LATERAL (
      SELECT x.* FROM book.settlement x
      WHERE x.idempotency_key IS NOT NULL
        AND ${inPlace(sql, ["merchant_id", "idempotency_key"], "seq")}) s`;
  const known = ingested.length === 0 ? [] : await sql`
    SELECT * FROM book.ingested WHERE event_id = ANY (${[...ingested]}::text[])`;
  const paid = payments.length === 0 ? [] : await sql`
    SELECT i.* FROM unnest(${column(payments, "network")}::text[],
      ${column(payments, "txid")}::text[]) AS k(network, txid)
    CROSS JOIN LATERAL (
      SELECT x.* FROM book.ingested x
      WHERE x.txid IS NOT NULL AND ${inPlace(sql, ["network", "txid"])}) i`;
  return {
    settlements: [...byId, ...byKey].map((row) => settlementTable.decode(row)),
    ingested: [...known, ...paid].map((row) => ingestedTable.decode(row)),
  };
}
