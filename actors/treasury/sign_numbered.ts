/**
 * First signatures on chains that count nonces: a nonce is promised to queued transfers before the signer is asked.
 *
 * @module
 */

import type { Chain } from "../../chains/chain.ts";
import type { FeeEstimate } from "../../chains/fees.ts";
import { promiseNonces } from "../../ledger/lanes/promise_nonces.ts";
import type { QueuedRow, SigningTurn } from "../../ledger/treasury/signing.ts";
import { crashPoint } from "../runtime/crash_point.ts";
import type { Lanes } from "./lanes.ts";
import { coinWalletOf } from "./liquidity.ts";
import type { Payable } from "./prepare_batch.ts";
import { type NumberedRequest, type NumberedTransaction, signNonces } from "./sign_nonces.ts";
import type { TreasuryDeps } from "./treasury_deps.ts";

/** Transfers that are to share a transaction, with its price. */
interface Shared {
  readonly payer: string;
  readonly rows: readonly QueuedRow[];
  readonly fee: FeeEstimate;
}

/**
 * Promises nonces to transfers that can be paid now, signs and commits. What has no room in its payer's lane waits for it
 * without a nonce; what the signer refuses keeps its nonce, which the lane's next turn looks after.
 *
 * @param onRefused called for each transfer that was refused, with the reason for the operator
 * @returns what is committed, and to be sent; null where the turn was lost
 * @throws when the chain, the signer or the database does not answer
 */
export async function signNumbered(
  chain: Chain,
  deps: Pick<TreasuryDeps, "sql" | "signer">,
  turn: SigningTurn,
  payable: readonly Payable[],
  lanes: Lanes,
  onRefused: (row: QueuedRow, reason: string, isShared: boolean) => void,
): Promise<readonly NumberedTransaction[] | null> {
  const [newest] = payable;
  if (newest === undefined) return [];
  const shared = withinRoom(payable.map(sharedOf), lanes);
  const firsts = new Map<string, number>();
  for (const { payer } of shared) {
    if (payer !== "hot" && !firsts.has(payer)) firsts.set(payer, await lanes.firstOf(payer));
  }
  const wanted = shared.flatMap(({ payer, rows }, place) =>
    rows.map(({ id: outgoingId, merchantId }) => ({
      place,
      outgoingId,
      merchantId,
      first: firsts.get(payer) ?? null,
    }))
  );
  const promised = await promiseNonces(deps.sql, chain.network, wanted, turn);
  crashPoint("treasury.after-promise");
  if (promised === null) return null;
  const byIntent = new Map(promised.flatMap((one) => one.intents.map((id) => [id, one] as const)));
  const requests = shared.flatMap(({ payer, rows, fee }): NumberedRequest[] => {
    const found = byIntent.get(rows[0]?.id ?? "");
    if (found === undefined) return [];
    lanes.take(payer);
    const intents = rows.map(({ id: outgoingId, merchantId }) => ({ outgoingId, merchantId }));
    return [{ payer, nonce: found.nonce, intents, purpose: "pay", fee }];
  });
  const moved = wanted.length === 0 ? turn : { ...turn, batches: turn.batches + 1n };
  const done = await signNonces(chain, deps, moved, newest.solid, requests, "treasury.after-sign");
  crashPoint("treasury.after-commit");
  const byId = new Map(payable.flatMap(({ rows }) => rows.map((row) => [row.id, row] as const)));
  for (const { request: { payer, nonce, intents }, reason, isShared } of done.refused) {
    if (!isShared) lanes.refuse(payer, nonce, reason);
    for (const { outgoingId } of intents) {
      const row = byId.get(outgoingId);
      if (row !== undefined) onRefused(row, reason, isShared);
    }
  }
  return done.turn === null ? null : done.transactions;
}

/** A transaction as its payer's lane has it. */
function sharedOf({ rows, fee }: Payable): Shared {
  // by id, the order in which the books have them
  return { payer: coinWalletOf(rows[0]), rows: rows.toSorted((a, b) => a.id < b.id ? -1 : 1), fee };
}

/** Those that their payers' lanes have room for, in their order. */
function withinRoom(shared: readonly Shared[], lanes: Lanes): readonly Shared[] {
  const left = new Map<string, number>();
  return shared.filter(({ payer }) => {
    const room = left.get(payer) ?? lanes.room(payer);
    left.set(payer, Math.max(0, room - 1));
    return room > 0;
  });
}
