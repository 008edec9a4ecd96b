import { assert } from "@std/assert";
import type { Sql } from "../../ledger/database/connect.ts";
import { commitSigned as commit, type SignedRow } from "../../ledger/treasury/signing.ts";
import { amount } from "./books.ts";

/** A signature as most tests make it: what it may burn is all the same to them, and a tick is time. */
export type SignedAnyhow =
  & Pick<SignedRow, "outgoingId" | "merchantId" | "network" | "txid" | "bytes" | "expiresAt">
  & Partial<SignedRow>;

/** The turn before, ended or not: a wallet has one writer, also where a test signs all at once. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Commits signatures of one network in a turn of their own.
 *
 * @returns ids of the transfers that are signed now
 */
export function commitSigned(
  sql: Sql,
  rows: readonly SignedAnyhow[],
): Promise<ReadonlySet<string>> {
  const turn = last.then(() => commitInTurn(sql, rows));
  last = turn.catch(() => {});
  return turn;
}

async function commitInTurn(
  sql: Sql,
  rows: readonly SignedAnyhow[],
): Promise<ReadonlySet<string>> {
  const network = rows[0]?.network ?? "TRX";
  const [turn] = await sql<{ batches: string }[]>`
    INSERT INTO book.signing_turn (network, node, until) VALUES (${network}, 'test', now())
    ON CONFLICT (network) DO UPDATE SET until = now() RETURNING batches`;
  const signed = rows.map((row) => ({
    feeLimit: amount("2"),
    diesAfter: row.expiresAt,
    nonce: null,
    place: 0,
    intents: 1,
    ...row,
  }));
  const ids = await commit(sql, signed, { network, batches: BigInt(turn?.batches ?? 0) });
  assert(ids !== null, "somebody else signed at the same time");
  return ids;
}
