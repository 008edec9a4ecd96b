import postgres, { type Fragment } from "postgres";
import type { AnySql, Sql } from "./database/connect.ts";
import { type AddressDeposit, newestDeposits } from "./deposits.ts";
import type { Page, PageRequest } from "./lists/list_page.ts";
import { type Amount, formatAmount } from "./money/amount.ts";
import type { Currency, Network } from "./money/pair.ts";
import type { DepositRow } from "./payment_rows.ts";
import { amount, orNull, rate, type RowOf, table, text, time } from "./table.ts";

/** The time for which an Idempotency-Key counts. */
const KEY_COUNTS_MS = 86_400_000;

export const sessionTable = table("hub.session", {
  id: text(),
  /** With the id and the service's secret it makes the token; only the token's hash is stored. */
  nonce: text(),
  merchantId: text(),
  addressId: text(),
  address: text(),
  network: text<Network>(),
  /** The merchant's own identifier of the customer, without the merchant id. */
  identifier: text(),
  referenceId: orNull(text()),
  requestedAmount: orNull(amount()),
  requestedCurrency: orNull(text()),
  /** Fiat units per unit, as of the creation. */
  exchangeRate: orNull(rate()),
  /** The token that the page asks for. */
  currency: text<Currency>(),
  /** The amount that the customer is asked to pay, in 8 decimals. */
  amount: orNull(amount()),
  /** Display hint of the merchant's. */
  token: orNull(text()),
  expiresAt: time(),
  createdAt: time(),
  /** The Idempotency-Key of its request, while it counts. */
  idempotencyKey: orNull(text()),
  /** Hash of its request, where there is a key. */
  bodyHash: orNull(text()),
});
/** A hosted payment page: an address, a time limit and, where there is one, a quote. */
export type SessionRow = RowOf<typeof sessionTable>;

/** Column `wallet_index` of a page `s`: the derivation index of its address, null where nothing watches it. */
export function indexOfSession(sql: Sql) {
  return sql`(
    SELECT a.wallet_index FROM hub.address a
    WHERE a.address = s.address AND a.network = s.network) AS wallet_index`;
}

/** Deposits to the address behind a hosted payment page. */
export interface SessionPayment {
  /**
   * The deposit that says how the payment stands: the first credited one, otherwise the first that
   * is under way, otherwise the first that came to nothing.
   */
  readonly deposit: Pick<
    DepositRow,
    "status" | "amount" | "currency" | "txid" | "createdAt" | "clearedAt"
  >;
  /** Sum of what is credited, in the token that the page asks for. */
  readonly credited: Amount;
  /** Sum of what is seen and not final yet, in that token. */
  readonly pending: Amount;
}

/** The columns of {@linkcode paymentOf}, under names that no column of a session has. */
const paymentColumns = table("book.deposit", {
  depositStatus: text<DepositRow["status"]>(),
  depositAmount: amount(),
  depositCurrency: text<DepositRow["currency"]>(),
  depositTxid: orNull(text()),
  depositCreatedAt: time(),
  depositClearedAt: orNull(time()),
  creditedSum: amount(),
  pendingSum: amount(),
});

/**
 * Joins to each session `s` what has come in for it as columns of `p`, see
 * {@linkcode decodePayment}; each page has an address of its own. Reads the totals that are kept with
 * every deposit and one deposit by its id, whatever number of transfers the address has: while one is
 * credited no other is looked for.
 */
