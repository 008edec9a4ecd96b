import { getLogger } from "@logtape/logtape";
import {
  type Chain,
  ChainUnavailable,
  type Envelope,
  type FeeEstimate,
  type Landmark,
  NotOurChain,
} from "../../chains/chain.ts";
import { SignerUnavailable } from "../../chains/signer.ts";
import { add, type Amount, formatAmount, ZERO } from "../../ledger/amount.ts";
import type { OutgoingRow } from "../../ledger/rows.ts";
import { commitSigned, type SignedRow } from "../../ledger/treasury/commit_signed.ts";
import { type Pulled, pullQueued, type QueueOf } from "../../ledger/treasury/pull_queued.ts";
import { type Commitments, readCommitments } from "../../ledger/treasury/read_commitments.ts";
import { returnQueued } from "../../ledger/treasury/return_queued.ts";
import { passTurn } from "../../ledger/treasury/signing_turn.ts";
import { type Cursor, readCursor } from "../../ledger/watcher/cursor.ts";
import { crashPoint } from "../runtime/crash_point.ts";
import { pricesAhead } from "./prices_ahead.ts";
import { isLoan, payerOf, Purses } from "./purses.ts";
import { isClosed } from "./signer_state.ts";
import { solidLandmark } from "./solid_landmark.ts";
import type { TreasuryDeps } from "./treasury_actor.ts";

const log = getLogger(["engine", "treasury"]);

/** The most transfers that are signed and committed together. */
export const BATCH_LIMIT = 100;
/** Deposit addresses that are looked at together. */
const AT_ONCE = 8;
/** How long a transfer that cannot be signed now is left alone. */
const RETRY_MS = 3_000;
/** What is said of a transfer that a node did not answer for. */
const ANOTHER_TRY = "waiting for another try";
/** What is said while the nodes that answer may show money that has left. */
const NEWER_NODE = "waiting for a node that is up to date";

