/**
 * The database that every side starts from: funded merchants with keys, and issued addresses.
 *
 * @module
 */

import { newId } from "../../actors/runtime/ids.ts";
import { hashApiKey, mintApiKey } from "../../api/http/key_ring.ts";
import { addressFromLogHex } from "../../chains/tron/address.ts";
import { issuedAddress } from "./scan/block_template.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { openJournal, SOMEWHERE, until } from "../support/books.ts";

/** Merchants of the spread case. */
export const MERCHANTS = 1_000;
/** Addresses that the service has handed out; destinations are compared with them. */
export const ISSUED_ADDRESSES = 10_000;
/** Different destinations that are paid to. */
const DESTINATIONS = 1_000;

/** The address payouts leave from. */
export const HOT_WALLET: string = addressOf(0xffff_ffff);

/** Keys, merchants and destinations that the load generator needs. */
export interface Seed {
  /** Key of the one hot merchant. */
  readonly hotKeys: readonly string[];
  /** Keys of the merchants of the spread case, one each. */
  readonly spreadKeys: readonly string[];
  readonly destinations: readonly string[];
  /** Merchants of the two cases, in the order of their keys. */
  readonly hotMerchants: readonly string[];
  readonly spreadMerchants: readonly string[];
}

function addressOf(number: number): string {
  return addressFromLogHex(issuedAddress(number));
}

/**
 * Fills a migrated, empty database.
 *
 * @param spread merchants of the spread case
 */
export async function seed(sql: Sql, spread = MERCHANTS): Promise<Seed> {
  await sql`UPDATE book.setting SET markup_rate = 0.01`;
  const merchants = Array.from({ length: 1 + spread }, () => ({
    id: newId("mer"),
    key: mintApiKey("development"),
    keyId: newId("key"),
  }));
  const ids = merchants.map(({ id }) => id);
  await sql`
    INSERT INTO book.merchant (merchant_id, slot, name, webhook_secret, rate_limits, created_at)
    SELECT id, book.slot_of(id), 'Bench', 'whsec_dGVzdC1zZWNyZXQtdGVzdC1zZWNyZXQ=',
      '{"balance":0,"deposits":0,"withdrawals":0,"transactions":0,"webhooks":0}', now()
    FROM unnest(${ids}::text[]) id`;
  await sql`INSERT INTO book.account (merchant_id) SELECT id FROM unnest(${ids}::text[]) id`;
  await sql`
    INSERT INTO hub.api_key (id, hash, merchant_id, role, permissions, label, created_at)
    SELECT key_id, decode(hash, 'hex'), merchant_id, 'MERCHANT', '{read,write,payout}', 'bench', now()
    FROM unnest(${merchants.map(({ keyId }) => keyId)}::text[],
                ${merchants.map(({ key }) => hashApiKey(key))}::text[],
                ${ids}::text[]) AS k(key_id, hash, merchant_id)`;
  await sql`
    INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
    SELECT address, 'TRX', ${ids[0] ?? ""}, 'adr_' || index, index
    FROM unnest(${Array.from({ length: ISSUED_ADDRESSES }, (_, i) => addressOf(i + 1))}::text[])
      WITH ORDINALITY AS a(address, index)`;
  await fundAll(sql, ids);
  // not the tables that are still empty: a planner that was told so would be misled as they grow
  await sql`VACUUM ANALYZE book.merchant, book.account, book.balance, hub.api_key, hub.address`;
  return {
    hotKeys: merchants.slice(0, 1).map(({ key }) => key),
    spreadKeys: merchants.slice(1).map(({ key }) => key),
    hotMerchants: ids.slice(0, 1),
    spreadMerchants: ids.slice(1),
    destinations: Array.from({ length: DESTINATIONS }, (_, i) => addressOf(1_000_000 + i)),
  };
}

/** A final deposit for everybody, booked by the journal. */
async function fundAll(sql: Sql, merchantIds: readonly string[]): Promise<void> {
  const data = {
    currency: "USDT",
    amount: "1000000000",
    from: SOMEWHERE,
    to: SOMEWHERE,
    addressId: "adr_bench",
    height: 7,
    diesAfter: 1_800_000_000_000,
    expiresAt: 1_800_000_000_000,
  };
  await sql`
    INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data)
    SELECT id, 'TRX', lpad(n::text, 64, 'f'), 0, 'solid', ${sql.json(data)}
    FROM unnest(${[...merchantIds]}::text[]) WITH ORDINALITY AS m(id, n)`;
  const journal = openJournal(sql);
  await until(async () => {
    // it wakes 10,000 at a time
    if (journal.figures.waiting === 0) await journal.wakeAll();
    const [row] = await sql`SELECT 1 FROM book.inbox WHERE consumed_at IS NULL LIMIT 1`;
    return row === undefined;
  });
  await journal.stop(1_000);
}
