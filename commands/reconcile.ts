/**
 * Compares the books with themselves and with the chains, beside a running service:
 * `deno task reconcile`. Reads the same variables as the service. Exit code 1: there is a
 * difference; 2: something could not be compared.
 *
 * @module
 */

import { type ChainReport, checkChain, type Holding } from "../actors/reconcile/check_chain.ts";
import { loadConfig } from "../config.ts";
import { add, formatAmount, subtract } from "../ledger/amount.ts";
import { delay } from "../ledger/database/delay.ts";
import { assertMigrated } from "../ledger/database/migrate.ts";
import { checkBooks } from "../ledger/reconcile/check_books.ts";
import type { Difference } from "../ledger/reconcile/difference.ts";
import { chainsToRead } from "../setup/chains_to_read.ts";
import { configureLogging } from "../setup/logging.ts";
import { openBooks } from "../setup/open_books.ts";
import { table } from "./admin/table.ts";

/** Where a command prints. */
export type Output = Pick<Console, "log" | "error">;

/** Compares everything and prints what was found. Answers the exit code. */
export async function reconcile(
  env: Readonly<Record<string, string>>,
  out: Output = console,
): Promise<number> {
  const answer = loadConfig(env);
  if (!answer.ok) {
    out.error(`Cannot compare as the environment is wrong:\n  ${answer.faults.join("\n  ")}`);
    return 2;
  }
  const config = { ...answer.config, logLevel: "error" as const };
  await configureLogging(config);
  const books = await openBooks(config);
  try {
    await assertMigrated(books.sql);
    out.log("Books");
    let differences = 0;
    for (const result of await checkBooks(books.sql)) differences += tell(result, out);
    let unchecked = 0;
    for (const [network, chain] of await chainsToRead(config)) {
      out.log(`\n${network}`);
      const report = await checkChain({ sql: books.sql, chain, pause: delay });
      if (report.kind === "unchecked") {
        out.log(`  ??  ${report.reason}`);
        unchecked++;
      } else differences += tellChain(report, out);
    }
    if (differences > 0) out.log(`\n${differences} differences.`);
    else if (unchecked > 0) {
      out.log(`\nNo difference found; ${unchecked} networks not compared.`);
    } else out.log("\nNo difference.");
    return differences > 0 ? 1 : unchecked > 0 ? 2 : 0;
  } finally {
    await books.close();
  }
}

function tell(
  result: { readonly rule: string; readonly differences: readonly Difference[] },
  out: Output,
): number {
  out.log(`  ${result.differences.length === 0 ? "ok" : "NO"}  ${result.rule}`);
  for (const { subject, detail } of result.differences) {
    out.log(`        ${subject}: ${detail}`);
  }
  return result.differences.length;
}

function tellChain(
  report: Extract<ChainReport, { readonly kind: "checked" }>,
  out: Output,
): number {
  const count = report.results.reduce((sum, result) => sum + tell(result, out), 0);
  out.log(table(report.holdings.map(holdingRow)).replaceAll(/^/gm, "      "));
  return count;
}

function holdingRow({ currency, hotWallet, addresses, inFlight, owed }: Holding) {
  const held = add(hotWallet, addresses);
  return {
    currency,
    "hot wallet": formatAmount(hotWallet),
    addresses: formatAmount(addresses),
    owed: formatAmount(owed),
    "in flight": formatAmount(inFlight),
    "the house's": formatAmount(subtract(held, owed)),
  };
}

if (import.meta.main) Deno.exit(await reconcile(Deno.env.toObject()));
