/** A database that is set back to a copy, as a machine's snapshot does: the same history, with less in it. @module */

import type { Sql } from "../../../ledger/database/connect.ts";
import type { Network } from "../../../ledger/money/pair.ts";

/** A copy of the places up to which a network was read, and of how much was signed for it. */
export type Copy = Awaited<ReturnType<typeof copyOf>>;

/** Copies what {@linkcode setBack} needs. */
export async function copyOf(sql: Sql, network: Network) {
  const cursors = await sql`SELECT * FROM hub.cursor WHERE network = ${network}`;
  const turns = await sql`SELECT * FROM book.signing_turn WHERE network = ${network}`;
  return { network, cursors, turns };
}

/** Sets the books back to a copy by which all that is there was queued, and nothing signed. */
export async function setBack(sql: Sql, { network, cursors, turns }: Copy): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`DELETE FROM book.attempt`;
    await tx`DELETE FROM book.lane_nonce`;
    await tx`DELETE FROM book.inbox WHERE phase = 'outcome'`;
    await tx`DELETE FROM book.entry WHERE leg = 'paid'`;
    await tx`
      UPDATE book.outgoing
      SET status = 'queued', nonce = NULL, attempts = 0, reason = NULL, lease_until = NULL`;
    await tx`DELETE FROM hub.cursor WHERE network = ${network}`;
    for (const cursor of cursors) await tx`INSERT INTO hub.cursor ${tx(cursor)}`;
    await tx`DELETE FROM book.signing_turn WHERE network = ${network}`;
    for (const turn of turns) await tx`INSERT INTO book.signing_turn ${tx(turn)}`;
  });
}
