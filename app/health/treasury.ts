import type { Registry } from "prom-client";
import type { Engine } from "../../actors/engine.ts";
import type { FeeBoard } from "../../actors/treasury/fee_board.ts";
import type { TreasuryStatus } from "../../actors/treasury/treasury_deps.ts";
import type { PairSettings } from "../../ledger/settings.ts";
import { type Amount, formatAmount } from "../../ledger/money/amount.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { registerFigures } from "./figures.ts";

/** Time for which a payout may wait that nothing but its turn holds. */
const PAYABLE_MS = 2 * 60_000;

/** Troubles with the queue of payouts, and with the tokens they are made in. */
export function queueReasons(
  { queue, tokens }: Pick<TreasuryStatus, "queue" | "tokens">,
  network: string,
  now: number,
): string[] {
  const reasons = tokens.map((text) => `${network} ${text}`);
  const { overCap, quarantined, payable: { oldestAt: payableSince } } = queue;
  const since = (at: number | null) => Math.max(0, Math.floor((now - (at ?? now)) / 60_000));
  if (overCap.count > 0) {
    reasons.push(
      `${network} has ${overCap.count} payouts above the signer's cap per transaction that wait ` +
        `for a person, the oldest for ${since(overCap.oldestAt)} minutes`,
    );
  }
  if (quarantined.count > 0) {
    reasons.push(
      `${network} has ${quarantined.count} payouts that cannot be signed as they are, the oldest for ` +
        `${since(quarantined.oldestAt)} minutes`,
    );
  }
  if (payableSince !== null && now - payableSince > PAYABLE_MS) {
    reasons.push(
      `${network} has a payout that could be paid and waits for ${since(payableSince)} minutes`,
    );
  }
  return reasons;
}

/** A transfer that is queued for longer is reported. */
const QUEUED_MS = 10 * 60_000;

/** Troubles with the treasury of a network. */
export function treasuryReasons(
  engine: Pick<Engine, "treasuries" | "signerOpen">,
  network: Network,
  now: number,
): string[] {
  const reasons: string[] = [];
  if (!engine.signerOpen(network)) reasons.push(`${network} payouts cannot be signed`);
  const status = engine.treasuries.get(network);
  if (status === undefined) return reasons;
  for (const asset of status.unreadable) {
    const name = asset === "native" ? "coin" : asset;
    reasons.push(`${network} hot wallet cannot be asked how much ${name} it holds`);
  }
  for (const text of status.low) reasons.push(`${network} hot wallet is low on ${text}`);
  const { feesToday, feesPerDay } = status;
  if (feesPerDay !== null && feesToday > feesPerDay) {
    reasons.push(
      `${network} transactions have burned ${
        formatAmount(feesToday)
      } of its coin today, more than ` +
        formatAmount(feesPerDay),
    );
  }
  if (status.withoutExpiryProof > 0) {
    reasons.push(
      `${network} has ${status.withoutExpiryProof} expired or failed payouts that a second node, or their block, must prove`,
    );
  }
  const { lane } = status;
  if (lane !== null && lane.stopped !== null) {
    reasons.push(`${network} signs nothing as ${lane.stopped}`);
  }
  if (lane !== null && lane.closed > 0) {
    reasons.push(
      `${network} signs nothing for ${lane.closed} deposit addresses whose nonces are not those of the books`,
    );
  }
  if (lane !== null && lane.capped > 0) {
    reasons.push(`${network} has ${lane.capped} transfers that wait as fees are above the cap`);
  }
  const queuedMs = status.oldestQueuedAt === null ? 0 : now - status.oldestQueuedAt;
  if (queuedMs > QUEUED_MS) {
    const minutes = Math.floor(queuedMs / 60_000);
    reasons.push(`${network} has a transfer that is queued for ${minutes} minutes`);
  }
  reasons.push(...queueReasons(status, network, now));
  return reasons;
}

