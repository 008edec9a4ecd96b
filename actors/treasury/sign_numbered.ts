/**
 * First signatures on chains that count nonces: a nonce is promised to queued transfers before the signer is asked.
 *
 * @module
 */

import { type Chain, ChainUnavailable } from "../../chains/chain.ts";
import type { FeeEstimate } from "../../chains/fees.ts";
import type { Signer } from "../../chains/signer.ts";
import { promiseNonces, type WantedNonce } from "../../ledger/lanes/promise_nonces.ts";
import { PLATFORM_ACCOUNT } from "../../ledger/own_accounts.ts";
import type { QueuedRow, SigningTurn } from "../../ledger/treasury/pull_queued.ts";
import { crashPoint } from "../runtime/crash_point.ts";
import { commitApart } from "./commit_apart.ts";
import type { Lanes } from "./lanes.ts";
import { coinWalletOf } from "./liquidity.ts";
import type { TimeBound } from "./part_bound.ts";
import type { Payable } from "./prepare_batch.ts";
import { type NumberedRequest, type NumberedTransaction, signNonces } from "./sign_nonces.ts";
import { isClosed } from "./signed_rows.ts";
import type { TreasuryDeps } from "./treasury_deps.ts";
import { ANOTHER_TRY, PAUSES, type Waits, WAITS_FOR_LANE } from "./waits.ts";

/** Transfers that are to share a transaction, with its price. */
interface Shared {
  readonly payer: string;
  readonly rows: readonly QueuedRow[];
  readonly fee: FeeEstimate;
}

/** Deposit addresses whose first nonces are asked for at once. */
const FIRSTS_AT_ONCE = 8;

/** Input of a round of first signatures. */
export interface Numbered {
  readonly turn: SigningTurn;
  readonly payable: readonly Payable[];
  readonly lanes: Lanes;
  /** Takes what has no room, and what no node answers for. */
  readonly waits: Waits;
  /** The time that nodes have; null: none is set. */
  readonly bound: TimeBound | null;
}

/**
 * Promises nonces to transfers that can be paid now and that the signer does not refuse, signs and commits. What has no room in its payer's lane waits for it
 * without a nonce; what the signer refuses keeps its nonce, which the lane's next turn looks after.
 *
 * @param onRefused called for each transfer that was refused, with the reason for the operator
 * @returns what is committed, and to be sent; null where the turn was lost
 * @throws when the chain, the signer or the database does not answer
 */
export async function signNumbered(
  chain: Chain,
  deps: Pick<TreasuryDeps, "sql" | "signer">,
  { turn, payable, lanes, waits, bound }: Numbered,
  onRefused: (row: QueuedRow, reason: string, isShared: boolean) => void,
): Promise<readonly NumberedTransaction[] | null> {
  const [newest] = payable;
  if (newest === undefined) return [];
  const { sql } = deps;
  const roomy = withinRoom(payable.map(sharedOf), lanes, waits);
  const allowed = await judged(chain, deps.signer, roomy, onRefused);
  const firsts = await firstsOf(allowed, lanes, waits, bound?.signal);
  const shared = allowed.filter(({ payer }) => payer === "hot" || firsts.has(payer));
  const wanted = shared.map(({ payer, rows }, place) =>
    rows.map(({ id: outgoingId, merchantId }): WantedNonce => ({
      place,
      outgoingId,
      merchantId,
      first: firsts.get(payer) ?? null,
    }))
  );
  const promise = (parts: readonly (readonly WantedNonce[])[], left: SigningTurn) =>
    promiseNonces(sql, chain.network, parts.flat(), left);
  const apart = await commitApart(wanted, turn, promise, ([first], reason) => {
    for (const row of shared[first?.place ?? -1]?.rows ?? []) onRefused(row, reason, false);
  });
  crashPoint("treasury.after-promise");
  const promised = apart.done.flat();
  if (apart.turn === null) return null;
  const byIntent = new Map(promised.flatMap((one) => one.intents.map((id) => [id, one] as const)));
  const requests = shared.flatMap(({ payer, rows, fee }): NumberedRequest[] => {
    const found = byIntent.get(rows[0]?.id ?? "");
    if (found === undefined) return [];
    lanes.take(payer, rows[0]?.merchantId === PLATFORM_ACCOUNT ? "internal" : "merchants");
    const intents = rows.map(({ id: outgoingId, merchantId }) => ({ outgoingId, merchantId }));
    return [{ payer, nonce: found.nonce, intents, purpose: "pay", fee }];
  });
  const { solid } = newest;
  const done = await signNonces(chain, deps, apart.turn, solid, requests, "treasury.after-sign");
  crashPoint("treasury.after-commit");
  const byId = new Map(payable.flatMap(({ rows }) => rows.map((row) => [row.id, row] as const)));
  for (const { request: { payer, nonce, intents }, reason, isShared } of done.refused) {
    if (!isShared) lanes.refuse(payer, nonce, reason);
    for (const { outgoingId } of intents) {
      const row = byId.get(outgoingId);
      if (row !== undefined) onRefused(row, reason, isShared);
    }
  }
  return done.turn === null && done.transactions.length === 0 ? null : done.transactions;
}

