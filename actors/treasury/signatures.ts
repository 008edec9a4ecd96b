import { getLogger } from "@logtape/logtape";
import type { Sql } from "postgres";
import type { Chain } from "../../chains/chain.ts";
import { type SignAnswer, type Signer, SignerUnavailable } from "../../chains/signer.ts";
import { classifyDatabaseError, isTransient } from "../../ledger/database/database_errors.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { commitSigned, type SignedRow, type SigningTurn } from "../../ledger/treasury/signing.ts";

/** An id that no transfer has. */
const NO_TRANSFER = "out_nobody";

/**
 * Finds out whether a network is signed for at all by asking for a signature of nothing: a signer
 * looks at the network and its key before it looks for the transfer.
 *
 * @returns `false` where the wallet is locked or no signer serves the network; `null` while the
 *   signer cannot be reached: then payouts wait for it
 */
export async function signsFor(signer: Signer, network: Network): Promise<boolean | null> {
  try {
    const [answer] = await signer.sign([{
      outgoingId: NO_TRANSFER,
      envelope: { network, fields: {}, expiresAt: 0 },
    }]);
    return answer !== undefined && !("refused" in answer && isClosed(answer.refused));
  } catch (error) {
    if (error instanceof SignerUnavailable) return null;
    throw error;
  }
}

/** True where a refusal means that no payout of its network can be signed. */
export function isClosed(refused: string): boolean {
  return refused === "locked" || refused === "no-signer";
}

const log = getLogger(["engine", "treasury"]);

/**
 * Commits signatures; where the database refuses the batch for what is in it, each by itself, so that
 * one that breaks a rule of the schema takes no other along. Each commit follows the one before it in
 * the same turn: what another node signs in between ends it.
 *
 * @param onRefused called with each that the database refuses alone, and a reason for the operator
 * @returns see {@linkcode commitSigned}
 * @throws when the database is away or has reasons of its own
 */
export async function commitApart(
  sql: Sql,
  rows: readonly SignedRow[],
  turn: SigningTurn,
  onRefused: (row: SignedRow, reason: string) => void,
): Promise<ReadonlySet<string> | null> {
  try {
    return await commitSigned(sql, rows, turn);
  } catch (error) {
    if (!isToBlame(error)) throw error;
    const text =
      "{network}: {count} signatures cannot be committed together, each is tried: {error}";
    log.error(text, { network: turn.network, count: rows.length, error });
  }
  const committed = new Set<string>();
  let { batches } = turn;
  for (const row of rows) {
    try {
      const ids = await commitSigned(sql, [row], { ...turn, batches });
      if (ids === null) return committed.size === 0 ? null : committed;
      // the turn counts every commit, also one that found its transfer given up
      batches++;
      for (const id of ids) committed.add(id);
    } catch (error) {
      if (!isToBlame(error)) {
        if (committed.size === 0) throw error;
        const text = "{network}: what is left of a batch waits for the database: {error}";
        log.warn(text, { network: turn.network, error });
        return committed;
      }
      onRefused(row, `it cannot be committed: ${error instanceof Error ? error.message : error}`);
    }
  }
  return committed;
}

/** True where the statement itself is to blame: neither the connection nor the server has reasons of its own. */
export function isToBlame(error: unknown): boolean {
  return classifyDatabaseError(error) !== "connection" && !isTransient(error);
}

/** Terms of signed bytes; null: they are none of this chain. */
export function termsOf(
  chain: Pick<Chain, "termsOf">,
  bytes: string,
  near: number,
): ReturnType<Chain["termsOf"]> | null {
  try {
    return chain.termsOf(bytes, near);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return null;
  }
}

/** The reason for which a signature cannot be used; null: it can. */
export function faultOf(
  chain: Pick<Chain, "transactionId">,
  { txid, bytes, expiresAt }: Extract<SignAnswer, { readonly signed: unknown }>["signed"],
  earlier: ReadonlySet<string>,
): string | null {
  if (chain.transactionId(txid) !== txid) return `it is no transaction id: ${txid}`;
  if (earlier.has(txid)) return `another transfer of the batch has its transaction: ${txid}`;
  if (bytes === "") return "it has no bytes";
  return Number.isSafeInteger(expiresAt) ? null : `it has no time of expiry: ${expiresAt}`;
}
