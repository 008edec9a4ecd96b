import type { Sql } from "../database/connect.ts";

/** Amounts added by one statement. */
const AT_A_TIME = 10_000;

/** Key of the advisory lock of the node that adds up; the text `fold` in hexadecimal. */
const TURN = 0x666f6c64;

/**
 * Adds what commits have posted to the system's accounts to their balances. Readers see every posting
 * once at any time (`book.system_total`). While another node does it there is nothing to do. An account whose row
 * another transaction holds is left out.
 *
 * @returns how many amounts were added, at most 10,000
 * @throws {Error} where amounts of held rows are left; what could be added has been
 */
export async function foldSystemBalances(sql: Sql): Promise<number> {
  const [row] = await sql<{ n: number; held: string | null }[]>`
    WITH turn AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(${TURN}::bigint) AS is_ours),
    free AS MATERIALIZED (
      SELECT account, currency, network FROM book.system_balance
      WHERE (SELECT is_ours FROM turn)
      ORDER BY 1, 2, 3 FOR UPDATE SKIP LOCKED),
    held AS MATERIALIZED (
      SELECT account, currency, network FROM book.system_balance
      WHERE (SELECT is_ours FROM turn) EXCEPT TABLE free),
    taken AS (
      DELETE FROM book.system_delta WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM book.system_delta
        WHERE (SELECT is_ours FROM turn) AND (account, currency, network) NOT IN (TABLE held)
        LIMIT ${AT_A_TIME} FOR UPDATE SKIP LOCKED))
      RETURNING *),
    folded AS (
      INSERT INTO book.system_balance AS b (account, currency, network, balance)
      SELECT account, currency, network, sum(amount) FROM taken GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
      ON CONFLICT (account, currency, network) DO UPDATE SET balance = b.balance + excluded.balance)
    SELECT (SELECT count(*)::int FROM taken) AS n, (
      SELECT format('%s %s/%s', account, currency, network) FROM held
      WHERE EXISTS (SELECT FROM book.system_delta d
        WHERE (d.account, d.currency, d.network) = (held.account, held.currency, held.network))
      ORDER BY 1 LIMIT 1) AS held`;
  const held = row?.held ?? null;
  if (held !== null) {
    throw new Error(`Cannot add up all system balances as another transaction holds ${held}`);
  }
  return row?.n ?? 0;
}
