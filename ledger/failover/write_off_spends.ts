import type { Sql } from "postgres";
import { type HubAudit, writeAudit } from "../audit.ts";
import { spendEventId } from "../ingested.ts";
import { PLATFORM_ACCOUNT } from "../own_accounts.ts";
import {
  type Candidate,
  findCandidates,
  type UndecidedSpend,
  writeVerdict,
} from "./spend_verdicts.ts";

/** Stands in the line of a write-off where that of a booking names its withdrawal. */
const WRITTEN_OFF = "written off";

/** Why a transfer is not written off; nothing was changed. */
export type WriteOffRefused =
  /** Another verdict was faster. */
  | { readonly code: "decided" }
  /** It pays a withdrawal already; where an upstream system has said so, its id is not known here. */
  | { readonly code: "paid"; readonly merchantId: string; readonly withdrawalId: string | null }
  /** A payout of the same terms lives, and would be paid as well. */
  | { readonly code: "candidate"; readonly candidate: Candidate };

/** Undoes the transaction in which a refusal was found. */
class Undone extends Error {
  constructor(readonly refused: WriteOffRefused) {
    super(`Cannot write a transfer off: ${refused.code}`);
  }
}

/**
 * Writes the transfers of a transaction off, with their audit: they debit no merchant. The line of
 * `book.ingested` that a booking would write with itself is taken in the same transaction, so that of
 * two verdicts at once exactly one is given.
 *
 * @param spends all of one transaction
 * @param anyway although payouts of the same terms live
 * @returns why not; null where they are written off
 */
export async function writeOffSpends(
  sql: Sql,
  spends: readonly UndecidedSpend[],
  reason: string,
  anyway: boolean,
  audit: HubAudit,
): Promise<WriteOffRefused | null> {
  const [spend] = spends;
  if (spend === undefined) return { code: "decided" };
  const { network, txid } = spend;
  const eventId = spendEventId(spend);
  try {
    await sql.begin(async (tx) => {
      const [candidate] = anyway ? [] : await findCandidates(tx, spend);
      if (candidate !== undefined) throw new Undone({ code: "candidate", candidate });
      const verdict = { kind: "written_off" as const, reason };
      const decided = await writeVerdict(tx, spends, verdict, audit.actor);
      if (decided === 0) throw new Undone({ code: "decided" });
      // waits for a booking that is being committed just now
      await tx`
        INSERT INTO book.ingested (event_id, merchant_id, body_hash, created_at)
        VALUES (${eventId}, ${PLATFORM_ACCOUNT}, ${WRITTEN_OFF}, now()) ON CONFLICT DO NOTHING`;
      const [paid] = await tx<{ event_id: string; merchant_id: string; body_hash: string }[]>`
        SELECT event_id, merchant_id, body_hash FROM book.ingested
        WHERE event_id = ${eventId} AND body_hash <> ${WRITTEN_OFF}
        UNION ALL
        SELECT event_id, merchant_id, body_hash FROM book.ingested
        WHERE network = ${network} AND txid = ${txid} LIMIT 1`;
      if (paid !== undefined) {
        const withdrawalId = paid.event_id === eventId ? paid.body_hash : null;
        throw new Undone({ code: "paid", merchantId: paid.merchant_id, withdrawalId });
      }
      await writeAudit(tx, audit);
    });
    return null;
  } catch (error) {
    if (error instanceof Undone) return error.refused;
    throw error;
  }
}
