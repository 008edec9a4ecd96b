import { Gauge, type Registry } from "prom-client";
import type { Engine } from "../../actors/engine.ts";
import type { FeeBoard } from "../../actors/treasury/fee_board.ts";
import { type Amount, formatAmount } from "../../ledger/money/amount.ts";
import { registerQueueMetrics } from "../health/queue_health.ts";

/** An amount as a gauge shows it: close enough for a graph, and for nothing else. */
function approximately(amount: Amount): number {
  const text = formatAmount(amount);
  return Number(text);
}

/** Registers what the treasuries hold and what waits in them. */
export function registerTreasuryMetrics(
  registry: Registry,
  engine: Pick<Engine, "treasuries" | "networks" | "signerOpen">,
  fees: Pick<FeeBoard, "basis">,
  now: () => number,
): void {
  const registers = [registry];
  registerQueueMetrics(registry, engine, now);
  new Gauge({
    name: "treasury_hot_wallet",
    help: "What the hot wallet holds; asset native is the chain's own coin",
    labelNames: ["network", "asset"],
    registers,
    collect() {
      for (const [network, { coin, funds }] of engine.treasuries) {
        if (coin !== null) this.set({ network, asset: "native" }, approximately(coin.balance));
        for (const [asset, { balance }] of funds) {
          this.set({ network, asset }, approximately(balance));
        }
      }
    },
  });
  new Gauge({
    name: "treasury_free",
    help: "What of it is promised to nobody; negative: payouts wait for funds",
    labelNames: ["network", "asset"],
    registers,
    collect() {
      for (const [network, { coin, funds }] of engine.treasuries) {
        if (coin !== null) this.set({ network, asset: "native" }, approximately(coin.free));
        for (const [asset, { free }] of funds) this.set({ network, asset }, approximately(free));
      }
    },
  });
  const perNetwork = (name: string, help: string, read: (network: string) => number | null) =>
    new Gauge({
      name,
      help,
      labelNames: ["network"],
      registers,
      collect() {
        for (const network of engine.networks) {
          const value = read(network);
          if (value !== null) this.set({ network }, value);
        }
      },
    });
  const statusOf = (name: string) =>
    [...engine.treasuries].find(([network]) => network === name)?.[1] ?? null;
  perNetwork(
    "treasury_low",
    "Assets of which the hot wallet has too little",
    (network) => statusOf(network)?.low.length ?? null,
  );
  perNetwork(
    "treasury_payouts_without_expiry_proof",
    "Expired payouts that a second node has not agreed on",
    (network) => statusOf(network)?.withoutExpiryProof ?? null,
  );
  perNetwork(
    "treasury_oldest_queued_seconds",
    "Age of the oldest transfer that waits for its signature",
    (network) => {
      const status = statusOf(network);
      if (status === null) return null;
      return status.oldestQueuedAt === null ? 0 : (now() - status.oldestQueuedAt) / 1_000;
    },
  );
  new Gauge({
    name: "treasury_payouts_open",
    help: "1 where payouts can be signed",
    labelNames: ["network"],
    registers,
    collect() {
      for (const network of engine.networks) {
        this.set({ network }, engine.signerOpen(network) ? 1 : 0);
      }
    },
  });
  new Gauge({
    name: "network_fee_estimate",
    help: "What a dynamic network fee is now; nothing while it falls back",
    labelNames: ["network", "currency"],
    registers,
    collect() {
      this.reset();
      for (const [network, { funds }] of engine.treasuries) {
        for (const currency of funds.keys()) {
          const { estimate } = fees.basis(network, currency).fee;
          if (estimate !== null) this.set({ network, currency }, approximately(estimate));
        }
      }
    },
  });
}
