import { Gauge, type Registry } from "prom-client";
import type { Engine } from "../../actors/engine.ts";
import type { Network } from "../../ledger/money/pair.ts";

/** How long a deposit may wait before it is said: a second node is often a few blocks behind. */
const WAITING_MS = 60_000;

/** What is not as it should be with a network's large deposits. */
export function depositProofReasons(
  engine: Pick<Engine, "depositsAwaitingProof">,
  network: Network,
  now: number,
): string[] {
  const figures = engine.depositsAwaitingProof(network);
  if (figures === null || figures.oldestAt === null) return [];
  const { waiting, disputed, oldestAt } = figures;
  // one from the future was written by a wrong clock, so that its age cannot be told
  const isNew = now - oldestAt <= WAITING_MS && oldestAt - now <= WAITING_MS;
  if (disputed === 0 && isNew) return [];
  const reason = figures.reason ??
    "it was not asked about yet, or another transaction holds its row";
  return [
    disputed > 0
      ? `${network} has ${disputed} large deposits that a second node disputes: ${reason}`
      : `${network} has ${waiting} large deposits that a second node must prove: ${reason}`,
  ];
}

/** Registers what waits for the word of a second node. */
export function registerDepositProofMetrics(
  registry: Registry,
  engine: Pick<Engine, "depositsAwaitingProof" | "networks">,
  now: () => number,
): void {
  const perNetwork = (
    name: string,
    help: string,
    read: (figures: NonNullable<ReturnType<Engine["depositsAwaitingProof"]>>) => number,
  ) =>
    new Gauge({
      name,
      help,
      labelNames: ["network"],
      registers: [registry],
      collect() {
        for (const network of engine.networks) {
          const figures = engine.depositsAwaitingProof(network);
          if (figures !== null) this.set({ network }, read(figures));
        }
      },
    });
  perNetwork(
    "deposits_unproven",
    "Large deposits that a second node has not proven",
    ({ waiting }) => waiting,
  );
  perNetwork(
    "deposits_disputed",
    "Those of them that a second node contradicts",
    ({ disputed }) => disputed,
  );
  perNetwork(
    "deposits_oldest_unproven_seconds",
    "Age of the oldest deposit that a second node has not proven",
    ({ oldestAt }) => oldestAt === null ? 0 : Math.max(0, now() - oldestAt) / 1_000,
  );
}
