/**
 * The books against themselves and against every chain, as one report. Nothing is repaired: a
 * difference waits for an operator.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { readDatabaseTime } from "../../ledger/database/database_clock.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { checkBooks, type CheckProgress } from "../../ledger/reconcile/check_books.ts";
import type { ReconcileScope } from "../../ledger/reconcile/difference.ts";
import { newId } from "../runtime/ids.ts";
import { CHAIN_RULE, type ChainCheckOptions, checkChain } from "./check_chain.ts";
import type { ReconciledChain } from "./passed_block.ts";
import type { Report, ReportedPart } from "./report.ts";

export interface CompareDeps {
  /** A pool whose statements may take long. */
  readonly sql: Sql;
  readonly chains: ReadonlyMap<Network, ReconciledChain>;
  readonly coldAddressOf: (network: Network) => string | null;
  readonly pause: (milliseconds: number) => Promise<void>;
  /** Called before each part of a rule of the books. */
  readonly onProgress?: (progress: CheckProgress) => void;
}

/** Compares everything, one part after the other, so that it never needs more than one connection. */
export async function compareAll(
  deps: CompareDeps,
  options: ChainCheckOptions & { readonly scope: ReconcileScope },
): Promise<Report> {
  const { sql, chains, coldAddressOf, pause, onProgress } = deps;
  const { scope } = options;
  const startedAt = await readDatabaseTime(sql);
  const parts = [
    await apart(null, "the books agree with themselves", async () => ({
      network: null,
      rules: await checkBooks(sql, scope, onProgress === undefined ? {} : { onProgress }),
      holdings: [],
    })),
  ];
  for (const [network, chain] of chains) {
    const check = { sql, chain, coldAddress: coldAddressOf(network), pause };
    parts.push(
      await apart(network, CHAIN_RULE, async () => ({
        ...await checkChain(check, options),
        network,
      })),
    );
  }
  const rules = parts.flatMap((part) => part.rules);
  return {
    id: newId("rec"),
    scope,
    startedAt,
    finishedAt: await readDatabaseTime(sql),
    differences: rules.reduce((sum, { differences }) => sum + differences.length, 0),
    unchecked: rules.filter(({ unchecked }) => unchecked !== null).length,
    body: { parts },
  };
}

/** Compares one part; one that breaks is reported as not compared, and the others are compared. */
async function apart(
  network: Network | null,
  rule: string,
  compare: () => Promise<ReportedPart>,
): Promise<ReportedPart> {
  try {
    return await compare();
  } catch (error) {
    logEvent("reconcile.part_failed", { part: network ?? "the books", error });
    const unchecked = `comparing broke: ${error instanceof Error ? error.message : String(error)}`;
    return { network, rules: [{ rule, differences: [], unchecked }], holdings: [] };
  }
}
