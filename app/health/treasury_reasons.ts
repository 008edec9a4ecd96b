import type { Engine } from "../../actors/engine.ts";
import type { FeeBoard } from "../../actors/treasury/fee_board.ts";
import type { PairSettings } from "../../ledger/pairs.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { queueReasons } from "./queue_health.ts";

/** How long a transfer may be queued before it is said. */
const QUEUED_MS = 10 * 60_000;

/** What is not as it should be with the treasury of a network. */
export function treasuryReasons(
  engine: Pick<Engine, "treasuries" | "signerOpen">,
  network: Network,
  now: number,
): string[] {
  const reasons: string[] = [];
  if (!engine.signerOpen(network)) reasons.push(`${network} payouts cannot be signed`);
  const status = engine.treasuries.get(network);
  if (status === undefined) return reasons;
  for (const asset of status.unread) {
    const name = asset === "native" ? "coin" : asset;
    reasons.push(`${network} hot wallet cannot be asked how much ${name} it holds`);
  }
  for (const text of status.low) reasons.push(`${network} hot wallet is low on ${text}`);
  if (status.withoutExpiryProof > 0) {
    reasons.push(
      `${network} has ${status.withoutExpiryProof} expired payouts that a second node must prove`,
    );
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
