import { logEvent } from "../../log/log_event.ts";
import { isTracing, traceSpan } from "../../log/traces.ts";
import type { Chain } from "../../chains/chain.ts";
import { OVER_DAY_CAP, type SignAnswer, SignerUnavailable } from "../../chains/signer.ts";
import type { OutgoingAsset } from "../../ledger/money/pair.ts";
import { readCommitments } from "../../ledger/treasury/hot_wallet.ts";
import { returnQueued } from "../../ledger/treasury/queue.ts";
import type { InFlight } from "../../ledger/treasury/in_flight.ts";
import {
  passTurn,
  type Pulled,
  pullQueued,
  type QueueOf,
  type SigningTurn,
} from "../../ledger/treasury/pull_queued.ts";
import { commitSigned, type SignedRow } from "../../ledger/treasury/signing.ts";
import { readUnlucky } from "../../ledger/treasury/unlucky_sweeps.ts";
import { readCursor } from "../../ledger/watcher/cursor.ts";
import { crashPoint } from "../runtime/crash_point.ts";
import { commitApart } from "./commit_apart.ts";
import type { Lanes } from "./lanes.ts";
import type { TimeBound } from "./part_bound.ts";
import { type Payable, prepareBatch } from "./prepare_batch.ts";
import { type Numbered, signNumbered } from "./sign_numbered.ts";
import { byTransaction, faultOf, isClosed, rowsOf, termsOf } from "./signed_rows.ts";
import type { TreasuryDeps } from "./treasury_deps.ts";
import { ANOTHER_TRY, CurrencyHolds, type Pause, PAUSES, Waits } from "./waits.ts";

/** The most transfers that are signed and committed together. */
export const BATCH_LIMIT = 100;

/** Result of one round of signing. */
export interface Signed {
  /** Committed, and to be sent. */
  readonly transactions: readonly InFlight[];
  /** True where the queue had as many as were taken, so that there may be more. */
  readonly mayBeMore: boolean;
}

/** Assets that are left alone in a round. */
export interface LeftAlone {
  /** Those that the signer does not sign for at the moment; kept from round to round. */
  readonly holds: CurrencyHolds;
  /** Those of which nothing is to leave now, whatever the signer says. */
  readonly held: readonly OutgoingAsset[];
  /** Those that nodes did not answer for in this poll; a round adds those that it finds. */
  readonly silent: Set<OutgoingAsset>;
}

/**
 * Signs the next queued transfers of a network and commits the signatures. A transfer that cannot be
 * signed now waits in the queue with its reason and a pause of its own; the others go on. Only nodes
 * that fail for several in a row, the signer and the database end the round for all.
 *
 * Nodes take turns, and a batch is committed only when nothing was signed since it was pulled: its
 * wallets held what it needs besides everything that was reserved. A node that dies here has
 * reserved nothing, and another one follows when its turn has run out.
 *
 * @param limit the most that are taken, at most {@linkcode BATCH_LIMIT}
 * @param of whose transfers are taken
 * @param lanes where the chain counts nonces
 * @param bound the time that nodes have; null: none is set
 * @throws when the chain, the signer or the database does not answer; the turn is given up then
 */
export async function signQueued(
  chain: Chain,
  deps: TreasuryDeps,
  limit = BATCH_LIMIT,
  of: QueueOf = "merchants",
  leftAlone: LeftAlone = { holds: new CurrencyHolds(), held: [], silent: new Set() },
  lanes: Lanes | null = null,
  bound: TimeBound | null = null,
): Promise<Signed> {
  const { sql, node, leaseMs } = deps;
  const { network } = chain;
  const { holds, silent } = leftAlone;
  const held = [...holds.held, ...leftAlone.held, ...silent];
  const full = lanes?.full ?? [];
  const pulled = await pullQueued(sql, { network, node, turnMs: leaseMs, limit, of, held, full });
  if (pulled === null) return { transactions: [], mayBeMore: false };
  const { rows, turn } = pulled;
  if (deps.maySign?.(network, turn.batches) === false) {
    await passTurn(sql, network, node);
    return { transactions: [], mayBeMore: false };
  }
  crashPoint("treasury.after-pull");
  const waits = new Waits(network);
  try {
    const transactions = await sign(chain, deps, pulled, waits, leftAlone, lanes, bound);
    // the same rows would be taken again and again where nothing became of them
    const isMoved = transactions.length > 0 || waits.count > 0;
    await waits.write(sql);
    // what it lacked, such as a signer, another node may have
    if (transactions.length === 0) await passTurn(sql, network, node);
    return { transactions, mayBeMore: rows.length === limit && isMoved };
  } catch (error) {
    const reason = error instanceof SignerUnavailable ? "waiting for the signer" : ANOTHER_TRY;
    const others = rows.map((row) => row.id).filter((id) => !waits.has(id));
    await waits.write(sql)
      .then(() => returnQueued(sql, others, reason, 0))
      .then(() => passTurn(sql, network, node))
      .catch((late: unknown) => logEvent("treasury.turn_kept", { late }));
    throw error;
  }
}

