/**
 * Compares the books with themselves and with the chains, beside a running service:
 * `deno task reconcile`. Reads the same variables as the service. Exit code 1: there is a
 * difference; 2: something could not be compared, or nothing, as without its database.
 *
 * `--quick` compares what costs the same however many payments there were. `--accept-hot-wallet`
 * takes what hot wallets hold, the coin too, for right from now on: after a transfer that was made, or
 * coin that was staked, by hand.
 *
 * @module
 */

import { compareAll } from "../../actors/reconcile/compare_all.ts";
import type { ReportedPart } from "../../actors/reconcile/report.ts";
import { WalletFault } from "../../chains/wallet/secret_file.ts";
import { delay } from "../../ledger/database/delay.ts";
import { storeReport } from "../../ledger/reconcile/reports.ts";
import { chainsToRead } from "../open/open_chains.ts";
import { configureLogging } from "../open/logging.ts";
import { configFor, withBooks } from "./books.ts";
import { type Env, type Output, Refused, runProgram, type Verb } from "./command.ts";
import { table } from "./table.ts";

/** Interval at which a long comparison says how far it is. */
const PROGRESS_MS = 5_000;

/** Compares everything and prints what was found. */
async function reconcile(env: Env, out: Output, isQuick: boolean, accepts: boolean) {
  const config = { ...configFor("compare", env), logLevel: "error" as const };
  await configureLogging(config);
  return await withBooks(config, async (sql) => {
    const chains = await chainsToRead(config).catch((error: unknown) => {
      if (error instanceof WalletFault) throw new Refused(error.message, 2);
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      throw new Refused(
        `Cannot compare as there is no wallet: set WALLET_FILE (${error.message})`,
        2,
      );
    });
    let toldAt = performance.now();
    const report = await compareAll({
      sql,
      onProgress: ({ rule, done, parts }) => {
        if (performance.now() - toldAt < PROGRESS_MS) return;
        toldAt = performance.now();
        out.log(`... ${rule}: part ${done + 1} of ${parts}`);
      },
      chains,
      coldAddressOf: (network) => config.networks[network].coldAddress,
      pause: delay,
    }, { scope: isQuick ? "quick" : "full", sparesNodes: false, acceptsHotWallet: accepts });
    await storeReport(sql, report);
    for (const part of report.body.parts) printPart(part, out);
    const { differences, unchecked } = report;
    const found = differences === 0 ? "No difference" : `${differences} differences`;
    const leftOut = unchecked === 0 ? "" : ` found; ${unchecked} rules not compared (??)`;
    out.log(`\n${found}${leftOut}.`);
    return differences > 0 ? 1 : unchecked > 0 ? 2 : 0;
  });
}

/** The verb, which is a program by itself as well. */
export const RECONCILE: Verb<{ readonly env: Env; readonly out: Output }> = {
  usage: "[--quick] [--accept-hot-wallet]",
  help: "compares the books with themselves and with the chains",
  run: ({ env, out }, _, { quick, "accept-hot-wallet": accepts }) =>
    reconcile(env, out, quick !== undefined, accepts !== undefined),
};

function printPart({ network, rules, holdings }: ReportedPart, out: Output): void {
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

/**
 * Carries out `deno task reconcile`.
 *
 * @returns the exit code: 0 no difference, 1 a difference, 2 where something or all of it could not
 *   be compared, as without its database
 */
export async function reconcileCommand(
  line: readonly string[],
  env: Env,
  out: Output,
): Promise<number> {
  const program = {
    title: "deno task reconcile",
    verbs: [RECONCILE],
    notes: "",
    faultCode: 2,
  } as const;
  try {
    return await runProgram(program, { env, out }, line, out);
  } catch (error) {
    // a fault of the program must not look like a difference
    out.error(error instanceof Error ? error.stack ?? error.message : String(error));
    return 2;
  }
}

if (import.meta.main) {
  Deno.exit(await reconcileCommand(Deno.args, Deno.env.toObject(), console));
}
