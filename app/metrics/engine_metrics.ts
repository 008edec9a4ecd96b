import { Gauge, type Registry } from "prom-client";
import type { Engine } from "../../actors/engine.ts";
import { lagOf, type WatcherStatus } from "../../actors/watcher/scan_memory.ts";
import type { Webhooks } from "../../actors/webhook/webhooks.ts";
import { registerJournalMetrics } from "../health/journal_health.ts";
import { registerNodeMetrics } from "./node_metrics.ts";

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
  gauge("actors_quarantined", "Messages quarantined by a bug", () => {
    const { payments, sweepers, treasuries, watchers } = engine.figures;
    return payments.quarantined + sweepers.quarantined + treasuries.quarantined +
      watchers.quarantined;
  });
  gauge("webhook_in_flight", "Deliveries under way", () => webhooks.figures.inFlight);
  gauge("webhook_unmarked", "Deliveries not written down yet", () => webhooks.figures.unmarked);
  gauge("webhook_lost_marks", "Deliveries the database refused", () => webhooks.figures.lostMarks);
  registerScanMetrics(registry, engine);
  registerJournalMetrics(registry, engine);
}

/** How far each network is read, what holds it up, and what its nodes were asked. */
function registerScanMetrics(registry: Registry, engine: Engine): void {
  const perNetwork = (name: string, help: string, read: (status: WatcherStatus) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ["network"],
      registers: [registry],
      collect() {
        for (const [network, status] of engine.watched) this.set({ network }, read(status));
      },
    });
  perNetwork("chain_lag_blocks", "Solid blocks of a network that are not read yet", lagOf);
  perNetwork("chain_solid_height", "Newest solid block of a network", (one) => one.chainSolid);
  perNetwork("chain_read_height", "Newest solid block that was read", (one) => one.readSolid);
  perNetwork("chain_head_height", "Newest block that was seen", (one) => one.readHead);
  perNetwork("chain_blocks_read", "Solid blocks read since the start", (one) => one.blocksRead);
  perNetwork(
    "chain_catch_up_blocks_per_second",
    "How fast a network is read while it is far behind, otherwise 0",
    (one) => one.catchUp?.perSecond ?? 0,
  );
  perNetwork("chain_unread_blocks", "Blocks that no node gives whole", (one) => one.unread.length);
  perNetwork(
    "chain_scan_stopped",
    "1 where solid blocks do not continue what was read",
    (one) => one.stopped === null ? 0 : 1,
  );
  perNetwork(
    "chain_scan_rest_seconds",
    "Rest between two looks, so that the calls of nodes last the day",
    (one) => one.restMs / 1_000,
  );
  registerNodeMetrics(registry, engine);
}
