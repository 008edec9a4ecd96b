import { WalletFault } from "../../chains/wallet/secret_file.ts";
import { MigrationMismatch } from "../../ledger/database/migrate.ts";
import { OtherEnvironment } from "../../ledger/installation.ts";
import { UnusableFolder } from "./data_folder.ts";
import { UnusableChain } from "./open_chains.ts";
import { isUnsafeServer } from "./open_database.ts";

/** Waits for SIGTERM or SIGINT; repeated signals change nothing. */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    Deno.addSignalListener("SIGTERM", () => resolve());
    Deno.addSignalListener("SIGINT", () => resolve());
  });
}

function printRefusal(reason: string): void {
  // deno-lint-ignore no-console -- for the person at the terminal; there may be no logger yet
  console.error(`Cannot start${reason}`);
}

/** Ends before anything is served, for a reason that the person who started it can mend. */
export function refuseStart(reason: string): never {
  printRefusal(reason);
  Deno.exit(2);
}

/** The same once parts are open, which are closed first. */
export async function refuseOpened(reason: string, close: () => Promise<void>): Promise<never> {
  printRefusal(reason);
  await close();
  Deno.exit(2);
}

/**
 * Refuses to start with a wallet, nodes, a server, a database or a data folder that must not be used; other
 * errors are thrown on.
 *
 * @param close ends what is open already and would outlive the process
 */
export async function refuse(error: unknown, close?: () => Promise<void>): Promise<never> {
  const isFault = error instanceof WalletFault || error instanceof UnusableChain ||
    error instanceof UnusableFolder || error instanceof MigrationMismatch ||
    error instanceof OtherEnvironment || isUnsafeServer(error);
  if (!isFault) throw error;
  printRefusal(`: ${error.message}`);
  await close?.();
  Deno.exit(2);
}
