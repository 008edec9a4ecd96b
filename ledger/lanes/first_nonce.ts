import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";

/** The nonce at which the hot wallet's lane begins; null: it is not known yet. */
export async function readFirstNonce(sql: Sql, network: Network): Promise<number | null> {
  const [row] = await sql<{ first: string | null }[]>`
    SELECT first_nonce AS first FROM hub.wallet WHERE network = ${network}`;
  const first = row?.first ?? null;
  return first === null ? null : Number(first);
}

/** Stores where the hot wallet's lane begins; what is stored already stays. */
export async function storeFirstNonce(sql: Sql, network: Network, nonce: number): Promise<void> {
  await sql`
    UPDATE hub.wallet SET first_nonce = ${nonce} WHERE network = ${network} AND first_nonce IS NULL`;
}
