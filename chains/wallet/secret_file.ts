/**
 * Files that hold secrets.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";

const logger = getLogger(["engine", "chains", "wallet"]);

/**
 * Checks who may touch a secret file. Readable by others is only warned of, because mounted
 * secrets of container platforms are.
 *
 * @throws {Error} when other users may change it
 */
export async function requireOwnerOnly(file: string, what: string): Promise<void> {
  const { mode } = await Deno.stat(file);
  if (mode === null) return;
  const digits = (mode & 0o777).toString(8);
  if ((mode & 0o022) !== 0) {
    throw new Error(`Cannot use the ${what} as others may change its file: ${file} (${digits})`);
  }
  if ((mode & 0o044) !== 0) {
    logger.warn("Others may read the {what}: {file} ({mode}); 600 is safer", {
      what,
      file,
      mode: digits,
    });
  }
}

/**
 * Reads a passphrase from its file: the first line, without its line break.
 *
 * @throws {Error} when the file is empty or other users may change it
 */
export async function readPassphraseFile(file: string): Promise<string> {
  await requireOwnerOnly(file, "passphrase");
  const passphrase = (await Deno.readTextFile(file)).split(/\r?\n/, 1)[0] ?? "";
  if (passphrase === "") throw new Error(`Cannot use the passphrase as its file is empty: ${file}`);
  return passphrase;
}
