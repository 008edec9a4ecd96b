import postgres, { type Sql } from "postgres";
import {
  auditTable,
  balanceKeyTable,
  chargeTable,
  depositAddressTable,
  depositTable,
  entryTable,
  eventTable,
  inboxKeyTable,
  inboxTable,
  ingestedTable,
  marginTable,
  merchantTable,
  outgoingTable,
  outgoingVoidTable,
  settlementAddressTable,
  settlementTable,
  sliceTable,
  transactionTable,
  withdrawalTable,
} from "../rows.ts";
import type { SliceChanges, SliceMiss } from "./batch.ts";
import { findReferenceHolders } from "./find_reference_holders.ts";

/** Why a whole call wrote nothing, as book.commit_batch says it. */
interface Missed {
  readonly merchant_id: string;
  readonly reason: "version" | "locked" | "epoch" | "outgoing" | "stopped";
}

/**
 * Writes a batch in one transaction and one round trip (book.commit_batch). Where slices miss,
 * nothing is written and the others are sent again without them: misses are rare, and a write
 * that may assume that all of it survives is the faster one.
 *
 * @param commitId names the batch, for {@linkcode resolveCommit} when the answer is lost
 * @param epoch the settings' epoch the batch was decided on
 * @returns the slices that were not written; all others are durable
 * @throws a connection error: the outcome is unknown. Any other error: nothing was written.
 */
export async function writeBatch(
  sql: Sql,
  commitId: string,
  epoch: string,
  slices: readonly SliceChanges[],
): Promise<readonly SliceMiss[]> {
  const misses: SliceMiss[] = [];
  let left = slices;
  while (left.length > 0) {
    const found = await writeAll(sql, commitId, epoch, left);
    if (found.length === 0) break;
    misses.push(...found);
    const missed = new Set(found.map((miss) => miss.merchantId));
    left = left.filter((one) => !missed.has(one.slice.merchantId));
  }
  return misses;
}

/** Writes all of the slices, or says which ones stand in the way. */
async function writeAll(
  sql: Sql,
  commitId: string,
  epoch: string,
  slices: readonly SliceChanges[],
): Promise<readonly SliceMiss[]> {
  try {
    const rows = await callCommitBatch(sql, commitId, epoch, slices);
    return rows.map((row) => ({ merchantId: row.merchant_id, reason: row.reason }));
  } catch (error) {
    if (!isReferenceTaken(error)) throw error;
    // the unique index says that a reference is taken, but not by whom
    const holders = await findReferenceHolders(sql, slices);
    if (holders.length === 0) throw error;
    return holders;
  }
}

function isReferenceTaken(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === "23505" &&
    error.constraint_name === "withdrawal_reference";
}

async function callCommitBatch(
  sql: Sql,
  commitId: string,
  epoch: string,
  slices: readonly SliceChanges[],
): Promise<readonly Missed[]> {
  const all = <T>(pick: (slice: SliceChanges) => readonly T[]): readonly T[] =>
    slices.flatMap(pick);
  const merchants = slices.flatMap((slice) => slice.merchant === null ? [] : [slice.merchant]);
  return await sql<Missed[]>`
    SELECT * FROM book.commit_batch(
      ${commitId}::text,
      ${epoch}::uuid,
      ${sliceTable.encode(slices.map((slice) => slice.slice))}::book.slice[],
      ${balanceKeyTable.encode(all((slice) => slice.opened))}::book.balance_key[],
      ${entryTable.encode(all((slice) => slice.entries))}::book.entry_row[],
      ${withdrawalTable.encode(all((slice) => slice.newWithdrawals))}::book.withdrawal_row[],
      ${withdrawalTable.encode(all((slice) => slice.withdrawals))}::book.withdrawal_row[],
      ${depositTable.encode(all((slice) => slice.newDeposits))}::book.deposit_row[],
      ${depositTable.encode(all((slice) => slice.deposits))}::book.deposit_row[],
      ${transactionTable.encode(all((slice) => slice.newTransactions))}::book.transaction_row[],
      ${transactionTable.encode(all((slice) => slice.transactions))}::book.transaction_row[],
      ${chargeTable.encode(all((slice) => slice.charges))}::book.charge_row[],
      ${outgoingTable.encode(all((slice) => slice.newOutgoing))}::book.outgoing_row[],
      ${outgoingVoidTable.encode(all((slice) => slice.voided))}::book.outgoing_void[],
      ${eventTable.encode(all((slice) => slice.events))}::book.outbox_row[],
      ${depositAddressTable.encode(all((slice) => slice.newAddresses))}::book.deposit_address_row[],
      ${depositAddressTable.encode(all((slice) => slice.addresses))}::book.deposit_address_row[],
      ${inboxKeyTable.encode(all((slice) => slice.consumed))}::book.inbox_key[],
      ${merchantTable.encode(merchants)}::book.merchant_row[],
      ${settlementTable.encode(all((slice) => slice.newSettlements))}::book.settlement_row[],
      ${settlementTable.encode(all((slice) => slice.settlements))}::book.settlement_row[],
      ${
    settlementAddressTable.encode(all((slice) => slice.newWhitelist))
  }::book.settlement_address_row[],
      ${
    settlementAddressTable.encode(all((slice) => slice.whitelist))
  }::book.settlement_address_row[],
      ${marginTable.encode(all((slice) => slice.margins))}::book.margin_row[],
      ${inboxTable.encode(all((slice) => slice.inbox))}::book.inbox_row[],
      ${ingestedTable.encode(all((slice) => slice.ingested))}::book.ingested_row[],
      ${auditTable.encode(all((slice) => slice.audits))}::book.audit_row[])`;
}
