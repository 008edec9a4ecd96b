import { dirname } from "node:path";
import { databaseHosts } from "../../chains/signer/signer_permissions.ts";
import type { ProcessSettings } from "./process_settings.ts";

/** Variables that Deno itself needs in the signer's process; nothing else reaches it. */
export const PASSED_ON = ["PATH", "HOME", "DENO_DIR", "DENO_CERT", "DENO_TLS_CA_STORE", "NO_COLOR"];

/**
 * The least the signer's process can run with: its two files, the folders of its state and of its
 * socket, its database, and what the PostgreSQL client reads from the environment.
 */
export function processFlags(settings: ProcessSettings): readonly string[] {
  const { walletFile, passphraseFile, stateDir, socket } = settings;
  const folders = [stateDir, dirname(socket)];
  return [
    "--no-prompt",
    "--cached-only",
    "--quiet",
    `--allow-read=${[walletFile, passphraseFile, ...folders].join(",")}`,
    `--allow-write=${folders.join(",")}`,
    `--allow-net=${[...databaseHosts(settings.databaseUrl), `unix:${socket}`].join(",")}`,
    "--allow-env=PG*",
  ];
}
