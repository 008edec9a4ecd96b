/**
 * The books against themselves and against every chain, as one report. Nothing is repaired: a
 * difference is for somebody to look at.
 *
 * @module
 */

import { formatAmount, subtract } from "../../ledger/amount.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import type { Network } from "../../ledger/pair.ts";
import { checkBooks } from "../../ledger/reconcile/check_books.ts";
import type { Difference } from "../../ledger/reconcile/difference.ts";
import type { KeptReport, ReconcileScope } from "../../ledger/reconcile/reports.ts";
import { newId } from "../runtime/ids.ts";
import { checkChain, heldOf, type Holding } from "./check_chain.ts";
import type { ReconciledChain } from "./passed_block.ts";

/** One rule of a report. */
export interface ReportedRule {
  readonly rule: string;
  readonly differences: readonly Difference[];
  /** Why it, or a part of it, could not be compared; null: all of it was. */
  readonly unchecked: string | null;
}

/** What a network's wallets hold and owe, in words of the interface: decimal text. */
export interface ReportedHolding {
  readonly currency: string;
  readonly hotWallet: string;
  readonly addresses: string;
  readonly cold: string;
  readonly inFlight: string;
  readonly owed: string;
  /** What is left when everybody is paid. */
  readonly house: string;
}

/** A part of a report: the books, or one network. */
export interface ReportedPart {
  /** null: the books themselves. */
  readonly network: Network | null;
  readonly rules: readonly ReportedRule[];
  readonly holdings: readonly ReportedHolding[];
}

/** What is kept of a comparison. */
export interface ReportBody {
  readonly parts: readonly ReportedPart[];
}

/** A comparison. */
export type Report = KeptReport<ReportBody>;

/** What comparing works with. */
export interface CompareDeps {
  /** A pool whose statements may take long. */
  readonly sql: Sql;
  readonly chains: ReadonlyMap<Network, ReconciledChain>;
  readonly coldAddressOf: (network: Network) => string | null;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly pause: (milliseconds: number) => Promise<void>;
}

/** How it is compared. */
export interface CompareOptions {
  readonly scope: ReconcileScope;
  /** Whether only some addresses are asked for, so that nodes are spared. */
  readonly sparesNodes: boolean;
  /** Whether what hot wallets hold is taken for right. */
  readonly acceptsHotWallet?: boolean;
}

/** Compares everything, one part after the other, so that it never needs more than one connection. */
export async function compareAll(deps: CompareDeps, options: CompareOptions): Promise<Report> {
  const { sql, chains, coldAddressOf, now, pause } = deps;
  const { scope } = options;
  const startedAt = now();
  const books = await checkBooks(sql, scope);
  const parts: ReportedPart[] = [{
    network: null,
    rules: books.map((one) => ({ ...one, unchecked: one.unchecked ?? null })),
    holdings: [],
  }];
  for (const [network, chain] of chains) {
    const check = { sql, chain, coldAddress: coldAddressOf(network), pause };
    const found = await checkChain(check, options);
    parts.push(
      found.kind === "checked"
        ? {
          network,
          rules: found.results,
          holdings: found.holdings.map(reported),
        }
        : {
          network,
          rules: [{ rule: "books and chain agree", differences: [], unchecked: found.reason }],
          holdings: [],
        },
    );
  }
  const rules = parts.flatMap((part) => part.rules);
  return {
    id: newId("rec"),
    scope,
    startedAt,
    finishedAt: now(),
    differences: rules.reduce((sum, { differences }) => sum + differences.length, 0),
    unchecked: rules.filter(({ unchecked }) => unchecked !== null).length,
    body: { parts },
  };
}

function reported(holding: Holding): ReportedHolding {
  const { currency, hotWallet, addresses, cold, inFlight, owed } = holding;
  return {
    currency,
    hotWallet: formatAmount(hotWallet),
    addresses: formatAmount(addresses),
    cold: formatAmount(cold),
    inFlight: formatAmount(inFlight),
    owed: formatAmount(owed),
    house: formatAmount(subtract(heldOf(holding), owed)),
  };
}
