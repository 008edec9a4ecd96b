/**
 * Compares the books with themselves and with the chains, beside a running service:
 * `deno task reconcile`. Reads the same variables as the service. Exit code 1: there is a
 * difference; 2: something could not be compared.
 *
 * `--quick` compares what costs the same however many payments there were. `--accept-hot-wallet`
 * takes what hot wallets hold, the coin too, for right from now on: after a transfer that was made, or
 * coin that was staked, by hand.
 *
 * @module
 */

import { compareAll } from "../../actors/reconcile/compare_all.ts";
import type { ReportedPart } from "../../actors/reconcile/report.ts";
import { WalletFault } from "../../chains/wallet/wallet_fault.ts";
import { loadConfig } from "../config/config.ts";
import { delay } from "../../ledger/database/delay.ts";
import { assertMigrated } from "../../ledger/database/migrate.ts";
import { storeReport } from "../../ledger/reconcile/reports.ts";
import { chainsToRead } from "../open/chains_to_read.ts";
import { configureLogging } from "../open/logging.ts";
import { openBooks } from "../open/open_books.ts";
import { table } from "./admin/table.ts";

/** Where a command prints. */
export type Output = Pick<Console, "log" | "error">;

const QUICK = "--quick";
const ACCEPT = "--accept-hot-wallet";

/** Compares everything and prints what was found. Answers the exit code. */
export async function reconcile(
  env: Readonly<Record<string, string>>,
  out: Output = console,
  args: readonly string[] = [],
): Promise<number> {
  const unknown = args.find((arg) => arg !== QUICK && arg !== ACCEPT);
  if (unknown !== undefined) {
    out.error(`Cannot compare as an option is none of ${QUICK}, ${ACCEPT}: ${unknown}`);
    return 2;
  }
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
    const report = await compareAll({
      sql: books.sql,
      chains: await chainsToRead(config),
      coldAddressOf: (network) => config.networks[network].coldAddress,
      pause: delay,
    }, {
      scope: args.includes(QUICK) ? "quick" : "full",
      sparesNodes: false,
      acceptsHotWallet: args.includes(ACCEPT),
    });
    await storeReport(books.sql, report);
    for (const part of report.body.parts) tell(part, out);
    const { differences, unchecked } = report;
    if (differences > 0) out.log(`\n${differences} differences.`);
    else if (unchecked > 0) out.log(`\nNo difference found; ${unchecked} rules not compared.`);
    else out.log("\nNo difference.");
    return differences > 0 ? 1 : unchecked > 0 ? 2 : 0;
  } catch (error) {
    if (!(error instanceof WalletFault)) throw error;
    out.error(error.message);
    return 2;
  } finally {
    await books.close();
  }
}

function tell({ network, rules, holdings }: ReportedPart, out: Output): void {
  out.log(network === null ? "Books" : `\n${network}`);
  for (const { rule, differences, unchecked } of rules) {
    const mark = differences.length > 0 ? "NO" : unchecked !== null ? "??" : "ok";
    out.log(`  ${mark}  ${rule}${unchecked === null ? "" : `: ${unchecked}`}`);
    for (const { subject, detail } of differences) out.log(`        ${subject}: ${detail}`);
  }
  if (holdings.length === 0) return;
  const rows = holdings.map((holding) => ({
    currency: holding.currency,
    "hot wallet": holding.hotWallet,
    addresses: holding.addresses,
    cold: holding.cold,
    owed: holding.owed,
    "in flight": holding.inFlight,
    own: holding.house,
  }));
  out.log(table(rows).replaceAll(/^/gm, "      "));
}

if (import.meta.main) Deno.exit(await reconcile(Deno.env.toObject(), console, Deno.args));
