/**
 * From the signer's bytes to the rows that are committed of them: one for each intent.
 *
 * @module
 */

import type { Chain, SignedTerms, SignedTransaction } from "../../chains/chain.ts";
import type { Amount } from "../../ledger/money/amount.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { shareOf } from "../../ledger/money/shares.ts";
import type { SignedRow } from "../../ledger/treasury/signing.ts";

/** An intent of a transaction. */
interface OwnIntent {
  readonly id: string;
  readonly merchantId: string;
}

/**
 * The rows of a transaction.
 *
 * @param intents in their order in it
 * @param feeLimit the most coin that it may take from the hot wallet, besides what it moves
 */
export function rowsOf(
  network: Network,
  signed: SignedTransaction,
  { beginning: sinceHeight, diesAfter, nonce }: SignedTerms,
  intents: readonly OwnIntent[],
  feeLimit: Amount,
): readonly SignedRow[] {
  return intents.map(({ id: outgoingId, merchantId }, place) => ({
    ...signed,
    outgoingId,
    merchantId,
    network,
    nonce,
    sinceHeight,
    diesAfter,
    place,
    intents: intents.length,
    feeLimit: shareOf(feeLimit, place, intents.length),
  }));
}

/** Rows by their transactions, in their order. */
export function byTransaction(rows: readonly SignedRow[]): readonly (readonly SignedRow[])[] {
  return [...Map.groupBy(rows, ({ txid }) => txid).values()];
}

/** Terms of signed bytes; null: they are none of this chain. */
export function termsOf(
  chain: Pick<Chain, "termsOf">,
  bytes: string,
  near: number,
): SignedTerms | null {
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
  { txid, bytes, expiresAt }: SignedTransaction,
  { nonce }: Pick<SignedTerms, "nonce">,
  earlier: ReadonlySet<string>,
): string | null {
  if (chain.transactionId(txid) !== txid) return `it is no transaction id: ${txid}`;
  if (earlier.has(txid)) return `another transfer of the batch has its transaction: ${txid}`;
  if (bytes === "") return "it has no bytes";
  if (nonce !== null) return expiresAt === null ? null : "it has a nonce and a time of expiry";
  return Number.isSafeInteger(expiresAt) ? null : `it has no time of expiry: ${expiresAt}`;
}

/** True where a refusal means that no payout of its network can be signed. */
export function isClosed(refused: string): boolean {
  return refused === "locked" || refused === "no-signer";
}
