/**
 * Transactions that wait, with the rules of geth's pool that anvil does not keep.
 *
 * @module
 */

import { BLOCK_GAS } from "./genesis.ts";
import type { Hex, RpcError, RpcTransaction } from "./rpc.ts";

/** A way in which a contract call is made to fail. */
export type Fate = "revert" | "out-of-gas";

/** A transaction that waits, or may have to wait again. */
export interface Waiting {
  readonly raw: Hex;
  readonly tx: RpcTransaction;
  readonly fate: Fate | null;
}

/** An error as geth has it. */
export function refusal(message: string): RpcError {
  return { code: -32_000, message };
}

/** Most that is paid for a unit of gas, wei. */
export function feeCapOf({ tx }: Waiting): bigint {
  return BigInt(tx.maxFeePerGas ?? tx.gasPrice ?? 0);
}

/** Most of that for the block's maker, wei. */
export function tipCapOf({ tx }: Waiting): bigint {
  return BigInt(tx.maxPriorityFeePerGas ?? tx.gasPrice ?? 0);
}

/** Number of a transaction among those of its sender. */
export function nonceOf({ tx }: Waiting): number {
  return Number(tx.nonce);
}

/** The next nonce of a sender, counting what waits without a gap. @param mined its next one by blocks */
export function nextNonce(pool: readonly Waiting[], from: string, mined: number): number {
  const used = new Set(pool.filter(({ tx }) => isFrom(tx, from)).map(nonceOf));
  let next = mined;
  while (used.has(next)) next++;
  return next;
}

/** True where a transaction is of a sender, in whatever case that is written. */
export function isFrom(tx: RpcTransaction, from: string): boolean {
  return tx.from.toLowerCase() === from.toLowerCase();
}

/**
 * The reason for which a valid transaction is not taken.
 *
 * @param sender next nonce of its sender by blocks, and true for one whose code is delegated
 * @param leastTip wei
 */
export function poolRefusal(
  pool: readonly Waiting[],
  given: Waiting,
  sender: { readonly mined: number; readonly isDelegated: boolean },
  leastTip: bigint,
): RpcError | null {
  const tip = tipCapOf(given);
  if (tip < leastTip) {
    return refusal(`transaction underpriced: gas tip cap ${tip}, minimum needed ${leastTip}`);
  }
  const own = pool.filter(({ tx }) => isFrom(tx, given.tx.from));
  const replaced = own.find((one) => nonceOf(one) === nonceOf(given));
  if (replaced !== undefined) {
    // geth (core/txpool/legacypool, PriceBump): a tenth more of both
    const isBumped = feeCapOf(given) * 10n >= feeCapOf(replaced) * 11n &&
      tip * 10n >= tipCapOf(replaced) * 11n;
    return isBumped ? null : refusal("replacement transaction underpriced");
  }
  if (!sender.isDelegated) return null;
  if (own.length > 0) {
    return refusal("in-flight transaction limit reached for delegated accounts");
  }
  return nonceOf(given) === sender.mined
    ? null
    : refusal("gapped-nonce tx from delegated accounts");
}

/**
 * The transactions of the next block, in their order: of what each sender has next, the one with the
 * highest tip. One that is made to fail is alone of its sender in a block, as a contract that fails it sees
 * the sender and not the transaction.
 *
 * @param nonces next nonce by blocks of every sender, lower case
 * @param baseFee of the next block, wei
 */
export function chooseForBlock(
  pool: readonly Waiting[],
  nonces: ReadonlyMap<string, number>,
  baseFee: bigint,
): readonly Waiting[] {
  const next = new Map(nonces);
  const failing = new Set<string>();
  const chosen: Waiting[] = [];
  let gasLeft = BLOCK_GAS;
  for (;;) {
    const able = pool.filter((one) => {
      const from = one.tx.from.toLowerCase();
      const isFirst = next.get(from) === nonces.get(from);
      return nonceOf(one) === next.get(from) && feeCapOf(one) >= baseFee &&
        BigInt(one.tx.gas) <= gasLeft && !failing.has(from) && (one.fate === null || isFirst);
    });
    const best = able.reduce<Waiting | undefined>(
      (found, one) => found !== undefined && offer(found) >= offer(one) ? found : one,
      undefined,
    );
    if (best === undefined) return chosen;
    const from = best.tx.from.toLowerCase();
    chosen.push(best);
    next.set(from, nonceOf(best) + 1);
    gasLeft -= BigInt(best.tx.gas);
    if (best.fate !== null) failing.add(from);
  }

  function offer(one: Waiting): bigint {
    const [tip, rest] = [tipCapOf(one), feeCapOf(one) - baseFee];
    return tip < rest ? tip : rest;
  }
}
