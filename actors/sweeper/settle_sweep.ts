/**
 * Settles a sweep that succeeded without the intended transfer, as an operator says and the chain
 * confirms: nothing is settled on a word alone.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import type { Chain } from "../../chains/chain.ts";
import type { HubAudit } from "../../ledger/admin/write_audit.ts";
import { add, type Amount, formatAmount, ZERO } from "../../ledger/amount.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import {
  type Settled,
  type SweepVerdict,
  type UnexpectedSweep,
  writeVerdict,
} from "../../ledger/sweeps/write_verdict.ts";

const log = getLogger(["engine", "sweeper"]);

/** What settling asks of a chain. */
export type SettledChain = Pick<Chain, "deriveAddress" | "transaction" | "balanceOf">;

/** What became of it. */
export type SettleOutcome =
  | ({ readonly kind: "settled"; readonly arrived: Amount } & Settled)
  /** Somebody was faster. */
  | { readonly kind: "settled_before" }
  /** No node has the whole receipt at the moment. */
  | { readonly kind: "unread" }
  /** The chain says otherwise. */
  | { readonly kind: "not_so"; readonly why: string };

/**
 * Settles a sweep, once. What is carried is never more than what its own transaction has brought to
 * the hot wallet, whatever the verdict.
 *
 * @param boundMs how long the chain is asked
 * @throws {ChainUnavailable} when the chain cannot be read
 */
export async function settleSweep(
  { sql, chain }: { readonly sql: Sql; readonly chain: SettledChain },
  sweep: UnexpectedSweep,
  verdict: SweepVerdict,
  reason: string,
  audit: Omit<HubAudit, "before" | "after">,
  boundMs: number,
): Promise<SettleOutcome> {
  const signal = AbortSignal.timeout(boundMs);
  const address = chain.deriveAddress(sweep.walletIndex);
  const found = await chain.transaction(sweep.txid, "solid", signal);
  if (found.kind !== "found") return { kind: "unread" };
  const left = found.transaction.transfers.filter((transfer) =>
    transfer.currency === sweep.currency && transfer.from === address && transfer.to !== address
  );
  const taken = sumOf(left);
  const arrived = sumOf(left.filter(({ to }) => to === sweep.destination));
  const balance = await chain.balanceOf(address, sweep.currency, signal);
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

function sumOf(transfers: readonly { readonly amount: Amount }[]): Amount {
  return transfers.reduce((sum, { amount }) => add(sum, amount), ZERO);
}
