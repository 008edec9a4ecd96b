import { logEvent } from "../../log/log_event.ts";
import type { Sql } from "postgres";
import { classifyDatabaseError, isLocked, isTransient } from "../database/database_errors.ts";
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
import { type AuditedRefusal, auditedRefusal, isTakenMeanwhile } from "./write_error.ts";

type Bound<F> = F extends (sql: Sql, ...rest: infer A) => infer R ? (...rest: A) => R : never;

/** The database as the journal uses it; the only way money becomes durable. */
export interface JournalStore {
  readonly readSettings: Bound<typeof readSettings>;
  readonly readAccounts: Bound<typeof readAccounts>;
  readonly readRecords: Bound<typeof readRecords>;
  readonly readInbox: Bound<typeof readInbox>;
  readonly readInboxOwners: Bound<typeof readInboxOwners>;
  readonly checkVersions: Bound<typeof checkVersions>;
  readonly writeBatch: Bound<typeof writeBatch>;
  readonly readHaltedNetworks: Bound<typeof readHaltedNetworks>;
  readonly readSignedBatches: Bound<typeof readSignedBatches>;
  readonly resolveCommit: Bound<typeof resolveCommit>;
  readonly quarantineInboxRows: Bound<typeof quarantineInboxRows>;
  readonly releaseClaimed: Bound<typeof releaseClaimed>;
  readonly releaseUnclaimed: Bound<typeof releaseUnclaimed>;
  readonly releaseBroken: Bound<typeof releaseBroken>;
  /** True where an error leaves the outcome unknown (the connection was lost). */
  isConnectionError(error: unknown): boolean;
  /** True where an error is the server's own: nothing was written, and no message is to blame. */
  isTransient(error: unknown): boolean;
  /** True where a row that another transaction locks, or a statement that took too long, is to blame. */
  isLocked(error: unknown): boolean;
  /** True where a write came second to a unique key; decided again, it is refused. */
  isTakenMeanwhile(error: unknown): boolean;
  /** The refusal that only audited commands of a batch can be to blame for; null for any other error. */
  auditedRefusal(error: unknown): AuditedRefusal | null;
}

/** The journal's store on PostgreSQL. */
export function createJournalStore(sql: Sql): JournalStore {
  return {
    readSettings: () => readSettings(sql),
    readAccounts: (ids) => readAccounts(sql, ids),
    readRecords: (needs) => readRecords(sql, needs),
    readInbox: (ids, share) => readInbox(sql, ids, share),
    readInboxOwners: (limit) => readInboxOwners(sql, limit),
    checkVersions: (epoch, accounts) => checkVersions(sql, epoch, accounts),
    writeBatch: (commitId, epoch, changes) => writeBatch(sql, commitId, epoch, changes),
    readHaltedNetworks: (networks) => readHaltedNetworks(sql, networks),
    readSignedBatches: (network) => readSignedBatches(sql, network),
    resolveCommit: (commitId, ids) => resolveCommit(sql, commitId, ids),
    quarantineInboxRows: (rows) => quarantineInboxRows(sql, rows),
    releaseClaimed: (after) => releaseClaimed(sql, after),
    releaseUnclaimed: () => releaseUnclaimed(sql),
    releaseBroken: () => releaseBroken(sql),
    isConnectionError: (error) => classifyDatabaseError(error) === "connection",
    isTransient,
    isLocked,
    isTakenMeanwhile,
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
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    try {
      await store.readSettings();
      return;
    } catch (error) {
      if (!store.isConnectionError(error)) return;
    }
  } while (!isStopping());
}
