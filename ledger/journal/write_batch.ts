/**
 * The one write of a batch. Its parameters follow from the tables of `rows.ts`: a new kind of row is
 * listed there, and a parameter of its name is added to `book.commit_batch`.
 *
 * @module
 */

import type { Sql } from "postgres";
import { isDeclineStopped } from "./write_error.ts";
import {
  type EntryRow,
  entryTable,
  type PayoutOpening,
  payoutOpeningTable,
} from "../payment_rows.ts";
import {
  type AccountChange,
  accountChangeTable,
  type BalanceKey,
  balanceKeyTable,
  CHANGING_ROWS,
  type ChangingRows,
  kindsOf,
  type MerchantRow,
  merchantTable,
  WRITTEN_ONCE,
  type WrittenOnce,
} from "../rows.ts";

/** Changes of a batch for one merchant: every row once, in its final image. */
export interface MerchantChanges {
  readonly account: AccountChange;
  /** Pairs that get their first balance row. */
  readonly opened: readonly BalanceKey[];
  /** Payouts that begin; the database derives their rows, none of which is listed below. */
  readonly openings: readonly PayoutOpening[];
  readonly entries: readonly EntryRow[];
  /** The profile where it changed, otherwise empty. */
  readonly merchants: readonly MerchantRow[];
  readonly created: ChangingRows;
  readonly changed: ChangingRows;
  readonly once: WrittenOnce;
}

/** A merchant's part of a batch of which nothing was written, with the reason. */
export interface Miss {
  readonly merchantId: string;
  readonly reason:
    /** Another node wrote this merchant since its state was read, or its history is another one. */
    | "version"
    /** Its account, or a payout that it gives up, is locked by another transaction. */
    | "locked"
    /** Pairs or fee settings changed since the batch was decided. */
    | "epoch"
    /** The payout was signed, or its state moved, before its refund. */
    | "outgoing"
    /** A living withdrawal holds a reference that one of its payouts wants. */
    | "reference"
    /**
     * It gives a queued payout up, or turns one down that waits for approval, while signing is stopped (`hub.signing_stop`):
     * it may be paid already.
     */
    | "stopped";
}

/** One parameter of `book.commit_batch`. */
interface Parameter {
  readonly name: string;
  readonly type: string;
  readonly encode: (changes: readonly MerchantChanges[]) => string;
}

function parameter<R>(
  name: string,
  table: { readonly rowType: string; encode(rows: readonly R[]): string },
  rowsOf: (changes: MerchantChanges) => readonly R[],
): Parameter {
  const encode = (changes: readonly MerchantChanges[]) => {
    const rows: R[] = [];
    for (const one of changes) {
      const own = rowsOf(one);
      // of most kinds a merchant has none
      if (own.length > 0) rows.push(...own);
    }
    return table.encode(rows);
  };
  return { name, type: table.rowType, encode };
}

const PARAMETERS: readonly Parameter[] = [
  // the longest one first: the driver's buffer then grows once
  parameter("openings", payoutOpeningTable, ({ openings }) => openings),
  parameter("accounts", accountChangeTable, ({ account }) => [account]),
  parameter("opened", balanceKeyTable, ({ opened }) => opened),
  parameter("entries", entryTable, ({ entries }) => entries),
  parameter("merchants", merchantTable, ({ merchants }) => merchants),
  ...kindsOf(CHANGING_ROWS).flatMap((kind) => [
    parameter<unknown>(`new_${kind}`, CHANGING_ROWS[kind], ({ created }) => created[kind]),
    parameter<unknown>(kind, CHANGING_ROWS[kind], ({ changed }) => changed[kind]),
  ]),
  ...kindsOf(WRITTEN_ONCE).map((kind) =>
    parameter<unknown>(kind, WRITTEN_ONCE[kind], ({ once }) => once[kind])
  ),
];

const CALL = `SELECT * FROM book.commit_batch(p_commit_id => $1::text, p_epoch => $2::uuid, ${
  PARAMETERS.map(({ name, type }, n) => `p_${name} => $${n + 3}::${type}[]`).join(", ")
})`;

/**
 * Writes a batch in one transaction and one round trip (book.commit_batch). Where merchants miss,
 * nothing is written and the others are sent again without them: misses are rare, and a write
 * that may assume that all of it survives is the faster one.
 *
 * @param commitId names the batch, for {@linkcode resolveCommit} when the answer is lost
 * @param epoch the settings' epoch the batch was decided on
 * @returns the merchants that were not written; all others are durable
 * @throws a connection error: the outcome is unknown. Any other error: nothing was written.
 */
