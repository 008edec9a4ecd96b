import type { BroadcastOutcome, SignedTransaction } from "../../../chains/chain.ts";
import type { Trouble } from "../harness.ts";
import type { PaperLedger } from "./ledger.ts";
import { idOf, readTransaction } from "./transaction.ts";

/** A replacement offers so much more than what it replaces, or nodes do not take it. */
const BUMP = 1.1;

/** Troubles that wait for what they concern. */
export class Troubles {
  #left: Trouble[] = [];

  add(trouble: Trouble, times: number): void {
    for (let made = 0; made < times; made++) this.#left.push(trouble);
  }

  /** The first of some troubles that waits, which then has happened. */
  take(...kinds: readonly Trouble[]): Trouble | null {
    const found = this.#left.findIndex((trouble) => kinds.includes(trouble));
    return found < 0 ? null : this.#left.splice(found, 1)[0] ?? null;
  }
}

function unclear(code: string): BroadcastOutcome {
  return { category: "unclear", retryable: true, code };
}

/**
 * Offers bytes to the one node of a chain on paper.
 *
 * @throws {Error} when the bytes are not of that transaction
 */
export function offer(
  ledger: PaperLedger,
  troubles: Troubles,
  { txid, bytes }: SignedTransaction,
): BroadcastOutcome {
  if (idOf(bytes) !== txid) {
    throw new Error(`Cannot broadcast as its bytes are of another: ${txid}`);
  }
  const transaction = readTransaction(bytes);
  const { from, nonce, price } = transaction;
  if (nonce < ledger.next(from, "head")) return unclear("NONCE_TOO_LOW");
  const earlier = ledger.waiting(from, nonce);
  if (earlier?.txid === txid) return { category: "known", retryable: true, code: "KNOWN" };
  if (earlier !== undefined && price < earlier.price * BUMP) return unclear("REPLACEMENT");
  const trouble = troubles.take(
    "accepted-silently",
    "forgotten",
    "answer-lost",
    "answer-missing",
    "fails-on-chain",
  );
  const fails = trouble === "fails-on-chain";
  if (trouble !== "forgotten") ledger.take({ ...transaction, txid, bytes, fails });
  return trouble === null || trouble === "forgotten" || fails
    ? { category: "accepted", retryable: true }
    : unclear(trouble);
}
