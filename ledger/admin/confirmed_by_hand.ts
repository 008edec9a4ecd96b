import { type Amount, amountOf } from "../amount.ts";
import type { AnySql } from "../database/connect.ts";
import type { Actor } from "../duties.ts";

/**
 * What an administrator alone has confirmed by hand in the last 24 hours, whatever the currency: stablecoins
 * of one money are counted together. The commit counts again, under a lock: this is what it is likely to find.
 *
 * @param except a deposit that is left out: the one to be decided on
 */
export async function sumConfirmedByHand(
  sql: AnySql,
  { key, administrator }: Actor,
  except: string,
): Promise<Amount> {
  const [row] = await sql<{ sum: string }[]>`
    SELECT trim_scale(book.confirmed_alone(${key}::text, ${administrator}::text, ${except}))::text AS sum`;
  return amountOf(row?.sum ?? "0");
}

/**
 * Whether money that a payout moves may come from deposits which an administrator has confirmed by
 * hand: any of the merchant's in that pair, of the last 30 days. Counts where persons are told apart.
 */
export async function hasFunded(
  sql: AnySql,
  withdrawalId: string,
  { key, administrator }: Actor,
): Promise<boolean> {
  const [row] = await sql<{ funded: boolean }[]>`
    SELECT book.has_funded(w.merchant_id, w.currency, w.network, ${key}::text, ${administrator}::text) AS funded
    FROM book.withdrawal w WHERE w.id = ${withdrawalId}`;
  return row?.funded ?? false;
}
