import { createHash } from "node:crypto";
import type { Envelope, SignedTransaction } from "../../../chains/chain.ts";
import type { Movement } from "../../../chains/fees.ts";
import { type Amount, amountOf } from "../../../ledger/money/amount.ts";

/** The most that a transaction may offer for each of its movements. */
export const CAP = 200;
/** Coin that one is charged for each unit of price, beside its own place one for each movement. */
const UNIT = amountOf("0.000001");

/** A transaction as its bytes have it; its sender pays for it. */
export interface PaperTransaction {
  readonly from: string;
  readonly nonce: number;
  readonly price: number;
  readonly movements: readonly Movement[];
}

/** A transaction that was taken, with what is to become of it. */
export interface Taken extends PaperTransaction {
  readonly txid: string;
  /** As they were signed. */
  readonly bytes: string;
  /** True: it moves nothing whatever it says. */
  readonly fails: boolean;
}

/** Cost of a transaction at a price. */
export function costOf({ movements }: Pick<PaperTransaction, "movements">, price: number): Amount {
  return (UNIT * BigInt(price) * BigInt(1 + movements.length)) as Amount;
}

/** Signs, as paper does: the id commits to every byte. */
export function signedOnPaper(
  from: string,
  movements: readonly Movement[],
  { nonce, fields }: Envelope,
): SignedTransaction {
  const bytes = JSON.stringify({
    from,
    nonce,
    price: fields["price"],
    movements: movements.map((one) => ({ ...one, amount: String(one.amount) })),
  });
  return { txid: idOf(bytes), bytes, expiresAt: null };
}

/** The id of a transaction with these bytes. */
export function idOf(bytes: string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Reads signed bytes. @throws {RangeError} when they are none */
export function readTransaction(bytes: string): PaperTransaction {
  try {
    const { movements, ...read } = JSON.parse(bytes);
    return {
      ...read,
      movements: movements.map((one: Movement) => ({ ...one, amount: BigInt(one.amount) })),
    };
  } catch (cause) {
    throw new RangeError("Cannot read a transaction as its bytes are malformed", { cause });
  }
}