interface Payable {
  readonly row: OutgoingRow;
  readonly envelope: Envelope;
  /** See {@linkcode SignedRow.feeLimit}. */
  readonly feeLimit: Amount;
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
 * Nodes take turns, and a batch is committed only when nothing was signed since it was pulled: its
 * wallets held what it needs besides everything that was promised. A node that dies here has
 * promised nothing, and another one follows when its turn has run out.
 *
 * @param limit the most that are taken, at most {@linkcode BATCH_LIMIT}
 * @param of whose transfers are taken
 * @throws when the chain, the signer or the database does not answer; the turn is given up then
 */
export async function signQueued(
  chain: Chain,
  deps: TreasuryDeps,
  limit = BATCH_LIMIT,
  of: QueueOf = "merchants",
): Promise<Signed> {
  const { sql, node, leaseMs } = deps;
  const { network } = chain;
  const pulled = await pullQueued(sql, { network, node, turnMs: leaseMs, limit, of });
  if (pulled === null) return { transactions: [], mayBeMore: false };
  const { rows } = pulled;
  crashPoint("treasury.after-pull");
  try {
    const transactions = await sign(chain, deps, pulled);
    // what it lacked, such as a signer, another node may have
    if (transactions.length === 0) await passTurn(sql, network, node);
    return { transactions, mayBeMore: rows.length === limit };
  } catch (error) {
    const reason = error instanceof SignerUnavailable ? "waiting for the signer" : ANOTHER_TRY;
    await returnQueued(sql, rows.map((row) => row.id), reason, 0)
      .then(() => passTurn(sql, network, node))
      .catch((late: unknown) => log.warn("cannot give up a turn, it runs out: {late}", { late }));
    throw error;
  }
}

async function sign(
  chain: Chain,
  deps: TreasuryDeps,
  { rows, turn }: Pulled,
): Promise<readonly SignedRow[]> {
  const { sql, signer, onSignerState, wakeMerchants } = deps;
  // preparing asks the node about each transfer: not while nothing can be signed anyway
  await signer.sign([]);
  // promises first, balances later: what becomes final in between counts twice, which is safe
  const commitments = await readCommitments(sql, chain.network);
  // before anything is signed: what is signed now can only be in a block after it
  const cursor = await readCursor(sql, chain.network, "solid");
  // where nothing was read yet the scan may begin above it: that gap must keep it from being buried
  const sinceHeight = cursor?.height ?? (await chain.solid()).height;
  const payable = await prepare(chain, deps, rows, commitments, cursor);
  const answers = await signer.sign(
    payable.map(({ row, envelope }) => ({ outgoingId: row.id, envelope })),
  );
  crashPoint("treasury.after-sign");
  const byId = new Map(payable.map((one) => [one.row.id, one]));
  const signed: SignedRow[] = [];
  for (const answer of answers) {
    const asked = byId.get(answer.outgoingId);
    if (asked === undefined) {
      throw new Error(`Cannot use a signature as nobody asked for it: ${answer.outgoingId}`);
    }
    if ("signed" in answer) {
      const { row: { id: outgoingId, merchantId, network }, feeLimit } = asked;
      signed.push({ outgoingId, merchantId, network, ...answer.signed, feeLimit, sinceHeight });
      continue;
    }
    log.error("{network}: the signer refused {outgoingId}: {refused} {message}", {
      network: chain.network,
      ...answer,
    });
    await returnQueued(
      sql,
      [answer.outgoingId],
      `signer: ${answer.refused}: ${answer.message}`,
      RETRY_MS,
    );
  }
  if (answers.length > 0) {
    const closed = answers.every((answer) => "refused" in answer && isClosed(answer.refused));
    onSignerState(chain.network, !closed);
  }
  const committed = await commitSigned(sql, signed, turn);
  crashPoint("treasury.after-commit");
  if (committed === null) {
    log.warn("{network}: another node has signed meanwhile, {count} signatures are forgotten", {
      network: chain.network,
      count: signed.length,
    });
    return [];
  }
  const forgotten = signed.filter(({ outgoingId }) => !committed.has(outgoingId));
  if (forgotten.length > 0) {
    log.warn("{network}: {count} signatures were not committed and are forgotten", {
      network: chain.network,
      count: forgotten.length,
    });
    // those that are still queued would be signed in vain again and again
    await returnQueued(sql, forgotten.map(({ outgoingId }) => outgoingId), ANOTHER_TRY, RETRY_MS);
  }
  const toSend = signed.filter(({ outgoingId }) => committed.has(outgoingId));
  // settlements show that they are on their way
  wakeMerchants(
    new Set(
      toSend.filter(({ outgoingId }) => byId.get(outgoingId)?.row.kind === "settlement")
        .map(({ merchantId }) => merchantId),
    ),
  );
  return toSend;
}

/**
 * Finds out what can be paid now, oldest first, and makes the envelopes.
 *
 * @param cursor our own solid scan, read after the promises: what they count as ended, it mostly has
 */
async function prepare(
  chain: Chain,
  deps: TreasuryDeps,
  rows: readonly OutgoingRow[],
  commitments: Commitments,
  cursor: Cursor | null,
): Promise<readonly Payable[]> {
  const { endedHeight } = commitments;
  const solid = await chain.solid();
  if (solid.height < Math.max(cursor?.height ?? -1, endedHeight ?? -1)) {
    await waitForNode(chain, deps, rows, `it is at block ${solid.height}`);
    return [];
  }
  let landmark: Landmark | undefined;
  try {
    landmark = await solidLandmark(chain, cursor, endedHeight);
  } catch (error) {
    if (!(error instanceof NotOurChain)) throw error;
    await waitForNode(chain, deps, rows, error.message);
    return [];
  }
  const purses = new Purses(chain, commitments, landmark);
  const payable: Payable[] = [];
  const price = (row: OutgoingRow) => priceOf(chain, row);
  const prepareNext = async (left: OutgoingRow[], priceOfNext: PriceOf) => {
    for (let row = left.shift(); row !== undefined; row = left.shift()) {
      try {
        const price = await priceIfPayable(chain, deps, row, purses, priceOfNext);
        if (price === null) continue;
        const { fee, burn, feeLimit } = price;
        payable.push({ row, envelope: chain.envelope(solid, fee), feeLimit });
        await purses.spend(row, burn);
      } catch (error) {
        if (error instanceof NotOurChain) {
          await waitForNode(chain, deps, [row, ...left.splice(0)], error.message);
          continue;
        }
        if (!(error instanceof ChainUnavailable) || payable.length === 0) throw error;
        // at one bad answer in fifty, whole batches would hardly ever get through
        await putBack(deps, [row, ...left.splice(0)], error);
      }
    }
  };
  // what leaves one wallet shares its money; deposit addresses have nothing to do with each other
  const payouts = rows.filter(({ wallet }) => wallet === "hot");
  await prepareNext([...payouts], pricesAhead(payouts, price));
  const sweeps = rows.filter(({ wallet }) => wallet !== "hot");
  await Promise.all(Array.from({ length: AT_ONCE }, () => prepareNext(sweeps, price)));
  return payable;
}

/** Gives up transfers that only nodes answer for which are behind what we have read ourselves. */
async function waitForNode(
  { network }: Chain,
  { sql }: TreasuryDeps,
  rows: readonly OutgoingRow[],
  detail: string,
): Promise<void> {
  log.warn("{network}: {count} transfers are {reason}: {detail}", {
    network,
    count: rows.length,
    reason: NEWER_NODE,
    detail,
  });
  await returnQueued(sql, rows.map((row) => row.id), NEWER_NODE, RETRY_MS);
}

/** Gives up transfers that a node did not answer for: those before them are signed all the same. */
async function putBack(
  { sql }: TreasuryDeps,
  rows: readonly OutgoingRow[],
  error: ChainUnavailable,
): Promise<void> {
  log.info("{count} transfers are left for another try, the others are signed: {reason}", {
    count: rows.length,
    reason: error.message,
  });
  await returnQueued(sql, rows.map((row) => row.id), ANOTHER_TRY, 0);
}

/** The price of a transfer that its wallet can pay now; `null`: it waits in the queue, with its reason. */
async function priceIfPayable(
  chain: Chain,
  deps: TreasuryDeps,
  row: OutgoingRow,
  purses: Purses,
  price: PriceOf,
): Promise<Price | null> {
  const wait = async (reason: string, detail: string) => {
    await returnQueued(deps.sql, [row.id], reason, RETRY_MS);
    log.warn("{network}: {outgoingId} ({kind}) is {reason}: {detail}", {
      network: chain.network,
      outgoingId: row.id,
      kind: row.kind,
      reason,
      detail,
    });
    return null;
  };
  const { currency, amount, wallet } = row;
  if (row.kind === "delegation") {
    const stake = await purses.lendable();
    const detail = `${formatAmount(stake)} of ${formatAmount(amount)}`;
    if (stake < amount) return await wait("waiting for stake to lend", detail);
  }
  if (!isLoan(row)) {
    const left = await purses.left(wallet, currency);
    if (left < amount) {
      const asset = currency === "native" ? "the chain's coin" : currency;
      return await wait(`waiting for ${asset}`, `${formatAmount(left)} of ${formatAmount(amount)}`);
    }
  }
  try {
    const found = await price(row);
    const moved = currency === "native" && !isLoan(row) ? amount : ZERO;
    const needed = add(found.burn, moved);
    const coin = await purses.left(wallet, "native");
    if (coin >= needed) return found;
    return await wait(
      "waiting for the chain's coin",
      `${formatAmount(coin)} of ${formatAmount(needed)}`,
    );
  } catch (error) {
    if (!(error instanceof ChainUnavailable) || error instanceof NotOurChain) throw error;
    if (error.category === "reverted") return await wait("the transfer would fail", error.message);
    // what one transfer would cost is no reason to hold up the others
    if (error.category === "malformed") return await wait("waiting for its price", error.message);
    throw error;
  }
}

/** What a row's transaction costs. */
interface Price {
  readonly fee: FeeEstimate;
  /** Coin that its wallet has to hold for it, besides what it moves. */
  readonly burn: Amount;
  /** See {@linkcode SignedRow.feeLimit}. */
  readonly feeLimit: Amount;
}

type PriceOf = (row: OutgoingRow) => Promise<Price>;

async function priceOf(chain: Chain, row: OutgoingRow): Promise<Price> {
  const { currency, amount, wallet } = row;
  const transfer = { from: payerOf(chain, wallet), to: row.destination, amount };
  if (wallet !== "hot" && currency !== "native" && chain.capabilities.needsGasToSweep) {
    // a deposit address sends one thing at a time, so that its own energy and bytes count
    const { fee, burn } = await chain.gas.means({ ...transfer, currency });
    return { fee: { ...fee, fee: burn }, burn, feeLimit: ZERO };
  }
  const fee = await chain.estimateFee({ ...transfer, currency });
  const burn = mostOf(fee);
  return { fee, burn, feeLimit: wallet === "hot" ? burn : ZERO };
}

/** The most that a transaction may take. */
function mostOf({ fee, limit, atMost = limit }: FeeEstimate): Amount {
  return fee > atMost ? fee : atMost;
}
