/**
 * Health of a running service: figures for Prometheus, and readiness.
 *
 * @module
 */

import { Registry } from "prom-client";
import type { AddressGuard } from "../../actors/addresses/address_guard.ts";
import type { Engine } from "../../actors/engine.ts";
import type { Reconciler } from "../../actors/reconcile/reconciler.ts";
import type { FeeBoard } from "../../actors/treasury/fee_board.ts";
import type { Webhooks } from "../../actors/webhook/webhooks.ts";
import type { Readiness } from "../../api/http/context.ts";
import type { ChangePlaces } from "../../api/http/change_places.ts";
import type { ClaimPlaces } from "../../api/http/claim_places.ts";
import type { ReadSlots } from "../../api/http/read_slots.ts";
import type { DatabaseClock } from "../../ledger/database/database_clock.ts";
import type { Rates } from "../../rates/rates.ts";
import { VERSION } from "../../api/http/version.ts";
import type { Doors } from "../http/serve.ts";
import type { Warming } from "../http/warming.ts";
import type { Database } from "../open/open_database.ts";
import { addressReasons, registerAddressMetrics } from "./addresses.ts";
import { registerReconcileMetrics } from "./books.ts";
import { type CallbackParts, registerCallbackMetrics } from "./callbacks.ts";
import { registerChainMetrics } from "./chains.ts";
import { registerClockMetrics } from "./clocks.ts";
import { registerDepositProofMetrics } from "./deposits.ts";
import { doorReasons, registerDoorMetrics } from "./doors.ts";
import { readDatabaseFigures, registerDatabaseMetrics } from "./database.ts";
import { registerPoolMetrics } from "./pools.ts";
import { type LoopDelay, registerLoopMetrics, registerProcessMetrics } from "./process.ts";
import {
  claimReasons,
  placeReasons,
  registerClaimMetrics,
  registerPlaceMetrics,
  registerSharedMetrics,
  type Shared,
  sharedReasons,
} from "./places.ts";
import { detailReads, readiness } from "./readiness.ts";
import { rateReasons } from "./rates.ts";
import { registerSweepMetrics } from "./sweeps.ts";
import { registerTreasuryMetrics } from "./treasury.ts";
import { watchReadiness } from "./watched_readiness.ts";
import { registerWorkMetrics } from "./work.ts";

/** Opened parts of the service. */
export interface HealthParts {
  readonly engine: Engine;
  readonly callbacks: CallbackParts & { readonly webhooks: Webhooks };
  readonly clock: DatabaseClock;
  readonly fees: FeeBoard;
  readonly database: Database;
  readonly readSlots: ReadSlots;
  readonly changePlaces: ChangePlaces;
  readonly claimPlaces: ClaimPlaces;
  readonly shared: Shared;
  readonly addresses: AddressGuard;
  /** Null: it is switched off. */
  readonly reconciler: Reconciler | null;
  readonly loopDelay: LoopDelay;
  readonly warming: Warming;
  readonly rates: Pick<Rates, "find">;
  /** Reason that nothing can be signed now; null while all is well. */
  readonly signerTrouble: () => string | null;
  /** File descriptors that the process can have. */
  readonly descriptors: number;
}

/** Registers the figures of all parts, and finds out whether they are ready. */
export function openHealth(
  parts: HealthParts,
  doors: Doors,
): { readonly registry: Registry; readonly readiness: () => Promise<Readiness> } {
  const { engine, callbacks, clock, fees, database, readSlots, addresses, descriptors } = parts;
  const { changePlaces, claimPlaces, shared } = parts;
  const now = () => clock.now();
  const registry = new Registry();
  registerProcessMetrics(registry, VERSION);
  registerWorkMetrics(registry, engine);
  registerChainMetrics(registry, engine, now);
  registerClockMetrics(registry, clock);
  registerCallbackMetrics(registry, callbacks);
  registerSweepMetrics(registry, engine, now);
  registerTreasuryMetrics(registry, engine, fees, now);
  registerDepositProofMetrics(registry, engine, now);
  registerPoolMetrics(registry, database.pools, readSlots);
  registerDatabaseMetrics(registry, () => readDatabaseFigures(database.detailsSql));
  registerAddressMetrics(registry, addresses, engine.addressBook);
  if (parts.reconciler !== null) registerReconcileMetrics(registry, parts.reconciler);
  registerLoopMetrics(registry, parts.loopDelay);
  registerDoorMetrics(registry, doors, descriptors);
  registerPlaceMetrics(registry, changePlaces);
  registerClaimMetrics(registry, claimPlaces, () => engine.networks);
  registerSharedMetrics(registry, shared);
  const details = detailReads(database.detailsSql, engine);
  const look = () =>
    readiness({
      ...parts,
      sql: database.readinessSql,
      details,
      pools: database.pools,
      migrations: database.migrations,
      now: now(),
      signerTrouble: parts.signerTrouble(),
      starting: () => parts.warming.reasons(),
      others: () => [
        ...addressReasons(addresses, engine.addressBook),
        ...doorReasons(doors, descriptors),
        ...placeReasons(changePlaces),
        ...claimReasons(claimPlaces, engine.networks),
        ...sharedReasons(shared),
        ...parts.loopDelay.reasons(),
        ...rateReasons(parts.rates),
      ],
    });
  return { registry, readiness: watchReadiness(registry, look) };
}
