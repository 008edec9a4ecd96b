import { logEvent } from "../../log/log_event.ts";
import type { Config } from "../config/config.ts";
import {
  countSecrets,
  type KeptSecrets,
  listOtherSecrets,
  replaceSecrets,
  type SecretFigures,
} from "../../ledger/outbox/kept_secrets.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { createSecretBox, openIfReadable, type SecretBox } from "../../webhooks/secret_box.ts";
import { storedOrMade } from "./data_folder.ts";

/** Merchants that are read at a time. */
const BATCH = 500;
/** Pause between two counts of the secrets that cannot be opened. */
const COUNT_MS = 30_000;

/** The box of callback secrets, and counts of those it cannot open. */
export interface CallbackSecrets {
  readonly box: SecretBox;
  /** As of the last count. */
  readonly figures: SecretFigures;
  /** Counts again. */
  look(): Promise<void>;
  close(): void;
}

/**
 * Opens the box with the configured keys (in development with one that is made once and kept), and
 * encrypts with the newest one what is not. A secret that no key opens does not keep the service from starting:
 * its merchant's callbacks wait, which health reports, until it has another secret or the key is back.
 */
export async function openCallbackSecrets(config: Config, sql: Sql): Promise<CallbackSecrets> {
  const { current, earlier } = config.callbackSecrets;
  const box = await createSecretBox(
    current?.reveal() ?? await storedOrMade(`${config.dataDir}/callback-secrets-key`),
    earlier.map((key) => key.reveal()),
  );
  const { sealed, unreadable } = await sealAll(sql, box);
  if (sealed > 0) {
    logEvent("callback.secrets_encrypted", {
      sealed,
      keyId: box.keyId,
    });
  }
  if (unreadable.length > 0) {
    logEvent("callback.secrets_unreadable", {
      count: unreadable.length,
      merchantIds: unreadable.slice(0, 20).join(", "),
    });
  }
  let figures = await countSecrets(sql, box.keyIds);
  let looking = false;
  const look = async () => {
    if (looking) return;
    looking = true;
    try {
      figures = await countSecrets(sql, box.keyIds);
    } catch (error) {
      logEvent("callback.secrets_uncounted", { error });
    } finally {
      looking = false;
    }
  };
  const timer = setInterval(look, COUNT_MS);
  return {
    box,
    look,
    get figures() {
      return figures;
    },
    close: () => clearInterval(timer),
  };
}

/** Encrypts every secret that is not, or by an earlier key; what cannot be opened stays as it is. */
async function sealAll(
  sql: Sql,
  box: SecretBox,
): Promise<{ readonly sealed: number; readonly unreadable: readonly string[] }> {
  let sealed = 0;
  const unreadable: string[] = [];
  for await (const kept of otherSecrets(sql, box)) {
    const { merchantId, current, previous, isPreviousOver } = kept;
    const now = await reseal(current, merchantId, box);
    const before = previous === null ? null : await reseal(previous, merchantId, box);
    if (now === null) unreadable.push(merchantId);
    const fresh = {
      current: now ?? current,
      // one that is over is used no more, and with its key gone it never can be
      previous: before ?? (isPreviousOver ? null : previous),
    };
    if (fresh.current === current && fresh.previous === previous) continue;
    if (await replaceSecrets(sql, kept, fresh)) sealed++;
  }
  return { sealed, unreadable };
}

async function* otherSecrets(sql: Sql, box: SecretBox): AsyncGenerator<KeptSecrets> {
  let after = "";
  for (;;) {
    const found = await listOtherSecrets(sql, `enc1:${box.keyId}:`, after, BATCH);
    yield* found;
    const last = found.at(-1);
    if (last === undefined) return;
    after = last.merchantId;
  }
}

/** @returns null where no key opens it */
async function reseal(text: string, merchantId: string, box: SecretBox): Promise<string | null> {
  const secret = await openIfReadable(box.open, text, merchantId);
  return secret === null ? null : await box.seal(secret, merchantId);
}
