import { getLogger } from "@logtape/logtape";
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
import { keep, randomHex, readKept } from "./kept_file.ts";

const log = getLogger(["engine", "setup"]);

/** Merchants that are read at a time. */
const BATCH = 500;
/** How often it is counted whose secrets cannot be opened. */
const LOOK_MS = 30_000;

/** The box of callback secrets, and how many it cannot open. */
export interface CallbackSecrets {
  readonly box: SecretBox;
  /** As of the last look. */
  readonly figures: SecretFigures;
  /** Counts again. */
  look(): Promise<void>;
  close(): void;
}

/**
 * Opens the box with the configured keys (in development with one that is made once and kept), and
 * encrypts with the newest one what is not. A secret that no key opens keeps nobody from starting:
 * its merchant's callbacks wait, which health tells, until it has another secret or the key is back.
 */
export async function openCallbackSecrets(config: Config, sql: Sql): Promise<CallbackSecrets> {
  const { current, earlier } = config.callbackSecrets;
  const box = await createSecretBox(
    current?.reveal() ?? await developmentKey(config.dataDir),
    earlier.map((key) => key.reveal()),
  );
  const { sealed, unreadable } = await sealAll(sql, box);
  if (sealed > 0) {
    log.info("encrypted the callback secrets of {sealed} merchants with the key {keyId}", {
      sealed,
      keyId: box.keyId,
    });
  }
  if (unreadable.length > 0) {
    log.fatal(
      "the callback secrets of {count} merchants fit neither CALLBACK_SECRETS_KEY nor a key of " +
        "CALLBACK_SECRETS_EARLIER_KEYS, so that their callbacks wait; the first are {merchantIds}",
      { count: unreadable.length, merchantIds: unreadable.slice(0, 20).join(", ") },
    );
  }
  let figures = await countSecrets(sql, box.keyIds);
  let looking = false;
  const look = async () => {
    if (looking) return;
    looking = true;
    try {
      figures = await countSecrets(sql, box.keyIds);
    } catch (error) {
      log.warn("cannot count the callback secrets: {error}", { error });
    } finally {
      looking = false;
    }
  };
  const timer = setInterval(look, LOOK_MS);
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
      // nobody goes by one that is over, and with its key gone nobody ever will
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

/** In development the key is made once and kept in the data folder. */
async function developmentKey(dataDir: string): Promise<string> {
  const file = `${dataDir}/callback-secrets-key`;
  const kept = await readKept(file);
  if (kept !== null) return kept;
  const made = randomHex();
  await keep(file, made);
  return made;
}
