import type { Sql } from "postgres";
import {
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

/**
 * Writes a batch in one transaction and one round trip (book.commit_batch).
 *
 * @param commitId names the batch, for {@linkcode resolveCommit} when the answer is lost
 * @param epoch the settings' epoch the batch was decided on
 * @returns the slices that were not written; all others are durable
 * @throws a connection error: the outcome is unknown. Any other error: nothing was written.
 */
export async function writeBatch(
  sql: Sql,
  commitId: string,
  epoch: number,
  slices: readonly SliceChanges[],
): Promise<readonly SliceMiss[]> {
  const all = <T>(pick: (slice: SliceChanges) => readonly T[]): readonly T[] =>
    slices.flatMap(pick);
  const merchants = slices.flatMap((slice) => slice.merchant === null ? [] : [slice.merchant]);
  const rows = await sql<
    { merchant_id: string; reason: SliceMiss["reason"]; detail: string; holder: string }[]
  >`
    SELECT * FROM book.commit_batch(
      ${commitId}::text,
      ${epoch}::bigint,
      ${sliceTable.encode(slices.map((slice) => slice.slice))}::book.slice[],
      ${balanceKeyTable.encode(all((slice) => slice.opened))}::book.balance_key[],
      ${entryTable.encode(all((slice) => slice.entries))}::book.entry[],
      ${withdrawalTable.encode(all((slice) => slice.newWithdrawals))}::book.withdrawal[],
      ${withdrawalTable.encode(all((slice) => slice.withdrawals))}::book.withdrawal[],
      ${depositTable.encode(all((slice) => slice.newDeposits))}::book.deposit[],
      ${depositTable.encode(all((slice) => slice.deposits))}::book.deposit[],
      ${transactionTable.encode(all((slice) => slice.newTransactions))}::book.transaction[],
      ${transactionTable.encode(all((slice) => slice.transactions))}::book.transaction[],
      ${chargeTable.encode(all((slice) => slice.charges))}::book.charge[],
      ${outgoingTable.encode(all((slice) => slice.newOutgoing))}::book.outgoing[],
      ${outgoingVoidTable.encode(all((slice) => slice.voided))}::book.outgoing_void[],
      ${eventTable.encode(all((slice) => slice.events))}::book.outbox[],
      ${depositAddressTable.encode(all((slice) => slice.newAddresses))}::book.deposit_address[],
      ${depositAddressTable.encode(all((slice) => slice.addresses))}::book.deposit_address[],
      ${inboxKeyTable.encode(all((slice) => slice.consumed))}::book.inbox_key[],
      ${merchantTable.encode(merchants)}::book.merchant[],
      ${settlementTable.encode(all((slice) => slice.newSettlements))}::book.settlement[],
      ${settlementTable.encode(all((slice) => slice.settlements))}::book.settlement[],
      ${
    settlementAddressTable.encode(all((slice) => slice.newWhitelist))
  }::book.settlement_address[],
      ${settlementAddressTable.encode(all((slice) => slice.whitelist))}::book.settlement_address[],
      ${marginTable.encode(all((slice) => slice.margins))}::book.margin[],
      ${inboxTable.encode(all((slice) => slice.inbox))}::book.inbox[],
      ${ingestedTable.encode(all((slice) => slice.ingested))}::book.ingested[])`;
  return rows.map((row): SliceMiss =>
    row.reason === "reference"
      ? {
        merchantId: row.merchant_id,
        reason: "reference",
        referenceId: row.detail,
        withdrawalId: row.holder,
      }
      : { merchantId: row.merchant_id, reason: row.reason }
  );
}
