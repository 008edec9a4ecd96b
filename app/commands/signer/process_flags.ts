import { dirname } from "node:path";
import { databaseAccess } from "../../../ledger/database/database_url.ts";
import type { ProcessSettings } from "./process_settings.ts";

/** Variables that Deno itself needs in the signer's process; nothing else reaches it. */
export const PASSED_ON = ["PATH", "HOME", "DENO_DIR", "DENO_CERT", "DENO_TLS_CA_STORE", "NO_COLOR"];

/**
 * The least the signer's process can run with: its two files, the folders of its state and of its
 * socket, its database with the certificates that it trusts there, and what the PostgreSQL client reads
 * from the environment.
 *
 * @throws {TypeError} where the database's URL is malformed; the value is withheld, it holds a password
 */
export function processFlags(settings: ProcessSettings): readonly string[] {
  const { walletFile, passphraseFile, stateDir, socket } = settings;
  const database = databaseAccess(settings.databaseUrl);
  if (database === null) {
    throw new TypeError("Cannot restrict the signer as its database URL is malformed");
  }
  const folders = [stateDir, dirname(socket)];
  const sockets = [socket, ...database.sockets];
  const read = [walletFile, passphraseFile, ...folders, ...database.files, ...database.sockets];
  return [
    "--no-prompt",
    "--cached-only",
    "--quiet",
    `--allow-read=${read.join(",")}`,
    `--allow-write=${[...folders, ...database.sockets].join(",")}`,
    `--allow-net=${[...database.hosts, ...sockets.map((path) => `unix:${path}`)].join(",")}`,
    "--allow-env=PG*",
  ];
}
