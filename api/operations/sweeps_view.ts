import { formatAmount } from "../../ledger/money/amount.ts";
import type { Network } from "../../ledger/money/pair.ts";
import type { ListedTarget, TargetCount } from "../../ledger/sweeps/list_targets.ts";

/** Addresses of a network that are shown of each reason. */
export const SHOWN_PER_REASON = 20;

/** What is not swept of one network. */
export function sweepsView(
  network: Network,
  counts: readonly TargetCount[],
  targets: readonly ListedTarget[],
) {
  return {
    counts: counts.filter((count) => count.network === network)
      .map(({ reason, addresses }) => ({ reason, addresses })),
    addresses: targets.filter((target) => target.network === network)
      .map(({ network: _network, ...target }) => ({
        ...target,
        amount: target.amount === null ? null : formatAmount(target.amount),
        since: new Date(target.since).toISOString(),
        lookAt: new Date(target.lookAt).toISOString(),
      })),
  };
}