/**
 * Those that the signer refuses for no reason of their own: it is asked without a nonce, and signs nothing then. A nonce that
 * is promised to what is refused has to be filled, for a fee, each time that it is tried.
 */
async function judged(
  { network }: Pick<Chain, "network">,
  signer: Pick<Signer, "sign">,
  shared: readonly Shared[],
  onRefused: (row: QueuedRow, reason: string, isShared: boolean) => void,
): Promise<readonly Shared[]> {
  if (shared.length === 0) return [];
  const envelope = { network, fields: {}, diesAfter: null, nonce: null, expiresAt: null };
  const answers = await signer.sign(shared.map(({ rows }) => ({
    outgoingIds: rows.map(({ id }) => id),
    envelope,
    purpose: "pay",
  })));
  return shared.filter(({ rows }, place) => {
    const answer = answers[place];
    // that the envelope has no nonce is the last thing that is found
    if (answer === undefined || !("refused" in answer) || answer.refused === "bad-envelope") {
      return true;
    }
    const isShared = isClosed(answer.refused) || answer.refused === "paused";
    for (const row of rows) {
      onRefused(row, `signer: ${answer.refused}: ${answer.message}`, isShared);
    }
    return false;
  });
}

/** First nonces of deposit addresses that have had none, each read apart: what no node answers for waits. */
async function firstsOf(
  shared: readonly Shared[],
  lanes: Lanes,
  waits: Waits,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, number>> {
  const firsts = new Map<string, number>();
  const payers = [...Map.groupBy(shared, ({ payer }) => payer)].filter(([payer]) =>
    payer !== "hot"
  );
  const ask = async () => {
    for (let next = payers.shift(); next !== undefined; next = payers.shift()) {
      const [payer, own] = next;
      try {
        firsts.set(payer, await lanes.firstOf(payer, signal));
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error;
        for (const row of own.flatMap(({ rows }) => rows)) {
          waits.add(row, ANOTHER_TRY, PAUSES.node, error.message);
        }
      }
    }
  };
  await Promise.all(Array.from({ length: FIRSTS_AT_ONCE }, ask));
  return firsts;
}

/** A transaction as its payer's lane has it. */
function sharedOf({ rows, fee }: Payable): Shared {
  // by id, the order in which the books have them
  return { payer: coinWalletOf(rows[0]), rows: rows.toSorted((a, b) => a.id < b.id ? -1 : 1), fee };
}

/** Those that their payers' lanes have room for, in their order; the others wait. */
function withinRoom(shared: readonly Shared[], lanes: Lanes, waits: Waits): readonly Shared[] {
  const left = new Map<string, number>();
  return shared.filter(({ payer, rows }) => {
    const room = left.get(payer) ?? lanes.room(payer);
    left.set(payer, Math.max(0, room - 1));
    if (room === 0) { for (const row of rows) waits.leave(row, WAITS_FOR_LANE); }
    return room > 0;
  });
}