export async function writeBatch(
  sql: Sql,
  commitId: string,
  epoch: string,
  changes: readonly MerchantChanges[],
): Promise<readonly Miss[]> {
  const misses: Miss[] = [];
  let left = changes;
  while (left.length > 0) {
    const found = await tryBatch(sql, commitId, epoch, left);
    if (found.length === 0) break;
    misses.push(...found);
    const missed = new Set(found.map(({ merchantId }) => merchantId));
    left = left.filter(({ account }) => !missed.has(account.merchantId));
  }
  return misses;
}

/** One try of a write: done where no merchant misses, otherwise nothing is written. */
async function tryBatch(
  sql: Sql,
  commitId: string,
  epoch: string,
  changes: readonly MerchantChanges[],
): Promise<readonly Miss[]> {
  try {
    const rows = await sql.unsafe<{ merchant_id: string; reason: Miss["reason"] }[]>(
      CALL,
      [commitId, epoch, ...PARAMETERS.map(({ encode }) => encode(changes))],
      { prepare: true },
    );
    return rows.map((row) => ({ merchantId: row.merchant_id, reason: row.reason }));
  } catch (error) {
    // the trigger names one withdrawal; its merchant's whole part was decided together, and so is every other such part
    const declining = isDeclineStopped(error) ? changes.filter(hasDecline) : [];
    if (declining.length === 0) throw error;
    return declining.map(({ account }) => ({ merchantId: account.merchantId, reason: "stopped" }));
  }
}

/** True where a withdrawal that waits for approval is turned down: no other ends as CANCELLED. */
function hasDecline({ changed }: MerchantChanges): boolean {
  return changed.withdrawals.some(({ status }) => status === "CANCELLED");
}

/**
 * Checks that answers which change nothing were decided on current state: a refusal from a stale
 * version would be wrong as well.
 *
 * @returns the merchants whose account (or whose settings) changed meanwhile
 */
export async function checkVersions(
  sql: Sql,
  epoch: string,
  accounts: readonly Pick<AccountChange, "merchantId" | "version" | "lastCommit">[],
): Promise<readonly Miss[]> {
  const rows = await sql<{ merchant_id: string; reason: "version" | "epoch" }[]>`
    SELECT s.merchant_id, CASE WHEN (a.version, a.last_commit) IS DISTINCT FROM (s.version, s.last_commit)
      THEN 'version' ELSE 'epoch' END AS reason
    FROM unnest(${accounts.map(({ merchantId }) => merchantId)}::text[],
                ${accounts.map(({ version }) => version)}::bigint[],
                ${accounts.map(({ lastCommit }) => lastCommit)}::uuid[])
      AS s(merchant_id, version, last_commit)
    LEFT JOIN book.account a ON a.merchant_id = s.merchant_id
    WHERE (a.version, a.last_commit) IS DISTINCT FROM (s.version, s.last_commit)
      OR (SELECT epoch FROM book.setting) <> ${epoch}::uuid`;
  return rows.map((row) => ({ merchantId: row.merchant_id, reason: row.reason }));
}

/** The fate of a batch whose answer was lost, as far as it is certain. */
export interface Resolution {
  /** The merchants whose part was committed; `null`: the batch has not happened. */
  readonly survivors: ReadonlySet<string> | null;
  /** Merchants for whom it still may happen: their accounts are locked just now. */
  readonly waiting: ReadonlySet<string>;
}

/**
 * Finds out what became of a batch whose answer was lost with its connection. Fences the batch
 * first (changes what it was decided on), so that the answer is final; waits for no lock. Every
 * touched actor must be read again afterwards.
 */
export async function resolveCommit(
  sql: Sql,
  commitId: string,
  merchantIds: readonly string[],
): Promise<Resolution> {
  const [row] = await sql<{ survivors: string[] | null; waiting: string[] }[]>`
    SELECT * FROM book.resolve_commit(${commitId}::text, ${[...merchantIds]}::text[])`;
  if (row === undefined) throw new Error("Cannot resolve a commit as nothing was answered");
  // a batch that happened did so as a whole, whatever is locked now
  if (row.survivors !== null) return { survivors: new Set(row.survivors), waiting: new Set() };
  return { survivors: null, waiting: new Set(row.waiting) };
}

/** Deletes commits so old that no lost answer is still asked about. */
export async function pruneCommitLog(sql: Sql, keepMs: number): Promise<void> {
  await sql`DELETE FROM book.commit_log WHERE created_at < now() - make_interval(secs => ${
    keepMs / 1_000
  })`;
}
