/**
 * Files that hold secrets, or what is confidential.
 *
 * @module
 */

/**
 * A wallet, or a file of it, that must not be used. Its message is one line for the person who started
 * the program, and names what to do; it never holds a key.
 */
export class WalletFault extends Error {
  override readonly name = "WalletFault";
}

/**
 * Checks who may touch such a file. Its group may read it, as services get files that belong to another
 * user that way; every user of the machine may not.
 *
 * @throws {WalletFault} when other users may change it, or all users may read it
 */
export async function requireOwnerOnly(file: string, what: string): Promise<void> {
  const { mode } = await Deno.stat(file);
  if (mode === null) return;
  const digits = (mode & 0o777).toString(8);
  if ((mode & 0o022) !== 0) {
    throw new WalletFault(
      `Cannot use the ${what} as others may change its file, give it mode 600 or 640: ${file} (${digits})`,
    );
  }
  if ((mode & 0o004) !== 0) {
    throw new WalletFault(
      `Cannot use the ${what} as all users may read its file, give it mode 600 or 640: ${file} (${digits})`,
    );
  }
}

/**
 * Reads a passphrase from its file: the first line, without its line break.
 *
 * @throws {WalletFault} when the file is empty, or other users may read or change it
 */
export async function readPassphraseFile(file: string): Promise<string> {
  await requireOwnerOnly(file, "passphrase");
  const passphrase = (await Deno.readTextFile(file)).split(/\r?\n/, 1)[0] ?? "";
  if (passphrase === "") {
    throw new WalletFault(`Cannot use the passphrase as its file is empty: ${file}`);
  }
  return passphrase;
}