async function sign(
  chain: Chain,
  deps: TreasuryDeps,
  { rows, turn }: Pulled,
  waits: Waits,
  { holds, silent }: LeftAlone,
  lanes: Lanes | null,
  bound: TimeBound | null,
): Promise<Signed["transactions"]> {
  const { sql, signer, wakeMerchants } = deps;
  const from = Date.now();
  // preparing asks the node about each transfer: not while nothing can be signed anyway
  await signer.sign([]);
  // reservations first, balances later: what becomes final in between counts twice, which is safe
  const commitments = await readCommitments(sql, chain.network);
  const cursor = await readCursor(sql, chain.network, "solid");
  const tried = triedNow(rows, holds, lanes !== null);
  const shares = chain.capabilities.sweepsAtOnce > 1;
  const unlucky = shares ? await readUnlucky(sql, tried) : new Set<string>();
  const batch = { rows: tried, commitments, cursor, unlucky, waits, silent, bound };
  const payable = await prepareBatch(chain, batch);
  if (lanes !== null) {
    const given = { turn, payable, lanes, waits, bound };
    return await signWithNonces(chain, deps, given, holds);
  }
  const answers = await signer.sign(
    payable.map(({ rows: carried, solid, fee }) => ({
      outgoingIds: carried.map(({ id }) => id),
      envelope: chain.envelope(solid, fee, null),
      purpose: "pay",
    })),
  );
  crashPoint("treasury.after-sign");
  const byId = new Map(tried.map((row) => [row.id, row]));
  const signed = readAnswers(chain, deps, payable, answers, waits, holds);
  const commit = (parts: readonly (readonly SignedRow[])[], left: SigningTurn) =>
    commitSigned(sql, parts.flat(), left);
  const apart = await commitApart(byTransaction(signed), turn, commit, (part, reason) => {
    for (const { outgoingId } of part) {
      const row = byId.get(outgoingId);
      if (row !== undefined) waits.add(row, reason, PAUSES.own, "its signature is forgotten");
    }
  });
  crashPoint("treasury.after-commit");
  if (apart.turn === null && apart.done.length === 0) {
    logEvent("treasury.not_signed", { network: chain.network, count: signed.length });
    return [];
  }
  const committed = new Set(apart.done.flatMap((ids) => [...ids]));
  for (const { outgoingId } of signed) {
    const row = byId.get(outgoingId);
    if (row === undefined || committed.has(outgoingId) || waits.has(outgoingId)) continue;
    // those that are still queued would be signed in vain again and again
    waits.add(row, ANOTHER_TRY, PAUSES.own, "its signature was not committed and is forgotten");
  }
  // one that carries several transfers is sent once
  const toSend = signed.filter(({ outgoingId, place }) => place === 0 && committed.has(outgoingId))
    .map((one) => ({ ...one, paymentId: byId.get(one.outgoingId)?.paymentId ?? null }));
  if (isTracing()) traceSigned(toSend, byId, from);
  // settlements show that they are on their way
  wakeMerchants(
    new Set(
      toSend.filter(({ outgoingId }) => byId.get(outgoingId)?.kind === "settlement")
        .map(({ merchantId }) => merchantId),
    ),
  );
  return toSend;
}

