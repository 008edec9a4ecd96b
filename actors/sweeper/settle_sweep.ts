/**
 * Settles a sweep that succeeded without the intended transfer, as an operator says and the chain
 * confirms: nothing is settled on a word alone, and the chain is the one that the own scan has read.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import type { Chain } from "../../chains/chain.ts";
import { transfersBetween } from "../../chains/transfers_between.ts";
import type { HubAudit } from "../../ledger/audit.ts";
import { add, type Amount, formatAmount, ZERO } from "../../ledger/money/amount.ts";
import {
  type Settled,
  type SweepVerdict,
  type UnexpectedSweep,
  writeSweepVerdict,
} from "../../ledger/sweeps/verdicts.ts";
import {
  type AskedBesideScan,
  type AskerEnded,
  type ChainInDoubt,
  orInDoubt,
  readMet,
} from "../watcher/chain_in_doubt.ts";

export type SettleOutcome =
  | ({ readonly kind: "settled"; readonly arrived: Amount } & Settled)
  /** Another request was faster. */
  | { readonly kind: "settled_before" }
  /** No node has the whole receipt at the moment. */
  | { readonly kind: "unread" }
  /** The chain says otherwise. */
  | { readonly kind: "not_so"; readonly why: string }
  /** The nodes cannot be believed now. */
  | ChainInDoubt
  | AskerEnded;

/**
 * Settles a sweep, once. What is carried is never more than what its own transaction has brought to
 * the hot wallet, whatever the verdict.
 *
 * @param boundMs how long the chain is asked
 * @throws {ChainUnavailable} when the chain cannot be read
 */
export async function settleSweep(
  deps: AskedBesideScan<
    Pick<Chain, "deriveAddress" | "eventAddress" | "transaction" | "balanceOf">
  >,
  sweep: UnexpectedSweep,
  verdict: SweepVerdict,
  reason: string,
  audit: Omit<HubAudit, "before" | "after">,
  boundMs: number,
): Promise<SettleOutcome> {
  const { sql, chain } = deps;
  const signal = AbortSignal.timeout(boundMs);
  const met = await readMet(deps, sweep, signal);
  if (met.kind !== "met") return met;
  const { cursor, transaction } = met;
  const address = chain.deriveAddress(sweep.walletIndex);
  const { currency, destination } = sweep;
  const left = transfersBetween(chain, transaction.transfers, { currency, from: address })
    .filter(({ eventFrom, eventTo }) => eventTo !== eventFrom);
  const taken = sumOf(left);
  const arrived = sumOf(transfersBetween(chain, left, { currency, to: destination }));
  // a node behind the scan would show what was there before the sweep
  const balance = await orInDoubt(chain.balanceOf(address, sweep.currency, signal, cursor));
  if (typeof balance !== "bigint") return balance;
  const isSo = {
    moved: arrived > 0n,
    nothing_moved: taken === 0n && balance >= sweep.listed,
    lost: arrived === 0n && (taken > 0n || balance < sweep.listed),
  }[verdict];
  if (!isSo) {
    const [left, reached, there, listed] = [taken, arrived, balance, sweep.listed].map(
      formatAmount,
    );
    const why = `${left} left the address by it, ${reached} of that reached the hot wallet; ` +
      `${there} is there, ${listed} was to be moved.`;
    return { kind: "not_so", why };
  }
  if (!await deps.mayStillAsk()) return { kind: "asker_ended" };
  const found = { sweep, address, verdict, taken, arrived, reason };
  const settled = await writeSweepVerdict(sql, found, audit);
  if (settled === null) return { kind: "settled_before" };
  logEvent("sweep.settled", {
    network: sweep.network,
    outgoingId: sweep.outgoingId,
    actor: audit.actor,
    verdict,
    reason,
  });
  return { kind: "settled", arrived, ...settled };
}

function sumOf(transfers: readonly { readonly amount: Amount }[]): Amount {
  return transfers.reduce((sum, { amount }) => add(sum, amount), ZERO);
}
