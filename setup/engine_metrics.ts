import { Gauge, type Registry } from "prom-client";
import type { Engine } from "../actors/engine.ts";
import type { Webhooks } from "../actors/webhook/webhooks.ts";

/** Registers what the actors count; read when Prometheus asks. */
export function registerMetrics(registry: Registry, engine: Engine, webhooks: Webhooks): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  gauge("journal_batches", "Batches committed", () => engine.figures.journal.batches);
  gauge("journal_messages", "Messages answered", () => engine.figures.journal.messages);
  gauge("journal_waiting", "Messages in mailboxes", () => engine.figures.journal.waiting);
  gauge("journal_active", "Merchants in memory", () => engine.figures.journal.active);
  gauge("actors_quarantined", "Messages set aside by a bug", () => {
    const { payments, treasuries, watchers } = engine.figures;
    return payments.quarantined + treasuries.quarantined + watchers.quarantined;
  });
  gauge("webhook_in_flight", "Deliveries under way", () => webhooks.figures.inFlight);
  new Gauge({
    name: "chain_lag_blocks",
    help: "Solid blocks of a network that are not read yet",
    labelNames: ["network"],
    registers: [registry],
    collect() {
      for (const [network, { chainSolid, readSolid }] of engine.watched) {
        this.set({ network }, chainSolid - readSolid);
      }
    },
  });
}
