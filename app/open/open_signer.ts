/**
 * Composes a signer: the wallet's keys, the intents over a connection of its own, and the builders
 * of the networks it signs for. Runs inside the signer's worker or process, never in the service.
 *
 * @module
 */

import { createSigner, steadyClock } from "../../chains/signer/create_signer.ts";
import { LastingFailure } from "../../chains/signer/lasting_failure.ts";
import type { PinnedNonces } from "../../chains/signer/pinned_nonces.ts";
import type { SignedMemory } from "../../chains/signer/signed_memory.ts";
import { SpendingLimits, type SpentHours } from "../../chains/signer/signing_rules.ts";
import type { SignerSettings } from "../../chains/signer/signer_settings.ts";
import type { StoredSignature } from "../../chains/signer/stored_signature.ts";
import { familyOf } from "../../chains/families.ts";
import type { IntentSource, Signer } from "../../chains/signer.ts";
import { readPassphraseFile } from "../../chains/wallet/secret_file.ts";
import { unlockWallet } from "../../chains/wallet/unlock_wallet.ts";
import { connect } from "../../ledger/database/connect.ts";
import { readIntents } from "../../ledger/treasury/intents.ts";
import { readUsedNonces } from "../../ledger/treasury/used_nonces.ts";

/** Well below the time-out of a signature. */
const STATEMENT_TIMEOUT_MS = 5_000;

/** Bound of the question whether the database is there. */
const CHECK_MS = 3_000;

/** State that a signer takes over from an earlier process and leaves to the next. */
export interface SignerState {
  readonly isPaused: () => boolean | Promise<boolean>;
  /** Amounts that an earlier process signed away. */
  readonly spent?: SpentHours;
  /** Makes the amounts that are signed away durable. */
  readonly persistSpent?: (spent: SpentHours) => Promise<void>;
  /** Signatures that an earlier process made lately. */
  readonly memory?: SignedMemory;
  /** Nonces that an earlier process gave. */
  readonly nonces?: PinnedNonces;
  /** Makes signatures durable. */
  readonly persistSigned?: (batch: readonly StoredSignature[]) => Promise<void>;
}

/** A composed signer. */
export interface OpenSigner {
  readonly signer: Required<Signer>;
  readonly walletId: string;
  /** True if its connection to the database works; bounded. */
  reachesDatabase(): Promise<boolean>;
  /** Amounts signed away in the last day, by asset and network. */
  spent(): Readonly<Record<string, string>>;
  /** Wipes the keys and ends the connection. */
  close(): Promise<void>;
}

/** Asks for an intent that does not exist. */
async function reaches(intents: IntentSource, away: LastingFailure): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(`it did not answer within ${CHECK_MS} ms`), CHECK_MS);
  });
  try {
    await Promise.race([intents.read(["-"]), late]);
    away.succeeded();
    return true;
  } catch (error) {
    away.failed(error);
    return false;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Composes a signer.
 *
 * @throws {Error} when the wallet cannot be unlocked; the database is not asked yet
 */
export async function openSigner(
  settings: SignerSettings,
  state: SignerState,
): Promise<OpenSigner> {
  const builders = await Promise.all(
    settings.networks.map((one) => familyOf(one.network).builder(one)),
  );
  const keys = await unlockWallet(
    settings.walletFile,
    await readPassphraseFile(settings.passphraseFile),
  );
  const sql = connect(settings.databaseUrl, {
    max: 2,
    applicationName: "signer",
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    readsOnly: true,
  });
  const { isPaused, persistSpent, memory, nonces, persistSigned } = state;
  const intents: IntentSource = {
    read: (ids) => readIntents(sql, ids),
    readUsed: (places) => readUsedNonces(sql, places),
  };
  const away = new LastingFailure("signer.database_away", "reaching the database");
  const steady = steadyClock();
  const spending = new SpendingLimits(settings.limits ?? {}, state.spent);
  return {
    signer: createSigner({
      keys,
      intents,
      builders,
      ...(settings.coldAddresses === undefined ? {} : { coldAddresses: settings.coldAddresses }),
      spending,
      ...(persistSpent === undefined ? {} : { persistSpent }),
      ...(memory === undefined ? {} : { memory }),
      ...(nonces === undefined ? {} : { nonces }),
      ...(persistSigned === undefined ? {} : { persistSigned }),
      isPaused,
      now: Date.now,
      steady,
    }),
    walletId: keys.walletId,
    reachesDatabase: () => reaches(intents, away),
    spent: () => spending.sums(steady()),
    async close() {
      keys.lock();
      await sql.end({ timeout: 3 });
    },
  };
}
