/**
 * Prints what `deno task serve` starts the service with: the permissions that it needs outside development,
 * by its environment. It reads its code, its own folder, its public wallet file, certificates and the null
 * device; it writes its own folder and speaks through its sockets; it runs no program.
 *
 * @module
 */

import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { databaseAccess } from "../../ledger/database/database_url.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** The flags, or what is wrong with the environment. */
export type ServiceFlags =
  | { readonly ok: true; readonly flags: readonly string[] }
  | { readonly ok: false; readonly fault: string };

/**
 * The flags of the service.
 *
 * @param root folder of the code
 */
export function serviceFlags(env: Env, root: string): ServiceFlags {
  const folder = resolve(env.DATA_DIR || "./.data");
  // the service names the fault of a malformed one itself
  const database = databaseAccess(env.DATABASE_URL ?? "") ?? { sockets: [], files: [] };
  const sockets = [...(env.SIGNER_SOCKET ? [env.SIGNER_SOCKET] : []), ...database.sockets];
  // the passphrase too: the service refuses to run where the system lets it read that, and has to try
  const named = [env.WALLET_FILE, env.WALLET_PASSPHRASE_FILE].flatMap((path) =>
    path ? [resolve(path)] : []
  );
  const files = [...named, ...database.files];
  // the shell splits the flags at spaces, and Deno their values at commas
  const odd = [root, folder, ...sockets, ...files].find((path) => /[\s,]/.test(path));
  if (odd !== undefined) {
    return { ok: false, fault: `a path has a space or a comma: ${odd}` };
  }
  return {
    ok: true,
    flags: [
      "--allow-net",
      "--allow-env",
      "--allow-sys=uid",
      `--allow-read=${[root, folder, ...files, ...sockets, "/dev/null"].join(",")}`,
      `--allow-write=${[folder, ...sockets].join(",")}`,
    ],
  };
}

if (import.meta.main) {
  const answer = serviceFlags(
    Deno.env.toObject(),
    fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, ""),
  );
  // deno-lint-ignore no-console -- for the task that starts the service
  if (answer.ok) console.log(answer.flags.join(" "));
  // deno-lint-ignore no-console -- for the person who started it
  else console.error(`Cannot start as ${answer.fault}`);
  Deno.exit(answer.ok ? 0 : 2);
}
