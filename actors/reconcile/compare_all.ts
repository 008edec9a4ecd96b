/**
 * The books against themselves and against every chain, as one report. Nothing is repaired: a
 * difference is for somebody to look at.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import { formatAmount, subtract } from "../../ledger/money/amount.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { readDatabaseTime } from "../../ledger/database/database_clock.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { checkBooks } from "../../ledger/reconcile/check_books.ts";
import type { Difference, ReconcileScope } from "../../ledger/reconcile/difference.ts";
import type { StoredReport } from "../../ledger/reconcile/reports.ts";
import { newId } from "../runtime/ids.ts";
import { checkChain, heldOf, type Holding } from "./check_chain.ts";
import type { ReconciledChain } from "./passed_block.ts";

const log = getLogger(["engine", "reconcile"]);

/** What is said of a network that could not be compared at all. */
const CHAIN_RULE = "books and chain agree";

/** One rule of a report. */
export interface ReportedRule {
  readonly rule: string;
  readonly differences: readonly Difference[];
  /** Why it, or a part of it, could not be compared; null: all of it was. */
  readonly unchecked: string | null;
}

/** Holdings and debts of a network's wallets, in words of the interface: decimal text. */
export interface ReportedHolding {
  readonly currency: string;
  readonly hotWallet: string;
  readonly addresses: string;
  readonly cold: string;
  readonly inFlight: string;
  readonly owed: string;
  /** Remainder when every merchant is paid. */
  readonly house: string;
}

/** A part of a report: the books, or one network. */
export interface ReportedPart {
  /** null: the books themselves. */
  readonly network: Network | null;
  readonly rules: readonly ReportedRule[];
  readonly holdings: readonly ReportedHolding[];
}

/** Report of a comparison. */
export interface ReportBody {
  readonly parts: readonly ReportedPart[];
}

/** A comparison. */
export type Report = StoredReport<ReportBody>;

export interface CompareDeps {
  /** A pool whose statements may take long. */
  readonly sql: Sql;
  readonly chains: ReadonlyMap<Network, ReconciledChain>;
  readonly coldAddressOf: (network: Network) => string | null;
  readonly pause: (milliseconds: number) => Promise<void>;
}

export interface CompareOptions {
  readonly scope: ReconcileScope;
  /** True where only some addresses are asked for, so that nodes are spared. */
  readonly sparesNodes: boolean;
  /** True where what hot wallets hold is taken for right. */
  readonly acceptsHotWallet?: boolean;
}

/** Compares everything, one part after the other, so that it never needs more than one connection. */
export async function compareAll(deps: CompareDeps, options: CompareOptions): Promise<Report> {
  const { sql, chains } = deps;
  const { scope } = options;
  const startedAt = await readDatabaseTime(sql);
  const parts = [
    await apart(null, "the books agree with themselves", async () => ({
      network: null,
      rules: await checkBooks(sql, scope),
      holdings: [],
    })),
  ];
  for (const [network, chain] of chains) {
    parts.push(
      await apart(network, CHAIN_RULE, () => comparedWith(network, chain, deps, options)),
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

/** Compares one part; one that breaks is told as not compared, and the others are compared. */
async function apart(
  network: Network | null,
  rule: string,
  compare: () => Promise<ReportedPart>,
): Promise<ReportedPart> {
  try {
    return await compare();
  } catch (error) {
    log.error("{part} could not be compared: {error}", { part: network ?? "the books", error });
    const unchecked = `comparing broke: ${error instanceof Error ? error.message : String(error)}`;
    return { network, rules: [{ rule, differences: [], unchecked }], holdings: [] };
  }
}

async function comparedWith(
  network: Network,
  chain: ReconciledChain,
  { sql, coldAddressOf, pause }: CompareDeps,
  options: CompareOptions,
): Promise<ReportedPart> {
  const found = await checkChain(
    { sql, chain, coldAddress: coldAddressOf(network), pause },
    options,
  );
  if (found.kind === "checked") {
    return { network, rules: found.results, holdings: found.holdings.map(reported) };
  }
  const rule = { rule: CHAIN_RULE, differences: [], unchecked: found.reason };
  return { network, rules: [rule], holdings: [] };
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
