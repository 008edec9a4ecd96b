/**
 * The metrics of all parts of the service. Those of the server are added once it listens.
 *
 * @module
 */

import { Registry } from "prom-client";
import type { Engine } from "../../actors/engine.ts";
import type { FeeBoard } from "../../actors/treasury/fee_board.ts";
import { registerAddressMetrics } from "../health/address_health.ts";
import { registerCallbackMetrics } from "../health/callback_reasons.ts";
import { registerClockMetrics } from "../health/clock_reasons.ts";
import { registerDepositProofMetrics } from "../health/deposit_proof_health.ts";
import { readFailoverFigures, registerFailoverMetrics } from "../health/failover_reasons.ts";
import { registerPoolMetrics } from "../health/pool_health.ts";
import { registerSweepMetrics } from "../health/sweep_health.ts";
import { registerWorkMetrics } from "../health/work_reasons.ts";
import { registerMetrics } from "../metrics/engine_metrics.ts";
import { type LoopDelay, registerLoopMetrics } from "../metrics/loop_delay.ts";
import { registerProcessMetrics } from "../metrics/process_metrics.ts";
import { registerReconcileMetrics } from "../metrics/reconcile_metrics.ts";
import { registerTreasuryMetrics } from "../metrics/treasury_metrics.ts";
import type { DatabaseClock } from "../../ledger/database/database_clock.ts";
import type { openDatabase } from "./open_database.ts";
import type { openReconciler } from "./open_reconciler.ts";

/** Opened parts whose figures are shown. */
interface ServiceParts {
  readonly engine: Engine;
  readonly callbacks:
    & Parameters<typeof registerCallbackMetrics>[1]
    & { readonly webhooks: Parameters<typeof registerMetrics>[2] };
  readonly clock: DatabaseClock;
  readonly fees: FeeBoard;
  readonly database: Awaited<ReturnType<typeof openDatabase>>;
  readonly readSlots: Parameters<typeof registerPoolMetrics>[2];
  readonly addresses: Parameters<typeof registerAddressMetrics>[1];
  readonly reconciler: ReturnType<typeof openReconciler>["reconciler"];
  readonly loopDelay: LoopDelay;
}

/** Registers the figures of all parts. */
export function openRegistry(parts: ServiceParts): Registry {
  const { engine, callbacks, clock, fees, database, readSlots, addresses } = parts;
  const now = () => clock.now();
  const registry = new Registry();
  registerProcessMetrics(registry);
  registerMetrics(registry, engine, callbacks.webhooks);
  registerClockMetrics(registry, clock);
  registerWorkMetrics(registry, engine);
  registerCallbackMetrics(registry, callbacks);
  registerSweepMetrics(registry, engine, now);
  registerTreasuryMetrics(registry, engine, fees, now);
  registerDepositProofMetrics(registry, engine, now);
  registerPoolMetrics(registry, database.pools, readSlots);
  registerFailoverMetrics(registry, () => readFailoverFigures(database.detailsSql));
  registerAddressMetrics(registry, addresses, engine.addressBook);
  if (parts.reconciler !== null) registerReconcileMetrics(registry, parts.reconciler);
  registerLoopMetrics(registry, parts.loopDelay);
  return registry;
}
