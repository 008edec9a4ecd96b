/**
 * The administrator's command line: `deno task admin <verb>`. Speaks to the running service over
 * HTTP, with `ADMIN_API_KEY` and `PUBLIC_URL`, or in development with the credentials of the first
 * start. Only `bootstrap`, `audit verify`, `doctor` and `reconcile` use the database.
 *
 * @module
 */

import { readCredentials } from "../development/demo_accounts.ts";
import { ACCOUNT_VERBS } from "./admin/accounts.ts";
import { bootstrap } from "./admin/bootstrap.ts";
import { CALLBACK_VERBS } from "./admin/callbacks.ts";
import { type Access, type AdminContext, Client, verb } from "./admin/client.ts";
import { doctorCommand } from "./doctor.ts";
import { FAILOVER_VERBS } from "./admin/failover.ts";
import { PAYMENT_VERBS } from "./admin/payments.ts";
import { PLATFORM_VERBS } from "./admin/platform.ts";
import { TREASURY_VERBS } from "./admin/treasury.ts";
import { verifyAuditCommand } from "./admin/verify_audit.ts";
import { type Env, type Output, type Program, Refused, runProgram } from "./command.ts";
import { RECONCILE } from "./reconcile.ts";

const KEY_ONCE = "\n\nThe key is shown this once; keep it safe.";

const PROGRAM: Program<AdminContext> = {
  title: "deno task admin <verb>",
  verbs: [
    ...ACCOUNT_VERBS,
    ...PAYMENT_VERBS,
    ...CALLBACK_VERBS,
    ...TREASURY_VERBS,
    ...PLATFORM_VERBS,
    ...FAILOVER_VERBS,
    verb(
      "bootstrap",
      "the first administrator's key of a new installation, shown once",
      async ({ env }) => await bootstrap(env) + KEY_ONCE,
    ),
    verb(
      "bootstrap another",
      "the key of another administrator, on the server: who approves",
      async ({ env }) => await bootstrap(env, true) + KEY_ONCE,
    ),
    verb(
      "audit verify [<number:hash>]",
      "computes the chain of the audit again, in the database",
      ({ env, out }, [head]) => verifyAuditCommand(head, env, out),
    ),
    verb(
      "doctor",
      "what is missing before real money can come, each with the way to mend it",
      ({ env, out }) => doctorCommand(env, out),
    ),
    { ...RECONCILE, usage: `reconcile ${RECONCILE.usage}` },
  ],
  notes: `A word alone shows its list: \`deno task admin pairs\`.
Speaks to the service at PUBLIC_URL with ADMIN_API_KEY; in development with the credentials that the
first start wrote to DATA_DIR.`,
  listsByNoun: true,
};

/** Carries out one command line; see {@linkcode runProgram}. */
export async function admin(
  args: readonly string[],
  env: Env,
  out: Output = console,
): Promise<number> {
  const client = new Client(() => accessOf(env));
  return await runProgram(PROGRAM, { env, out, client }, args, out);
}

async function accessOf(env: Env): Promise<Access> {
  const { ADMIN_API_KEY: key, PUBLIC_URL: publicUrl, DATA_DIR: dataDir } = env;
  const credentials = key && publicUrl ? null : await readCredentials(dataDir || "./.data");
  const baseUrl = publicUrl || credentials?.baseUrl;
  const apiKey = key || credentials?.admin.apiKey;
  if (baseUrl && apiKey) return { baseUrl, apiKey };
  const lacking = [...(apiKey ? [] : ["ADMIN_API_KEY"]), ...(baseUrl ? [] : ["PUBLIC_URL"])];
  throw new Refused(
    `Cannot speak to the service as ${lacking.join(" and ")} ${
      lacking.length > 1 ? "are" : "is"
    } not set, and no development credentials are in ${dataDir || "./.data"}`,
  );
}

if (import.meta.main) Deno.exit(await admin(Deno.args, Deno.env.toObject()));