/** The dynamic pairs of connected networks whose fee falls back to the fixed one. */
export function feeReasons(
  pairs: Iterable<PairSettings>,
  networks: readonly Network[],
  fees: Pick<FeeBoard, "basis">,
): string[] {
  const reasons: string[] = [];
  for (const { currency, network, networkFeeMode, withdrawalsEnabled } of pairs) {
    if (networkFeeMode === "fixed" || !withdrawalsEnabled || !networks.includes(network)) continue;
    const { missing } = fees.basis(network, currency);
    if (missing === null) continue;
    reasons.push(`${network} charges the fixed network fee for ${currency}, as ${missing}`);
  }
  return reasons;
}

/** An amount as a gauge shows it: close enough for a graph, and for nothing else. */
function approximately(amount: Amount): number {
  const text = formatAmount(amount);
  return Number(text);
}

/** Registers what the treasuries hold, and what waits in them and why. */
export function registerTreasuryMetrics(
  registry: Registry,
  engine: Pick<Engine, "treasuries" | "networks" | "signerOpen">,
  fees: Pick<FeeBoard, "basis">,
  now: () => number,
): void {
  const secondsSince = (at: number | null) => at === null ? 0 : Math.max(0, now() - at) / 1_000;
  const byState = () =>
    [...engine.treasuries].flatMap(([network, { queue }]) =>
      [
        ["payable", queue.payable] as const,
        ["held", queue.held] as const,
        ["over_cap", queue.overCap] as const,
        ["quarantined", queue.quarantined] as const,
        ["signed", queue.signed] as const,
      ].map(([state, group]) => [[network, state], group] as const)
    );
  registerFigures(registry, byState, {
    engine_payouts: ({ count }) => count,
    engine_payouts_oldest_seconds: ({ oldestAt }) => secondsSince(oldestAt),
  });
  registerFigures(registry, () => engine.treasuries, {
    engine_treasury_token_switches: ({ tokens }) => tokens.length,
    engine_treasury_low_assets: ({ low }) => low.length,
    engine_treasury_unreadable_assets: ({ unreadable }) => unreadable.length,
    engine_treasury_fees_today: ({ feesToday }) => approximately(feesToday),
    engine_payouts_without_expiry_proof: ({ withoutExpiryProof }) => withoutExpiryProof,
    engine_treasury_oldest_queued_seconds: ({ oldestQueuedAt }) => secondsSince(oldestQueuedAt),
  });
  const lanes = () =>
    [...engine.treasuries].flatMap(([network, { lane }]) =>
      lane === null ? [] : [[network, lane] as const]
    );
  registerFigures(registry, lanes, {
    engine_treasury_lane_open: ({ open }) => open,
    engine_treasury_lane_unseen: ({ unseen }) => unseen,
    engine_treasury_lane_lowest_age_seconds: ({ lowestAgeMs }) => (lowestAgeMs ?? 0) / 1_000,
    engine_treasury_lane_stopped: ({ stopped }) => stopped === null ? 0 : 1,
    engine_treasury_lanes_closed: ({ closed }) => closed,
    engine_treasury_fee_capped: ({ capped }) => capped,
    engine_treasury_replacements_total: ({ replaced }) => replaced,
  });
  const byAsset = () =>
    [...engine.treasuries].flatMap(([network, { coin, funds }]) => [
      ...(coin === null ? [] : [[[network, "native"], coin] as const]),
      ...[...funds].map(([asset, one]) => [[network, asset], one] as const),
    ]);
  registerFigures(registry, byAsset, {
    engine_treasury_hot_wallet: ({ balance }) => approximately(balance),
    engine_treasury_free: ({ free }) => approximately(free),
  });
  registerFigures(
    registry,
    () => engine.networks.map((network) => [network, engine.signerOpen(network)] as const),
    { engine_signer_open: (isOpen) => isOpen ? 1 : 0 },
  );
  registerFigures(
    registry,
    () =>
      [...engine.treasuries].flatMap(([network, { funds }]) =>
        [...funds.keys()].map((currency) =>
          [[network, currency], fees.basis(network, currency).fee.estimate] as const
        )
      ),
    {
      engine_network_fee_estimate: (estimate) => estimate === null ? null : approximately(estimate),
    },
  );
}
