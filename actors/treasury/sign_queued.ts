import { getLogger } from "@logtape/logtape";
import { type Chain, ChainUnavailable, type Envelope } from "../../chains/chain.ts";
import { add, type Amount, formatAmount, subtract, ZERO } from "../../ledger/amount.ts";
import type { Currency } from "../../ledger/pair.ts";
import type { OutgoingRow } from "../../ledger/rows.ts";
import { commitSigned, type SignedRow } from "../../ledger/treasury/commit_signed.ts";
import { pullQueued } from "../../ledger/treasury/pull_queued.ts";
import { readCommitments } from "../../ledger/treasury/read_commitments.ts";
import { returnQueued } from "../../ledger/treasury/return_queued.ts";
import { crashPoint } from "../runtime/crash_point.ts";
import type { TreasuryDeps } from "./treasury_actor.ts";

const log = getLogger(["engine", "treasury"]);

/** The most transfers that are signed and committed together. */
export const BATCH_LIMIT = 100;
/** How long a transfer that cannot be signed now is left alone. */
const RETRY_MS = 3_000;

interface Payable {
  readonly row: OutgoingRow;
  readonly envelope: Envelope;
}

/** What one round of signing came to. */
export interface Signed {
  /** Committed, and to be sent. */
  readonly transactions: readonly SignedRow[];
  /** Whether the queue had as many as were taken, so that there may be more. */
  readonly mayBeMore: boolean;
}

/**
 * Signs the next queued transfers of a network and commits the signatures. A transfer that the
 * wallet cannot pay now waits in the queue with its reason.
 *
 * @param limit the most that are taken, at most {@linkcode BATCH_LIMIT}
 * @throws when the chain, the signer or the database does not answer; nothing stays leased then
 */
export async function signQueued(
  chain: Chain,
  deps: TreasuryDeps,
  limit = BATCH_LIMIT,
): Promise<Signed> {
  const { sql, leaseMs } = deps;
  const rows = await pullQueued(sql, chain.network, limit, leaseMs);
  if (rows.length === 0) return { transactions: [], mayBeMore: false };
  try {
    return { transactions: await sign(chain, deps, rows), mayBeMore: rows.length === limit };
  } catch (error) {
    // without this a node's one bad answer would hold payouts up for the rest of the lease
    await returnQueued(sql, rows.map((row) => row.id), "waiting for another try", 0)
      .catch((late: unknown) => log.warn("cannot give up a lease, it runs out: {late}", { late }));
    throw error;
  }
}

async function sign(
  chain: Chain,
  deps: TreasuryDeps,
  rows: readonly OutgoingRow[],
): Promise<readonly SignedRow[]> {
  const { sql, signer, onSignerState } = deps;
  const payable = await prepare(chain, deps, rows);
  const answers = await signer.sign(
    payable.map(({ row, envelope }) => ({ outgoingId: row.id, envelope })),
  );
  crashPoint("treasury.after-sign");
  const byId = new Map(rows.map((row) => [row.id, row]));
  const signed: SignedRow[] = [];
  for (const answer of answers) {
    const row = byId.get(answer.outgoingId);
    if (row === undefined) {
      throw new Error(`Cannot use a signature as nobody asked for it: ${answer.outgoingId}`);
    }
    if ("signed" in answer) {
      const { txid, bytes, expiresAt } = answer.signed;
      const { id: outgoingId, merchantId, network } = row;
      signed.push({ outgoingId, merchantId, network, txid, bytes, expiresAt });
      continue;
    }
    log.error("{network}: the signer refused {outgoingId}: {refused} {message}", {
      network: chain.network,
      ...answer,
    });
    await returnQueued(sql, [row.id], `signer: ${answer.refused}`, RETRY_MS);
  }
  if (answers.length > 0) {
    const locked = answers.every((answer) => "refused" in answer && answer.refused === "locked");
    onSignerState(chain.network, !locked);
  }
  const committed = await commitSigned(sql, signed);
  crashPoint("treasury.after-commit");
  if (committed.size < signed.length) {
    log.warn("{network}: {count} signatures were not committed and are forgotten", {
      network: chain.network,
      count: signed.length - committed.size,
    });
  }
  return signed.filter(({ outgoingId }) => committed.has(outgoingId));
}

/** Finds out what can be paid now, oldest first, and makes the envelopes. */
async function prepare(
  chain: Chain,
  deps: TreasuryDeps,
  rows: readonly OutgoingRow[],
): Promise<readonly Payable[]> {
  const { sql } = deps;
  const solid = await chain.solid();
  const commitments = await readCommitments(sql, chain.network);
  const funds = new Map<Currency, Amount>();
  for (const currency of new Set(rows.map((row) => row.currency))) {
    const balance = await chain.balanceOf(chain.hotWallet, currency);
    funds.set(currency, subtract(balance, commitments.get(currency)?.signed ?? ZERO));
  }
  const coin = await chain.balanceOf(chain.hotWallet, "native");
  let burned = ZERO;
  const payable: Payable[] = [];
  for (const row of rows) {
    const left = funds.get(row.currency) ?? ZERO;
    if (left < row.amount) {
      await returnQueued(sql, [row.id], `waiting for ${row.currency}`, RETRY_MS);
      log.warn("{network}: {outgoingId} waits for funds: {left} of {amount} {currency}", {
        network: chain.network,
        outgoingId: row.id,
        left: formatAmount(left),
        amount: formatAmount(row.amount),
        currency: row.currency,
      });
      continue;
    }
    const envelope = await envelopeFor(chain, deps, row, solid, subtract(coin, burned));
    if (envelope === null) continue;
    payable.push({ row, envelope: envelope.envelope });
    burned = add(burned, envelope.cost);
    funds.set(row.currency, subtract(left, row.amount));
  }
  return payable;
}

async function envelopeFor(
  chain: Chain,
  deps: TreasuryDeps,
  row: OutgoingRow,
  solid: Parameters<Chain["envelope"]>[0],
  coin: Amount,
): Promise<{ readonly envelope: Envelope; readonly cost: Amount } | null> {
  try {
    const fee = await chain.estimateFee({
      from: chain.hotWallet,
      to: row.destination,
      currency: row.currency,
      amount: row.amount,
    });
    if (coin >= fee.limit) return { envelope: chain.envelope(solid, fee), cost: fee.fee };
    await returnQueued(deps.sql, [row.id], "waiting for the chain's coin", RETRY_MS);
    log.error("{network}: {outgoingId} waits for coin to pay its fee: {coin} of {limit}", {
      network: chain.network,
      outgoingId: row.id,
      coin: formatAmount(coin),
      limit: formatAmount(fee.limit),
    });
  } catch (error) {
    if (!(error instanceof ChainUnavailable) || error.category !== "reverted") throw error;
    await returnQueued(deps.sql, [row.id], "the transfer would fail", RETRY_MS);
    log.error("{network}: {outgoingId} would fail on chain and waits: {error}", {
      network: chain.network,
      outgoingId: row.id,
      error,
    });
  }
  return null;
}
