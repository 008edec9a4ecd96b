/**
 * The administrator's command line: `deno task admin <verb>`. Speaks to the running service over
 * HTTP, with `ADMIN_API_KEY` and `PUBLIC_URL`, or in development with the credentials of the first
 * start. Only `bootstrap`, `audit verify`, `doctor` and `reconcile` use the database.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { readCredentials } from "../development/read_credentials.ts";
import { APPROVAL_VERBS } from "./admin/approvals.ts";
import { bootstrap } from "./admin/bootstrap.ts";
import { Client, Refused } from "./admin/client.ts";
import { doctorCommand } from "./admin/doctor.ts";
import { FAILOVER_VERBS } from "./admin/failover.ts";
import { KEY_VERBS } from "./admin/keys.ts";
import { MERCHANT_VERBS } from "./admin/merchants.ts";
import { OPERATION_VERBS } from "./admin/operations.ts";
import { PLATFORM_VERBS } from "./admin/platform.ts";
import { SCAN_VERBS } from "./admin/scans.ts";
import { TREASURY_VERBS } from "./admin/treasury.ts";
import type { Verb } from "./admin/verb.ts";
import { verifyAuditCommand } from "./admin/verify_audit.ts";
import { type Output, reconcile } from "./reconcile.ts";

const VERBS: readonly Verb[] = [
  ...MERCHANT_VERBS,
  ...KEY_VERBS,
  ...APPROVAL_VERBS,
  ...OPERATION_VERBS,
  ...TREASURY_VERBS,
  ...PLATFORM_VERBS,
  ...SCAN_VERBS,
  ...FAILOVER_VERBS,
];

type Env = Readonly<Record<string, string>>;

/** Width of the column of verbs. */
const COLUMN = 42;

/** One line of the usage; two where the verb fills its column. */
function usageLine(verb: string, help: string): string {
  const column = verb.length < COLUMN ? verb.padEnd(COLUMN) : `${verb}\n${" ".repeat(COLUMN + 2)}`;
  return `  ${column}${help}`;
}

function usage(): string {
  const lines = [
    ...VERBS.map(({ name, args, help }) =>
      usageLine([name, ...args.map((arg) => `<${arg}>`)].join(" "), help)
    ),
    usageLine("bootstrap", "the first administrator's key of a new installation, shown once"),
    usageLine("bootstrap another", "the key of another administrator, on the server: who approves"),
    usageLine(
      "audit verify [number:hash]",
      "computes the chain of the audit again, in the database",
    ),
    usageLine("doctor", "what is missing before real money can come, each with the way to mend it"),
    usageLine("reconcile", "compares the books with themselves and with the chains"),
  ];
  return `deno task admin <verb>

${lines.join("\n")}

A word alone shows its list: \`deno task admin pairs\`.
Speaks to the service at PUBLIC_URL with ADMIN_API_KEY; in development with the credentials that the
first start wrote to DATA_DIR.`;
}

/**
 * Carries out one command line.
 *
 * @returns the exit code: 0 done, 1 refused, 2 not understood
 */
export async function admin(
  args: readonly string[],
  env: Env,
  out: Output = console,
): Promise<number> {
  try {
    if (args[0] === "reconcile") return await reconcile(env, out, args.slice(1));
    if (args[0] === "doctor" && args.length === 1) return await doctorCommand(env, out);
    if (args[0] === "audit" && args[1] === "verify") {
      return await verifyAuditCommand(args.slice(2), env, out);
    }
    if (args[0] === "bootstrap") {
      const [, who, ...more] = args;
      if (more.length > 0 || (who !== undefined && who !== "another")) {
        out.error(usage());
        return 2;
      }
      out.log(
        `${await bootstrap(env, who === "another")}\n\nThe key is shown this once; keep it safe.`,
      );
      return 0;
    }
    const found = findVerb(args);
    if (found === null) {
      out.error(usage());
      return 2;
    }
    return await carryOut(found.verb, found.rest, env, out);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    out.error(error.message);
    return 1;
  }
}

/** The verb of a command line and what follows it; null where there is none. */
function findVerb(
  args: readonly string[],
): { readonly verb: Verb; readonly rest: readonly string[] } | null {
  const named = VERBS.find(({ name }) => name.split(" ").every((word, i) => args[i] === word));
  if (named !== undefined) {
    return { verb: named, rest: args.slice(named.name.split(" ").length) };
  }
  const [noun, ...rest] = args;
  if (rest[0] !== undefined && !rest[0].startsWith("-")) return null;
  const shown = [`${noun} list`, `${noun} show`];
  const verb = VERBS.find(({ name, args }) => shown.includes(name) && args.length === 0);
  return verb === undefined ? null : { verb, rest };
}

async function carryOut(
  verb: Verb,
  args: readonly string[],
  env: Env,
  out: Output,
): Promise<number> {
  let parsed;
  try {
    parsed = parseArgs({ args: [...args], options: verb.options, allowPositionals: true });
  } catch (error) {
    out.error(
      `${error instanceof Error ? error.message : error}\n  ${verb.name}: ${verb.help}`,
    );
    return 2;
  }
  const { positionals } = parsed;
  if (positionals.length !== verb.args.length) {
    const wanted = verb.args.map((arg) => `<${arg}>`).join(" ");
    out.error(`Expected: ${verb.name} ${wanted}  ${verb.help}`);
    return 2;
  }
  const options = Object.fromEntries(
    Object.entries(parsed.values).filter(([, value]) => !Array.isArray(value)),
  ) as Readonly<Record<string, string | boolean | undefined>>;
  const names = positionals.map((text, i) => verb.args[i]?.includes("/") ? text : plain(text));
  out.log(await verb.run(await clientOf(env), names, options));
  return 0;
}

/** An id as a part of a path. */
function plain(text: string): string {
  return encodeURIComponent(text);
}

async function clientOf(env: Env): Promise<Client> {
  const { ADMIN_API_KEY: apiKey, PUBLIC_URL: publicUrl, DATA_DIR: dataDir } = env;
  const credentials = apiKey && publicUrl ? null : await readCredentials(dataDir || "./.data");
  const baseUrl = publicUrl || credentials?.baseUrl;
  const key = apiKey || credentials?.admin.apiKey;
  if (!baseUrl || !key) {
    throw new Refused(
      "Cannot speak to the service as ADMIN_API_KEY and PUBLIC_URL are not set, and no " +
        `development credentials are in ${dataDir || "./.data"}`,
    );
  }
  return new Client(baseUrl, key);
}

if (import.meta.main) Deno.exit(await admin(Deno.args, Deno.env.toObject()));
