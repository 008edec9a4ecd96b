import type { Sql } from "../database/connect.ts";

/** Amounts added by one statement. */
const AT_A_TIME = 10_000;

/** Key of the advisory lock of the node that adds up; the text `fold` in hexadecimal. */
const TURN = 0x666f6c64;

/**
 * Adds what commits have posted to the system's accounts to their balances. Readers see every posting
 * once at any time (`book.system_total`). While another node does it there is nothing to do. An account whose row
 * another transaction locks is left out.
 *
 * @returns how many amounts were added, at most 10,000
 * @throws {Error} where amounts of locked rows are left; what could be added has been
 */
export async function foldSystemBalances(sql: Sql): Promise<number> {
  const [row] = await sql<{ n: number; locked: string | null }[]>`
    WITH turn AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(${TURN}::bigint) AS is_mine),
    free AS MATERIALIZED (
      SELECT account, currency, network FROM book.system_balance
      WHERE (SELECT is_mine FROM turn)
      ORDER BY 1, 2, 3 FOR UPDATE SKIP LOCKED),
    locked AS MATERIALIZED (
      SELECT account, currency, network FROM book.system_balance
      WHERE (SELECT is_mine FROM turn) EXCEPT TABLE free),
    taken AS (
      DELETE FROM book.system_delta WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM book.system_delta
        WHERE (SELECT is_mine FROM turn) AND (account, currency, network) NOT IN (TABLE locked)
        LIMIT ${AT_A_TIME} FOR UPDATE SKIP LOCKED))
      RETURNING *),
    folded AS (
      INSERT INTO book.system_balance AS b (account, currency, network, balance)
      SELECT account, currency, network, sum(amount) FROM taken GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
      ON CONFLICT (account, currency, network) DO UPDATE SET balance = b.balance + excluded.balance)
    SELECT (SELECT count(*)::int FROM taken) AS n, (
      SELECT format('%s %s/%s', account, currency, network) FROM locked
      WHERE EXISTS (SELECT FROM book.system_delta d
        WHERE (d.account, d.currency, d.network) = (locked.account, locked.currency, locked.network))
      ORDER BY 1 LIMIT 1) AS locked`;
  const locked = row?.locked ?? null;
  if (locked !== null) {
    throw new Error(`Cannot add up all system balances as another transaction holds ${locked}`);
  }
  return row?.n ?? 0;
}