/** Signs transfers with nonces; each that is refused waits with its reason, and its nonce with it. */
async function signWithNonces(
  chain: Chain,
  deps: TreasuryDeps,
  given: Numbered,
  holds: CurrencyHolds,
): Promise<Signed["transactions"]> {
  const { network } = chain;
  const { payable, waits } = given;
  const done = await signNumbered(chain, deps, given, (row, reason, isShared) => {
    if (isShared) holds.refused(row.currency, "closed");
    else if (reason.endsWith(OVER_DAY_CAP)) holds.refused(row.currency, "capped");
    waits.add(
      row,
      reason,
      isShared ? PAUSES.signer : PAUSES.own,
      "a nonce that it has waits with it",
    );
  });
  if (done === null) {
    logEvent("treasury.not_signed", { network, count: payable.length });
    return [];
  }
  const byId = new Map(payable.flatMap(({ rows }) => rows.map((row) => [row.id, row] as const)));
  const settling = new Set<string>();
  const toSend = done.flatMap(({ txid, bytes, request }): readonly InFlight[] => {
    const rows = request.intents.flatMap(({ outgoingId }) => byId.get(outgoingId) ?? []);
    for (const { currency, kind, merchantId } of rows) {
      holds.signed(currency);
      if (kind === "settlement") settling.add(merchantId);
    }
    return rows.slice(0, 1).map(({ id: outgoingId, paymentId }) => ({
      outgoingId,
      paymentId,
      txid,
      bytes,
      expiresAt: null,
    }));
  });
  deps.wakeMerchants(settling);
  return toSend;
}

/** Traces signatures that were committed. */
function traceSigned(
  signed: Signed["transactions"],
  byId: ReadonlyMap<string, Pulled["rows"][number]>,
  from: number,
): void {
  for (const { outgoingId, paymentId, txid } of signed) {
    const row = byId.get(outgoingId);
    traceSpan("transfer.sign", {
      of: paymentId ?? outgoingId,
      from,
      attributes: {
        transfer: outgoingId,
        payment: paymentId,
        kind: row?.kind ?? null,
        network: row?.network ?? null,
        currency: row?.currency ?? null,
        txid,
      },
    });
  }
}

/**
 * Transfers but for those of currencies of which only a few find out whether they are signed again.
 *
 * @param costs true where each that is refused may cost a nonce: then one finds out
 */
function triedNow(rows: Pulled["rows"], holds: CurrencyHolds, costs: boolean): Pulled["rows"] {
  const taken = new Map<OutgoingAsset, number>();
  return rows.filter(({ currency }) => {
    const count = (taken.get(currency) ?? 0) + 1;
    taken.set(currency, count);
    const most = holds.most(currency);
    return count <= (costs && most < Infinity ? Math.min(1, most) : most);
  });
}

/** The usable signatures among the signer's answers; every other transfer waits with its reason. */
function readAnswers(
  chain: Chain,
  { onSignerState }: Pick<TreasuryDeps, "onSignerState">,
  asked: readonly Payable[],
  answers: readonly SignAnswer[],
  waits: Waits,
  holds: CurrencyHolds,
): readonly SignedRow[] {
  const { network } = chain;
  const open = new Map(asked.map((one) => [one.rows.map(({ id }) => id).join(", "), one]));
  const txids = new Set<string>();
  const signed: SignedRow[] = [];
  for (const answer of answers) {
    const id = answer.outgoingIds.join(", ");
    const one = open.get(id);
    if (one === undefined) {
      logEvent("treasury.answer_unasked", { network, id });
      continue;
    }
    open.delete(id);
    const { rows, feeLimit } = one;
    const { currency } = rows[0];
    const wait = (reason: string, pause: Pause, detail: string) => {
      for (const row of rows) waits.add(row, reason, pause, detail);
    };
    if ("refused" in answer) {
      const isShared = isClosed(answer.refused) || answer.refused === "paused";
      const isCapped = answer.refused === "over-limit" && answer.message.endsWith(OVER_DAY_CAP);
      if (isShared) holds.refused(currency, "closed");
      if (isCapped) holds.refused(currency, "capped");
      const reason = `signer: ${answer.refused}: ${answer.message}`;
      wait(reason, isShared ? PAUSES.signer : PAUSES.own, "the signer refused it");
      continue;
    }
    // the bytes may be older than this turn: the signer gives those of a lost commit once more
    const terms = termsOf(chain, answer.signed.bytes, one.solid.height);
    const fault = terms === null
      ? "it refers to no block"
      : faultOf(chain, answer.signed, terms, txids);
    if (terms === null || fault !== null) {
      wait(
        `the signer's answer cannot be used: ${fault}`,
        PAUSES.own,
        "its signature is forgotten",
      );
      continue;
    }
    txids.add(answer.signed.txid);
    holds.signed(currency);
    signed.push(...rowsOf(network, answer.signed, terms, rows, feeLimit));
  }
  for (const row of [...open.values()].flatMap(({ rows }) => rows)) {
    waits.add(row, "the signer did not answer for it", PAUSES.own, "others were answered");
  }
  if (answers.length > 0) {
    const closed = answers.every((answer) => "refused" in answer && isClosed(answer.refused));
    onSignerState(network, !closed);
  }
  return signed;
}
