/**
 * Merchants and money for tests, made through the same rows that the service uses.
 *
 * @module
 */

import type { IngestWithdrawal, Reserve } from "../../actors/merchant/messages.ts";
import type { JournalOptions } from "../../actors/journal/context.ts";
import { Journal } from "../../actors/journal/journal.ts";
import { FeeBoard } from "../../actors/treasury/fee_board.ts";
import { newId } from "../../actors/runtime/ids.ts";
import { type Amount, parseAmount, ZERO } from "../../ledger/money/amount.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { createJournalStore } from "../../ledger/journal/store.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { checkBooks } from "../../ledger/reconcile/check_books.ts";
import { until } from "./until.ts";

export { until };

/** An amount of a literal. */
export function amount(text: string): Amount {
  const parsed = parseAmount(text);
  if (parsed === null) throw new RangeError(`Cannot use as an amount: ${text}`);
  return parsed;
}

/** A well-formed TRON address outside the service. */
export const SOMEWHERE = "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH";

/** Inserts an active merchant with an empty account. */
export async function addMerchant(
  sql: Sql,
  fields: { readonly id?: string; readonly rate?: string; readonly webhookUrl?: string } = {},
): Promise<string> {
  const id = fields.id ?? newId("mer");
  await sql`
    INSERT INTO book.merchant (merchant_id, slot, name, deposit_commission_rate, webhook_secret, webhook_url, webhook_enabled, created_at)
    VALUES (${id}, 0, 'Test', ${fields.rate ?? "0"}, 'whsec_dGVzdC1zZWNyZXQtdGVzdC1zZWNyZXQ=', ${
    fields.webhookUrl ?? null
  }, ${fields.webhookUrl !== undefined}, now())`;
  await sql`INSERT INTO book.account (merchant_id) VALUES (${id})`;
  return id;
}

let transfers = 0;

/** Writes a transfer into a merchant's inbox as the watcher would. Answers its transaction id. */
export async function addTransfer(
  sql: Sql,
  merchantId: string,
  text: string,
  fields: {
    readonly phase?: "seen" | "solid";
    readonly txid?: string;
    readonly logIndex?: number;
    readonly to?: string;
    readonly addressId?: string;
    readonly network?: Network;
    readonly expiresAt?: number;
    readonly diesAfter?: number;
  } = {},
): Promise<string> {
  const txid = fields.txid ?? `f${(++transfers).toString(16).padStart(63, "0")}`;
  await sql`
    INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data)
    VALUES (${merchantId}, ${fields.network ?? "TRX"}, ${txid}, ${fields.logIndex ?? 0}, ${
    fields.phase ?? "solid"
  }, ${
    sql.json({
      currency: "USDT",
      amount: text,
      from: SOMEWHERE,
      to: fields.to ?? SOMEWHERE,
      addressId: fields.addressId ?? "adr_test",
      height: 7,
      diesAfter: fields.diesAfter ?? fields.expiresAt ?? 1_800_000_000_000,
      expiresAt: fields.expiresAt ?? 1_800_000_000_000,
    })
  })`;
  return txid;
}

/** A journal on a database. */
export function openJournal(sql: Sql, options: Partial<JournalOptions> = {}): Journal {
  return new Journal({
    store: createJournalStore(sql),
    now: () => Date.now(),
    usdRate: () => "1",
    onCommitted: () => {},
    ...options,
  });
}

/** A dynamic network fee while nothing is known of the chain's prices. */
export const NO_ESTIMATE = { estimate: null, floor: ZERO };

/** A fee board that knows of no chain. */
export function emptyFeeBoard(): FeeBoard {
  return new FeeBoard({
    chains: new Map(),
    coinRate: () => null,
    terms: () => ({ receiver: "new", margin: "0", floor: ZERO, cap: ZERO }),
    now: () => Date.now(),
  });
}

/** A withdrawal command; 10 USDT on TRX to {@linkcode SOMEWHERE} unless told otherwise. */
export function reserveCommand(fields: Partial<Reserve> = {}): Reserve {
  return {
    type: "reserve",
    at: Date.now(),
    withdrawalId: newId("wd"),
    transactionId: newId("txn"),
    outgoingId: newId("out"),
    chargeIds: [newId("chg"), newId("chg")],
    currency: "USDT",
    network: "TRX",
    amount: amount("10"),
    destination: SOMEWHERE,
    destinationCheck: "ok",
    fromAddress: null,
    pinnedTo: null,
    referenceId: null,
    description: null,
    dynamicFee: NO_ESTIMATE,
    giveUp: null,
    ...fields,
  };
}

/** A command that fails a withdrawal upstream, so that its money is given back. */
export function refundCommand(
  withdrawalId: string,
  fields: Partial<IngestWithdrawal> = {},
): IngestWithdrawal {
  return {
    type: "ingest-withdrawal",
    at: Date.now(),
    withdrawalId,
    settlementId: null,
    network: "TRX",
    paidBy: null,
    reason: "test",
    chargeIds: [newId("chg"), newId("chg")],
    eventIds: [newId("evt"), newId("evt")],
    ingestion: { eventId: newId("evt"), bodyHash: withdrawalId },
    ...fields,
  };
}

/** Gives a merchant available money through a final deposit. */
export async function fund(
  sql: Sql,
  journal: Journal,
  merchantId: string,
  text: string,
): Promise<void> {
  const txid = await addTransfer(sql, merchantId, text);
  journal.wake(merchantId);
  await until(async () => {
    const [row] = await sql`
      SELECT 1 FROM book.inbox WHERE txid = ${txid} AND consumed_at IS NOT NULL`;
    return row !== undefined;
  });
}

/** Faults of the books, as sentences; empty when they balance. */
export async function booksFaults(sql: Sql): Promise<string[]> {
  const results = await checkBooks(sql);
  return results.flatMap(({ rule, differences, unchecked }) => [
    ...differences.map(({ subject, detail }) => `${rule}: ${subject}: ${detail}`),
    ...(unchecked === undefined || unchecked === null
      ? []
      : [`${rule}: not compared: ${unchecked}`]),
  ]);
}
