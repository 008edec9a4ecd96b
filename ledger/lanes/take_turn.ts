import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";
import type { SigningTurn } from "../treasury/pull_queued.ts";

/**
 * Takes the turn to sign for a network, or takes it again, while nothing is pulled from its queue: what is
 * promised has to be signed, replaced and sent all the same.
 *
 * @param turnMs time for which no other node signs, by the database's clock
 * @returns null where another node holds it
 */
export async function takeTurn(
  sql: Sql,
  network: Network,
  node: string,
  turnMs: number,
): Promise<SigningTurn | null> {
  const [row] = await sql<{ batches: string }[]>`
    INSERT INTO book.signing_turn AS t (network, node, until)
    VALUES (${network}, ${node}, now() + make_interval(secs => ${turnMs / 1_000}))
    ON CONFLICT (network) DO UPDATE SET node = excluded.node, until = excluded.until
    WHERE t.node = ${node} OR t.until <= now()
    RETURNING batches`;
  return row === undefined ? null : { network, batches: BigInt(row.batches) };
}
