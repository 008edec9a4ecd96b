/**
 * Settles a sweep that succeeded without the intended transfer, as an operator says and the chain
 * confirms: nothing is settled on a word alone, and the chain is the one that our own scan has read.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import type { Chain, FoundTransaction } from "../../chains/chain.ts";
import type { HubAudit } from "../../ledger/audit.ts";
import { add, type Amount, formatAmount, ZERO } from "../../ledger/money/amount.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import {
  type Settled,
  type SweepVerdict,
  type UnexpectedSweep,
  writeVerdict,
} from "../../ledger/sweeps/verdicts.ts";
import type { Cursor } from "../../ledger/watcher/cursor.ts";
import { type ChainInDoubt, orInDoubt, readBelieved } from "../watcher/chain_in_doubt.ts";

const log = getLogger(["engine", "sweeper"]);

/** What settling asks of a chain. */
export type SettledChain = Pick<
  Chain,
  "deriveAddress" | "addressOf" | "transaction" | "balanceOf"
>;

/** What settling works with. */
export interface SettleDeps {
  readonly sql: Sql;
  readonly chain: SettledChain;
  /** Why the scan of the network does not go on; null while it does. */
  readonly stopped: string | null;
}

export type SettleOutcome =
  | ({ readonly kind: "settled"; readonly arrived: Amount } & Settled)
  /** Somebody was faster. */
  | { readonly kind: "settled_before" }
  /** No node has the whole receipt at the moment. */
  | { readonly kind: "unread" }
  /** The chain says otherwise. */
  | { readonly kind: "not_so"; readonly why: string }
  /** What the nodes say cannot be believed now. */
  | ChainInDoubt;

/**
 * Settles a sweep, once. What is carried is never more than what its own transaction has brought to
 * the hot wallet, whatever the verdict.
 *
 * @param boundMs how long the chain is asked
 * @throws {ChainUnavailable} when the chain cannot be read
 */
export async function settleSweep(
  { sql, chain, stopped }: SettleDeps,
  sweep: UnexpectedSweep,
  verdict: SweepVerdict,
  reason: string,
  audit: Omit<HubAudit, "before" | "after">,
  boundMs: number,
): Promise<SettleOutcome> {
  const believed = await readBelieved(sql, sweep.network, stopped);
  if (believed.kind === "in_doubt") return believed;
  const { cursor } = believed;
  const signal = AbortSignal.timeout(boundMs);
  const address = chain.deriveAddress(sweep.walletIndex);
  const found = await orInDoubt(chain.transaction(sweep.txid, "solid", signal, cursor));
  if (found.kind === "in_doubt") return found;
  if (found.kind !== "found") return { kind: "unread" };
  const doubt = doubtOf(found.transaction, sweep, cursor);
  if (doubt !== null) return { kind: "in_doubt", reason: doubt };
  const left = found.transaction.transfers.filter(({ currency, eventFrom, eventTo }) =>
    currency === sweep.currency && chain.addressOf(eventFrom) === address && eventTo !== eventFrom
  );
  const taken = sumOf(left);
  const arrived = sumOf(
    left.filter(({ eventTo }) => chain.addressOf(eventTo) === sweep.destination),
  );
  // a node behind our scan would show what was there before the sweep
  const balance = await orInDoubt(chain.balanceOf(address, sweep.currency, signal, cursor));
  if (typeof balance !== "bigint") return balance;
  const isSo = {
    moved: arrived > 0n,
    nothing_moved: taken === 0n && balance >= sweep.listed,
    lost: arrived === 0n && (taken > 0n || balance < sweep.listed),
  }[verdict];
  if (!isSo) {
    const why = `${formatAmount(taken)} left the address by it, ${formatAmount(arrived)} of that ` +
      `reached the hot wallet; ${formatAmount(balance)} is there, ${
        formatAmount(sweep.listed)
      } was to be moved.`;
    return { kind: "not_so", why };
  }
  const settled = await writeVerdict(
    sql,
    { sweep, address, verdict, taken, arrived, reason },
    audit,
  );
  if (settled === null) return { kind: "settled_before" };
  log.warn("{network}: {outgoingId} was settled by {actor} as {verdict}: {reason}", {
    network: sweep.network,
    outgoingId: sweep.outgoingId,
    actor: audit.actor,
    verdict,
    reason,
  });
  return { kind: "settled", arrived, ...settled };
}

/** Why a transaction is not the one that our own scan has read and passed; null: it is. */
function doubtOf(
  { txid, height, success }: FoundTransaction,
  sweep: UnexpectedSweep,
  cursor: Cursor,
): string | null {
  if (height !== sweep.height || !success) {
    const end = success ? "" : ", failed";
    return `${txid} is in block ${height}${end}; the scan has read its success in ${sweep.height}`;
  }
  if (height <= cursor.height) return null;
  return `${txid} is in block ${height}, the scan has passed ${cursor.height}`;
}

function sumOf(transfers: readonly { readonly amount: Amount }[]): Amount {
  return transfers.reduce((sum, { amount }) => add(sum, amount), ZERO);
}
