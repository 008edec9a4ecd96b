import type { Sql } from "postgres";
import { type Amount, amountOf } from "../money/amount.ts";
import type { Network } from "../money/pair.ts";

/** Stake of loans that are queued or signed and not final: a node may not know of them yet. */
export async function readPromisedStake(sql: Sql, network: Network): Promise<Amount> {
  const [row] = await sql<{ stake: string }[]>`
    SELECT trim_scale(coalesce(sum(amount), 0))::text AS stake FROM book.outgoing
    WHERE network = ${network} AND kind = 'delegation' AND status IN ('queued', 'signed', 'dead')`;
  return amountOf(row?.stake ?? "0");
}
