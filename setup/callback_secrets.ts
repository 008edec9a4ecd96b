import { getLogger } from "@logtape/logtape";
import type { Config } from "../config.ts";
import {
  type KeptSecrets,
  listOtherSecrets,
  replaceSecrets,
  sampleSecret,
} from "../ledger/admin/kept_secrets.ts";
import type { Sql } from "../ledger/database/connect.ts";
import { createSecretBox, type SecretBox } from "../webhooks/secret_box.ts";
import { keep, randomHex, readKept } from "./kept_file.ts";

const log = getLogger(["engine", "setup"]);

/** Merchants that are read at a time. */
const BATCH = 500;

/** The box of callback secrets, or why the service cannot start with the key it was given. */
export type OpenedSecrets =
  | { readonly ok: true; readonly box: SecretBox }
  | { readonly ok: false; readonly reason: string };

/**
 * Opens the box with the configured keys (in development with one that is made once and kept), makes
 * sure that every secret in the database can be read, and encrypts with the newest key what is not.
 */
export async function openCallbackSecrets(config: Config, sql: Sql): Promise<OpenedSecrets> {
  const { current, earlier } = config.callbackSecrets;
  const box = await createSecretBox(
    current?.reveal() ?? await developmentKey(config.dataDir),
    earlier.map((key) => key.reveal()),
  );
  try {
    const sample = await sampleSecret(sql, prefixOf(box));
    if (sample !== null) await box.open(sample.current, sample.merchantId);
    const count = await sealAll(sql, box);
    if (count > 0) {
      log.info("encrypted the callback secrets of {count} merchants with the key {keyId}", {
        count,
        keyId: box.keyId,
      });
    }
    return { ok: true, box };
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith("Cannot decrypt")) throw error;
    const reason = `CALLBACK_SECRETS_KEY does not fit what is in the database, and no key of ` +
      `CALLBACK_SECRETS_EARLIER_KEYS does. ${error.message}`;
    return { ok: false, reason };
  }
}

function prefixOf(box: SecretBox): string {
  return `enc1:${box.keyId}:`;
}

/** Encrypts every secret that is not, or by an earlier key; all are read before one is changed. */
async function sealAll(sql: Sql, box: SecretBox): Promise<number> {
  for await (const kept of otherSecrets(sql, box)) await reseal(kept, box);
  let count = 0;
  for await (const kept of otherSecrets(sql, box)) {
    if (await replaceSecrets(sql, kept, await reseal(kept, box))) count++;
  }
  return count;
}

async function* otherSecrets(sql: Sql, box: SecretBox): AsyncGenerator<KeptSecrets> {
  let after = "";
  for (;;) {
    const found = await listOtherSecrets(sql, prefixOf(box), after, BATCH);
    yield* found;
    const last = found.at(-1);
    if (last === undefined) return;
    after = last.merchantId;
  }
}

async function reseal(kept: KeptSecrets, box: SecretBox): Promise<KeptSecrets> {
  const { merchantId, current, previous } = kept;
  const seal = async (text: string) => await box.seal(await box.open(text, merchantId), merchantId);
  return {
    merchantId,
    current: await seal(current),
    previous: previous === null ? null : await seal(previous),
  };
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
