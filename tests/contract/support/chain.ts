/**
 * Events of the chain, written the way the watcher writes them.
 *
 * @module
 */

import { assert } from "@std/assert";
import { commitSigned } from "../../support/commit_signed.ts";
import { findOwnTransactions, recordOutcomes } from "../../../ledger/watcher/record_outcomes.ts";
import { recordVanished } from "../../../ledger/watcher/record_transfers.ts";
import type { TestApi } from "../../support/api.ts";
import { addTransfer, amount, until } from "../../support/books.ts";
import { historyOf } from "../../support/scan_cursor.ts";

/** Phase and id of a transfer. */
export interface TransferOptions {
  /** Default `solid`. */
  readonly phase?: "seen" | "solid";
  readonly txid?: string;
}

/** Waits until the merchant has consumed all that the chain told it. */
export async function settled(api: TestApi, merchantId: string): Promise<void> {
  api.journal.wake(merchantId);
  await until(async () => {
    const waiting = await api.sql`
      SELECT 1 FROM book.inbox WHERE merchant_id = ${merchantId} AND consumed_at IS NULL LIMIT 1`;
    return waiting.length === 0;
  });
}

/** A customer pays to an issued address. Answers the transaction id. */
export async function pay(
  api: TestApi,
  merchantId: string,
  address: string,
  text: string,
  options: TransferOptions = {},
): Promise<string> {
  const [row] = await api.sql`
    SELECT address_id, network FROM hub.address WHERE address = ${address}`;
  assert(row !== undefined, `nobody's address: ${address}`);
  const txid = await addTransfer(api.sql, merchantId, text, {
    ...options,
    to: address,
    addressId: row["address_id"],
    network: row["network"],
  });
  await settled(api, merchantId);
  return txid;
}

/** A transfer that was seen can never become final. */
export async function vanish(api: TestApi, merchantId: string, txid: string): Promise<void> {
  const key = { merchantId, network: "TRX", txid, logIndex: 0 } as const;
  await recordVanished(
    api.sql,
    key,
    { reason: "The transaction failed on chain", to: "T" },
    await historyOf(api.sql),
  );
  await settled(api, merchantId);
}

let payouts = 0;

/** The treasury signs a payout and the chain says what became of it. Answers the transaction id. */
export async function endPayout(
  api: TestApi,
  withdrawalId: string,
  result: "paid" | "failed",
): Promise<string> {
  const [row] = await api.sql`
    SELECT id, merchant_id FROM book.outgoing WHERE payment_id = ${withdrawalId}`;
  assert(row !== undefined, `no payout of ${withdrawalId}`);
  const txid = `e${(++payouts).toString(16).padStart(63, "0")}`;
  await commitSigned(api.sql, [{
    outgoingId: row["id"],
    merchantId: row["merchant_id"],
    network: "TRX",
    txid,
    bytes: "{}",
    expiresAt: Date.now() + 60_000,
  }]);
  const [own] = await findOwnTransactions(api.sql, "TRX", [txid]);
  assert(own !== undefined, `the payout of ${withdrawalId} is not signed`);
  const reason = result === "paid" ? null : "The transaction failed on chain";
  await recordOutcomes(api.sql, "TRX", [{ own, result, reason, height: 9, fee: amount("6") }]);
  await settled(api, row["merchant_id"]);
  return txid;
}

/** Events of a merchant as they stand in the outbox, oldest first. */
export async function eventsOf(api: TestApi, merchantId: string) {
  const rows = await api.sql<{ id: string; type: string; payload: string; status: string }[]>`
    SELECT id, type, payload, status FROM book.outbox WHERE merchant_id = ${merchantId} ORDER BY id`;
  return rows.map((row) => ({ ...row, body: JSON.parse(row.payload) }));
}
