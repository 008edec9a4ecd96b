/**
 * Merchants and money for tests, made through the same rows that the service uses.
 *
 * @module
 */

import type { Reserve } from "../../actors/merchant/messages.ts";
import { Journal, type JournalOptions } from "../../actors/merchant/journal.ts";
import { newId } from "../../actors/runtime/ids.ts";
import { type Amount, parseAmount } from "../../ledger/amount.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { createJournalStore } from "../../ledger/journal/store.ts";
import type { Network } from "../../ledger/pair.ts";

/** An amount of a literal. */
export function amount(text: string): Amount {
  const parsed = parseAmount(text);
  if (parsed === null) throw new RangeError(`Cannot use as an amount: ${text}`);
  return parsed;
}

/** A well-formed TRON address; nobody's. */
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
  } = {},
): Promise<string> {
  const txid = fields.txid ?? (++transfers).toString(16).padStart(64, "f");
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
    liquidity: null,
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

/** Waits for a condition, at most 10 s. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 10_000;
  while (!await condition()) {
    if (Date.now() > end) throw new Error("Cannot go on as a condition did not come true in 10 s");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** What is wrong with the books, as sentences; empty when they balance. */
export async function booksFaults(sql: Sql): Promise<string[]> {
  const rows = await sql<{ fault: string }[]>`
    WITH posted AS (
      SELECT merchant_id, currency, network, account, sum(amount) AS amount FROM (
        SELECT merchant_id, currency, network, to_account AS account, amount FROM book.entry
        UNION ALL
        SELECT merchant_id, currency, network, from_account, -amount FROM book.entry) legs
      GROUP BY 1, 2, 3, 4
    ), held AS (
      SELECT merchant_id, currency, network, 'available' AS account, available AS amount FROM book.balance
      UNION ALL SELECT merchant_id, currency, network, 'pending', pending FROM book.balance
      UNION ALL SELECT merchant_id, currency, network, 'reserved', reserved FROM book.balance
    )
    SELECT format('%s %s/%s %s: held %s, posted %s', h.merchant_id, h.currency, h.network, h.account, h.amount, coalesce(p.amount, 0)) AS fault
    FROM held h LEFT JOIN posted p USING (merchant_id, currency, network, account)
    WHERE h.amount <> coalesce(p.amount, 0)
    UNION ALL
    SELECT format('pair %s/%s does not sum to zero: %s', currency, network, sum(amount)) FROM (
      SELECT currency, network, amount FROM held
      UNION ALL SELECT currency, network, balance FROM book.system_balance) every
    GROUP BY currency, network HAVING sum(amount) <> 0
    UNION ALL
    SELECT format('statement of %s %s/%s: effects %s, available %s', t.merchant_id, t.currency, t.network, sum(t.effect), max(b.available))
    FROM book.transaction t JOIN book.balance b USING (merchant_id, currency, network)
    GROUP BY t.merchant_id, t.currency, t.network HAVING sum(t.effect) <> max(b.available)
    UNION ALL
    SELECT format('list %s of %s: counted %s, kept %s', list, merchant_id, counted, kept) FROM (
      SELECT 'withdrawal' AS list, merchant_id, status, count(*) AS counted FROM book.withdrawal WHERE seq IS NOT NULL GROUP BY 2, 3
      UNION ALL SELECT 'deposit', merchant_id, status, count(*) FROM book.deposit GROUP BY 2, 3
      UNION ALL SELECT 'settlement', merchant_id, status, count(*) FROM book.settlement GROUP BY 2, 3
      UNION ALL SELECT 'transaction', merchant_id, status, count(*) FROM book.transaction GROUP BY 2, 3) c
    FULL JOIN (SELECT list, merchant_id, status, sum(count) AS kept FROM book.list_block GROUP BY 1, 2, 3 HAVING sum(count) <> 0) k
      USING (list, merchant_id, status)
    WHERE c.counted IS DISTINCT FROM k.kept
    UNION ALL
    SELECT format('charges of %s on %s: %s, kept %s', merchant_id, day, total, kept) FROM (
      SELECT merchant_id, (created_at AT TIME ZONE 'UTC')::date AS day, sum(amount) AS total FROM book.charge GROUP BY 1, 2) c
    FULL JOIN (SELECT merchant_id, day, sum(amount) AS kept FROM book.charge_day GROUP BY 1, 2) k USING (merchant_id, day)
    WHERE c.total IS DISTINCT FROM k.kept
    UNION ALL
    SELECT format('margins of %s for %s on %s: %s, kept %s', merchant_id, beneficiary, day, net, kept) FROM (
      SELECT merchant_id, beneficiary, (created_at AT TIME ZONE 'UTC')::date AS day, sum(earned - reversed) AS net
      FROM book.margin GROUP BY 1, 2, 3) m
    FULL JOIN (SELECT merchant_id, beneficiary, day, sum(earned - reversed) AS kept FROM book.margin_day GROUP BY 1, 2, 3) k
      USING (merchant_id, beneficiary, day)
    WHERE m.net IS DISTINCT FROM k.kept`;
  return rows.map((row) => row.fault);
}
