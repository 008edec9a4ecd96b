import type { Sql } from "./database/connect.ts";
import type { Currency, Network } from "./money/pair.ts";
import type { MerchantRow } from "./rows.ts";
import {
  decodePayment,
  indexOfSession,
  paymentOf,
  type SessionPayment,
  type SessionRow,
  sessionTable,
} from "./sessions.ts";
import { amount, orNull, type RowOf, table, text, time } from "./table.ts";

/** A hosted payment page with all that it shows. */
export interface HostedPage {
  readonly session: SessionRow;
  /** Derivation index of its address; null where the address is watched for no-one. */
  readonly walletIndex: number | null;
  /** Null while nothing was seen. */
  readonly payment: SessionPayment | null;
  readonly merchant: PageMerchant;
}

/** The parts of its merchant that a hosted payment page shows. */
export interface PageMerchant
  extends Pick<MerchantRow, "name" | "successUrl" | "failureUrl" | "pageOrigins" | "logoColor"> {
  /** Name of the reseller that provides the page to the merchant; null: none. */
  readonly reseller: string | null;
}

/**
 * Reads a hosted payment page in one statement.
 *
 * @param tokenHash SHA-256 of the token that opens it, 32 bytes
 * @returns undefined where there is no such page
 * @throws {Error} when its merchant does not exist: a page always belongs to one
 */
export async function readHostedPage(
  sql: Sql,
  tokenHash: Uint8Array,
): Promise<HostedPage | undefined> {
  const [row] = await sql`
    SELECT s.*, ${
    indexOfSession(sql)
  }, p.*, m.name, m.success_url, m.failure_url, m.page_origins, m.logo_color,
      r.name AS reseller
    FROM hub.session s
      LEFT JOIN book.merchant m ON m.merchant_id = s.merchant_id
      LEFT JOIN hub.reseller r ON r.id = m.reseller_id
      ${paymentOf(sql)}
    WHERE s.token_hash = ${tokenHash}::bytea`;
  if (row === undefined) return undefined;
  if (row.name === null) {
    throw new Error(`Cannot show a page as its merchant does not exist: ${row.merchant_id}`);
  }
  return {
    session: sessionTable.decode(row),
    walletIndex: row.wallet_index,
    payment: decodePayment(row),
    merchant: {
      name: row.name,
      successUrl: row.success_url,
      failureUrl: row.failure_url,
      pageOrigins: row.page_origins,
      logoColor: row.logo_color,
      reseller: row.reseller,
    },
  };
}

/** The facts behind the status of a hosted payment. */
export interface HostedStatus {
  readonly session: PolledSession;
  /** Null while nothing was seen. */
  readonly payment: SessionPayment | null;
}

const polledSession = table("hub.session", {
  network: text<Network>(),
  currency: text<Currency>(),
  amount: orNull(amount()),
  requestedAmount: orNull(amount()),
  expiresAt: time(),
});
/** The part of a page that a poll needs. */
export type PolledSession = RowOf<typeof polledSession>;

/**
 * Reads the state of hosted payments, many in one statement.
 *
 * @param tokenHashes SHA-256 of the tokens that open their pages, hex
 * @returns by hash; a hash that is no page's is absent
 */
export async function readHostedStatuses(
  sql: Sql,
  tokenHashes: readonly string[],
): Promise<ReadonlyMap<string, HostedStatus>> {
  const rows = await sql`
    SELECT t.hash, s.network, s.currency, s.amount, s.requested_amount, s.expires_at, p.*
    FROM unnest(${[...tokenHashes]}::text[]) t(hash)
      JOIN hub.session s ON s.token_hash = decode(t.hash, 'hex')
      ${paymentOf(sql)}`;
  return new Map(rows.map((row) => [
    row.hash,
    { session: polledSession.decode(row), payment: decodePayment(row) },
  ]));
}