export function paymentOf(sql: AnySql): Fragment {
  return sql`
    LEFT JOIN LATERAL (
      SELECT d.status AS deposit_status, d.amount AS deposit_amount,
        d.currency AS deposit_currency, d.txid AS deposit_txid,
        d.created_at AS deposit_created_at, d.cleared_at AS deposit_cleared_at,
        t.credited_sum, t.pending_sum
      FROM (
        SELECT (array_agg(x.first_credited ORDER BY x.first_credited_at, x.first_credited)
            FILTER (WHERE x.first_credited IS NOT NULL))[1] AS first_credited,
          coalesce(sum(x.credited) FILTER (WHERE x.currency = s.currency), 0) AS credited_sum,
          coalesce(sum(x.pending) FILTER (WHERE x.currency = s.currency), 0) AS pending_sum
        FROM book.page_total x
        WHERE x.address_id = s.address_id AND x.merchant_id = s.merchant_id
        HAVING count(*) > 0) t
      -- by the key's first column alone: with \`=\` the list of all deposits of the merchant looks as good
      JOIN book.deposit d ON d.merchant_id IS NOT DISTINCT FROM s.merchant_id AND d.id = coalesce(
        t.first_credited,
        (SELECT w.id FROM book.deposit w
         WHERE w.address_id = s.address_id AND w.status = 'PENDING'
         ORDER BY w.address_id, w.id LIMIT 1),
        (SELECT w.id FROM book.deposit w
         WHERE w.address_id = s.address_id ORDER BY w.address_id, w.id LIMIT 1))) p ON true`;
}

/** Reads the columns of {@linkcode paymentOf}; null where nothing has come in. */
export function decodePayment(row: Readonly<Record<string, unknown>>): SessionPayment | null {
  if (row["deposit_status"] === null) return null;
  const found = paymentColumns.decode(row);
  return {
    deposit: {
      status: found.depositStatus,
      amount: found.depositAmount,
      currency: found.depositCurrency,
      txid: found.depositTxid,
      createdAt: found.depositCreatedAt,
      clearedAt: found.depositClearedAt,
    },
    credited: found.creditedSum,
    pending: found.pendingSum,
  };
}

/**
 * Finds the tokens that open a hosted page, many in one statement.
 *
 * @param tokenHashes SHA-256 of the tokens, hex
 * @returns the hashes for which there is a page, each by itself
 */
export async function findSessions(
  sql: Sql,
  tokenHashes: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ readonly hash: string }[]>`
    SELECT t.hash FROM unnest(${[...tokenHashes]}::text[]) t(hash)
      JOIN hub.session s ON s.token_hash = decode(t.hash, 'hex')`;
  return new Map(rows.map(({ hash }) => [hash, hash]));
}

/**
 * Finds the page that was made with an Idempotency-Key. A key that is older than a day is let go, so
 * that it can be used again.
 *
 * @param now Unix milliseconds
 */
export async function findSessionByKey(
  sql: Sql,
  merchantId: string,
  idempotencyKey: string,
  now: number,
): Promise<SessionOfWallet | null> {
  const [row] = await sql`
    SELECT s.*, ${indexOfSession(sql)} FROM hub.session s
    WHERE s.merchant_id = ${merchantId} AND s.idempotency_key = ${idempotencyKey}`;
  if (row === undefined) return null;
  const session = { ...sessionTable.decode(row), walletIndex: row.wallet_index };
  if (now - session.createdAt < KEY_COUNTS_MS) return session;
  await sql`
    UPDATE hub.session SET idempotency_key = NULL, body_hash = NULL
    WHERE id = ${session.id}`;
  return null;
}

/**
 * Stores a new hosted payment page.
 *
 * @param tokenHash SHA-256 of its token, 32 bytes
 * @returns false where another page of the merchant has its Idempotency-Key; nothing was stored
 */
export async function insertSession(
  sql: Sql,
  session: SessionRow,
  tokenHash: Uint8Array,
): Promise<boolean> {
  try {
    await insertNumbered(sql, session, tokenHash);
    return true;
  } catch (error) {
    const isTaken = error instanceof postgres.PostgresError &&
      error.constraint_name === "session_idempotency_key";
    if (!isTaken) throw error;
    return false;
  }
}

