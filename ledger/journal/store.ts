import { logEvent } from "../../log/log_event.ts";
import type { Sql } from "postgres";
import { classifyDatabaseError, isLocked, isTransient } from "../database/database_errors.ts";
import { delay } from "../database/delay.ts";
import { readHaltedNetworks } from "../failover/holds.ts";
import { readAccounts } from "./read_accounts.ts";
import {
  quarantineInboxRows,
  releaseBroken,
  releaseClaimed,
  releaseUnclaimed,
} from "./quarantine_rows.ts";
import { readInbox, readInboxOwners } from "./read_inbox.ts";
import { readRecords } from "./read_records.ts";
import { readSettings } from "../settings.ts";
import { readSignedBatches } from "../treasury/signed_batches.ts";
import { checkVersions, resolveCommit, writeBatch } from "./write_batch.ts";
import { auditedRefusal, isTakenMeanwhile } from "./write_error.ts";

/** The database as the journal uses it; the only way money becomes durable. */
export type JournalStore = ReturnType<typeof createJournalStore>;

/** The journal's store on PostgreSQL. */
export function createJournalStore(sql: Sql) {
  const bound =
    <Args extends unknown[], Answer>(ask: (sql: Sql, ...args: Args) => Answer) =>
    (...args: Args): Answer => ask(sql, ...args);
  return {
    readSettings: bound(readSettings),
    readAccounts: bound(readAccounts),
    readRecords: bound(readRecords),
    readInbox: bound(readInbox),
    readInboxOwners: bound(readInboxOwners),
    checkVersions: bound(checkVersions),
    writeBatch: bound(writeBatch),
    readHaltedNetworks: bound(readHaltedNetworks),
    readSignedBatches: bound(readSignedBatches),
    resolveCommit: bound(resolveCommit),
    quarantineInboxRows: bound(quarantineInboxRows),
    releaseClaimed: bound(releaseClaimed),
    releaseUnclaimed: bound(releaseUnclaimed),
    releaseBroken: bound(releaseBroken),
    /** True where an error leaves the outcome unknown (the connection was lost). */
    isConnectionError: (error: unknown) => classifyDatabaseError(error) === "connection",
    /** True where an error is the server's own: nothing was written, and no message is to blame. */
    isTransient,
    /** True where a row that another transaction locks, or a statement that took too long, is to blame. */
    isLocked,
    /** True where a write came second to a unique key; decided again, it is refused. */
    isTakenMeanwhile,
    /** The refusal that only audited commands of a batch can be to blame for; null for any other error. */
    auditedRefusal,
  };
}

/** Pause before a lost database is asked again. */
const RETRY_MS = 100;
/** Connections that a question may lose while the database answers others. */
const LOSSES = 8;

/**
 * Asks the database again until it answers. For questions that change nothing, so that waiting loses
 * nothing: a sender's own deadline answers it. A question that loses its connection again and again
 * while the database answers others is given up: it would hold all merchants.
 *
 * @param isStopping ends the waiting
 * @param onLost called for every connection that was lost: another server may answer next
 * @throws any error but a lost connection, and that one when given up
 */
export async function retry<T>(
  store: JournalStore,
  isStopping: () => boolean,
  ask: () => Promise<T>,
  onLost: () => void,
): Promise<T> {
  for (let losses = 1;; losses++) {
    try {
      return await ask();
    } catch (error) {
      if (!store.isConnectionError(error)) throw error;
      onLost();
      if (isStopping() || losses === LOSSES) throw error;
      logEvent("database.silent", { error });
      await untilThere(store, isStopping);
    }
  }
}

/** Waits until the database answers anything at all. */
async function untilThere(store: JournalStore, isStopping: () => boolean): Promise<void> {
  do {
    await delay(RETRY_MS);
    try {
      await store.readSettings();
      return;
    } catch (error) {
      if (!store.isConnectionError(error)) return;
    }
  } while (!isStopping());
}
