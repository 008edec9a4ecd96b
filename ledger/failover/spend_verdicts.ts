import type { Sql } from "postgres";
import { type HubAudit, writeAudit } from "../audit.ts";
import type { AnySql } from "../database/connect.ts";
import { spendEventId } from "../ingested.ts";
import { PLATFORM_ACCOUNT } from "../own_accounts.ts";
import { shape } from "../shape.ts";
import { integer, text } from "../table.ts";
import { type Candidate, findCandidates, type UnknownSpend } from "./unknown_spends.ts";

type SpendKey = Pick<UnknownSpend, "network" | "txid" | "logIndex">;
const keyShape = shape({ network: text(), txid: text(), logIndex: integer() });

/** An administrator's verdict on an unknown transfer. */
export type SpendVerdict =
  | {
    readonly kind: "matched" | "booked";
    readonly merchantId: string;
    readonly withdrawalId: string;
  }
  | { readonly kind: "written_off"; readonly reason: string };

/**
 * Writes a verdict on undecided transfers, with its audit.
 *
 * @returns how many were decided by it; those that another verdict has decided meanwhile are not
 */
export async function decideSpends(
  sql: Sql,
  spends: readonly SpendKey[],
  verdict: SpendVerdict,
  audit: HubAudit,
): Promise<number> {
  return await sql.begin(async (tx) => {
    const count = await writeVerdict(tx, spends, verdict, audit.actor);
    if (count > 0) await writeAudit(tx, audit);
    return count;
  });
}

/** Writes a verdict on those that are undecided still. @returns how many they are */
async function writeVerdict(
  tx: AnySql,
  spends: readonly SpendKey[],
  verdict: SpendVerdict,
  actor: string,
): Promise<number> {
  const isPayment = verdict.kind !== "written_off";
  const { count } = await tx`
    UPDATE hub.unknown_spend s SET status = ${verdict.kind}, decided_at = now(), actor = ${actor},
      reason = ${isPayment ? null : verdict.reason},
      merchant_id = ${isPayment ? verdict.merchantId : null},
      withdrawal_id = ${isPayment ? verdict.withdrawalId : null}
    FROM ${keyShape.rows(tx, "f", spends)}
    WHERE s.network = f.network AND s.txid = f.txid AND s.log_index = f.log_index AND s.status = 'open'`;
  return count;
}

/** Stands in the line of a write-off where that of a booking names its withdrawal. */
const WRITTEN_OFF = "written off";

/** Reasons why a transfer is not written off; nothing was changed. */
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
  spends: readonly UnknownSpend[],
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

/**
 * The id of the withdrawal as which a transfer is booked for a merchant: the same each time it is asked
 * for, so that a verdict that is repeated finds what an earlier one has made. Its UUID is of version 8
 * where all others are of version 7, by which the database keeps it from ever being half booked, and its
 * payout from the queue (`book.is_booked`): the money has left already.
 *
 * @returns `wd_` and a UUID made of the SHA-256 of transfer and merchant
 */
export async function bookedWithdrawalId(
  { network, txid, logIndex }: SpendKey,
  merchantId: string,
): Promise<string> {
  const text = new TextEncoder().encode([network, txid, logIndex, merchantId].join("/"));
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", text)).slice(0, 16);
  bytes[6] = 0x80 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `wd_${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${
    hex.slice(20)
  }`;
}