async function insertNumbered(
  sql: Sql,
  session: SessionRow,
  tokenHash: Uint8Array,
): Promise<void> {
  const text = (amount: Amount | null) => amount === null ? null : formatAmount(amount);
  // number and page come in one statement: the numbers of a merchant have no gaps
  await sql`
    WITH counter AS (
      INSERT INTO hub.session_counter AS c (merchant_id, last) VALUES (${session.merchantId}, 1)
      ON CONFLICT (merchant_id) DO UPDATE SET last = c.last + 1 RETURNING last)
    INSERT INTO hub.session (id, token_hash, nonce, merchant_id, seq, address_id, address, network,
      identifier, reference_id, requested_amount, requested_currency, exchange_rate, currency,
      amount, token, expires_at, created_at, idempotency_key, body_hash)
    SELECT ${session.id}, ${tokenHash}::bytea, ${session.nonce}, ${session.merchantId}, last,
      ${session.addressId}, ${session.address}, ${session.network}, ${session.identifier},
      ${session.referenceId}, ${text(session.requestedAmount)}::numeric,
      ${session.requestedCurrency}, ${session.exchangeRate}::numeric, ${session.currency},
      ${text(session.amount)}::numeric, ${session.token},
      ${new Date(session.expiresAt)}::timestamptz, ${new Date(session.createdAt)}::timestamptz,
      ${session.idempotencyKey}, ${session.bodyHash}
    FROM counter`;
}

/** A hosted payment page whose address can be compared with the wallet. */
interface SessionOfWallet extends SessionRow {
  /** Derivation index of its address; null where the address is watched for no-one. */
  readonly walletIndex: number | null;
}

/** A hosted payment page with the newest deposits to its address. */
export interface ListedSession extends SessionOfWallet {
  readonly deposits: readonly AddressDeposit[];
}

/**
 * One page of a merchant's hosted payment pages, newest first. Those of all networks are found by
 * their number, wherever in the list they are; those of one network are counted and passed over in
 * an index alone.
 *
 * @param network null: of every network
 */
export async function listSessions(
  sql: Sql,
  merchantId: string,
  network: Network | null,
  { page, limit }: PageRequest,
): Promise<Page<ListedSession>> {
  const offset = (page - 1) * limit;
  const counted = network === null
    ? sql`
      SELECT coalesce(max(c.last), 0) AS total FROM hub.session_counter c
      WHERE c.merchant_id = ${merchantId}`
    : sql`
      SELECT count(*) AS total FROM hub.session s
      WHERE s.merchant_id = ${merchantId} AND s.network = ${network}`;
  const numbered = network === null
    ? sql`
      SELECT s.seq FROM hub.session s
      WHERE s.merchant_id = ${merchantId} AND s.seq <= (SELECT total FROM counted) - ${offset}::bigint
      ORDER BY s.seq DESC LIMIT ${limit} OFFSET 0`
    : sql`
      SELECT s.seq FROM hub.session s
      WHERE s.merchant_id = ${merchantId} AND s.network = ${network}
      ORDER BY s.seq DESC OFFSET ${offset} LIMIT ${limit}`;
  const rows = await sql`
    WITH counted AS MATERIALIZED (${counted}), page AS MATERIALIZED (${numbered})
    SELECT c.total, x.* FROM counted c LEFT JOIN (
      SELECT s.*, ${indexOfSession(sql)} FROM page p
      JOIN hub.session s ON s.merchant_id = ${merchantId} AND s.seq = p.seq) x ON true
    ORDER BY x.seq DESC`;
  const sessions = rows.filter((row) => row.id !== null).map((row) => ({
    ...sessionTable.decode(row),
    walletIndex: row.wallet_index,
  }));
  const deposits = await newestDeposits(
    sql,
    merchantId,
    sessions.map(({ addressId }) => addressId),
  );
  return {
    total: Number(rows[0]?.total ?? 0),
    rows: sessions.map((session) => ({
      ...session,
      deposits: deposits.get(session.addressId) ?? [],
    })),
  };
}
