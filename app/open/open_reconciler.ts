import { Reconciler } from "../../actors/reconcile/reconciler.ts";
import type { Chain } from "../../chains/chain.ts";
import type { Config } from "../config/config.ts";
import { connect } from "../../ledger/database/connect.ts";
import { delay } from "../../ledger/database/delay.ts";
import type { Network } from "../../ledger/money/pair.ts";

/** The comparison of the books while the service runs. */
export interface OpenReconciler {
  /** null: it is switched off. */
  readonly reconciler: Reconciler | null;
  close(): Promise<void>;
}

/** One statement may read a whole table; what takes longer is reported as not compared. */
const STATEMENT_MS = 10 * 60_000;

/** Makes it, with a pool of its own: long reads take no connection from requests. */
export function openReconciler(
  config: Config,
  databaseUrl: string,
  chains: ReadonlyMap<Network, Chain>,
): OpenReconciler {
  const { minutes, fullHour } = config.reconcile;
  if (minutes === 0) return { reconciler: null, close: () => Promise.resolve() };
  const sql = connect(databaseUrl, {
    // transactions of both scopes at a time, and statements beside them
    max: 4,
    applicationName: "engine-reconcile",
    statementTimeoutMs: STATEMENT_MS,
  });
  const reconciler = new Reconciler({
    sql,
    chains,
    coldAddressOf: (network) => config.networks[network].coldAddress,
    pause: delay,
  }, { everyMs: minutes * 60_000, fullHour });
  return {
    reconciler,
    close: async () => {
      reconciler.stop();
      await sql.end({ timeout: 1 });
    },
  };
}
