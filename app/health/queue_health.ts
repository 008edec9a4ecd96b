import { Gauge, type Registry } from "prom-client";
import type { Engine } from "../../actors/engine.ts";
import type { TreasuryStatus } from "../../actors/treasury/treasury_deps.ts";

/** Time for which a payout may wait that nothing but its turn holds. */
const PAYABLE_MS = 2 * 60_000;

/** Troubles with the queue of payouts, and with the tokens they are made in. */
export function queueReasons(
  { queue, tokens }: Pick<TreasuryStatus, "queue" | "tokens">,
  network: string,
  now: number,
): string[] {
  const reasons = tokens.map((text) => `${network} ${text}`);
  const { overCap, quarantined, payableSince } = queue;
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

/** Registers how long payouts wait, and which wait for a person. */
export function registerQueueMetrics(
  registry: Registry,
  engine: Pick<Engine, "treasuries">,
  now: () => number,
): void {
  const gauge = (name: string, help: string, read: (status: TreasuryStatus) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ["network"],
      registers: [registry],
      collect() {
        for (const [network, status] of engine.treasuries) this.set({ network }, read(status));
      },
    });
  gauge(
    "treasury_oldest_payable_seconds",
    "Age of the oldest payout that nothing but its turn holds; 0 without one",
    ({ queue: { payableSince } }) => payableSince === null ? 0 : (now() - payableSince) / 1_000,
  );
  gauge(
    "treasury_over_cap_payouts",
    "Payouts above the signer's cap per transaction, which wait for a person",
    ({ queue }) => queue.overCap.count,
  );
  gauge(
    "treasury_quarantined_payouts",
    "Payouts that something about themselves keeps from being signed",
    ({ queue }) => queue.quarantined.count,
  );
  gauge(
    "treasury_token_switches",
    "Switches of tokens that are not as usual: paused, a fee, a successor, the hot wallet blocked",
    ({ tokens }) => tokens.length,
  );
}
