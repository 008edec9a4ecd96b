import type { Sql } from "postgres";
import { classifyDatabaseError } from "../database/classify_database_error.ts";
import { isHeld } from "../database/is_held.ts";
import { isSetback } from "../database/is_setback.ts";
import { readStoppedNetworks } from "../failover/signing_stop.ts";
import { type AuditedRefusal, auditedRefusal } from "./audited_refusal.ts";
import { checkVersions } from "./check_versions.ts";
import { findReferences } from "./find_reference_holders.ts";
import { isTakenMeanwhile } from "./is_taken_meanwhile.ts";
import { readAccounts } from "./read_accounts.ts";
import { readFacts } from "./read_facts.ts";
import {
  quarantineInboxRow,
  readInbox,
  readInboxOwners,
  releaseBroken,
  releaseClaimed,
} from "./read_inbox.ts";
import { readSettings } from "./read_settings.ts";
import { resolveCommit } from "./resolve_commit.ts";
import { writeBatch } from "./write_batch.ts";

type Bound<F> = F extends (sql: Sql, ...rest: infer A) => infer R ? (...rest: A) => R : never;

/** The database as the journal uses it; the only way money becomes durable. */
export interface JournalStore {
  readonly readSettings: Bound<typeof readSettings>;
  readonly readAccounts: Bound<typeof readAccounts>;
  readonly readFacts: Bound<typeof readFacts>;
  readonly readInbox: Bound<typeof readInbox>;
  readonly readInboxOwners: Bound<typeof readInboxOwners>;
  readonly findReferences: Bound<typeof findReferences>;
  readonly checkVersions: Bound<typeof checkVersions>;
  readonly writeBatch: Bound<typeof writeBatch>;
  readonly readStoppedNetworks: Bound<typeof readStoppedNetworks>;
  readonly resolveCommit: Bound<typeof resolveCommit>;
  readonly quarantineInboxRow: Bound<typeof quarantineInboxRow>;
  readonly releaseClaimed: Bound<typeof releaseClaimed>;
  readonly releaseBroken: Bound<typeof releaseBroken>;
  /** Whether an error leaves the outcome unknown (the connection was lost). */
  isConnectionError(error: unknown): boolean;
  /** Whether an error is the server's own: nothing was written, and no message is to blame. */
  isSetback(error: unknown): boolean;
  /** Whether a row that another transaction locks, or a statement that took too long, is to blame. */
  isHeld(error: unknown): boolean;
  /** Whether a write came second to what can be taken once; decided again, it is refused. */
  isTakenMeanwhile(error: unknown): boolean;
  /** What only audited commands of a batch can be to blame for; null for any other error. */
  auditedRefusal(error: unknown): AuditedRefusal | null;
}

/** The journal's store on PostgreSQL. */
export function createJournalStore(sql: Sql): JournalStore {
  return {
    readSettings: () => readSettings(sql),
    readAccounts: (ids) => readAccounts(sql, ids),
    readFacts: (needs) => readFacts(sql, needs),
    readInbox: (ids, share) => readInbox(sql, ids, share),
    readInboxOwners: (limit) => readInboxOwners(sql, limit),
    findReferences: (wanted) => findReferences(sql, wanted),
    checkVersions: (epoch, slices) => checkVersions(sql, epoch, slices),
    writeBatch: (commitId, epoch, slices) => writeBatch(sql, commitId, epoch, slices),
    readStoppedNetworks: (networks) => readStoppedNetworks(sql, networks),
    resolveCommit: (commitId, ids) => resolveCommit(sql, commitId, ids),
    quarantineInboxRow: (key, reason) => quarantineInboxRow(sql, key, reason),
    releaseClaimed: () => releaseClaimed(sql),
    releaseBroken: () => releaseBroken(sql),
    isConnectionError: (error) => classifyDatabaseError(error) === "connection",
    isSetback,
    isHeld,
    isTakenMeanwhile,
    auditedRefusal,
  };
}
