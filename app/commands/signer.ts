/**
 * The signer as a process of its own: `deno task signer`. Starts the process that holds the keys,
 * with the few permissions it needs, and passes signals on; holds no key itself. Further verbs:
 * `pause`, `resume`, `status`, `role`.
 *
 * @module
 */

import { isPaused, pause, resume } from "../../chains/signer/pause_file.ts";
import { loadConfig } from "../config/config.ts";
import { grantSignerRole } from "../../ledger/database/grant_signer_role.ts";
import { connect } from "../../ledger/database/connect.ts";
import type { Output } from "./reconcile.ts";
import { askStatus } from "./signer/ask_status.ts";
import { runProcess } from "./signer/run_process.ts";
import { settingsOf } from "./signer/settings_of.ts";

type Env = Readonly<Record<string, string>>;

const USAGE = `deno task signer [verb]

  (none)               signs, until it is stopped
  pause [why]          nothing is signed from now on, also after a restart
  resume               signs again
  status               whether it answers, is paused, and what it signed for in the last 24 hours
  role <name>          reduces a PostgreSQL role (of DATABASE_URL) to what the signer reads

Settings: see SIGNER_* and WALLET_* in .env.example, and docs/operations.md.`;

/** A refusal to be printed. */
class Refused extends Error {}

/** A variable that a verb cannot do without. */
function need(env: Env, name: string): string {
  const value = env[name];
  if (value) return value;
  throw new Refused(`Cannot go on as ${name} is missing`);
}

/**
 * Carries out one command line.
 *
 * @returns the exit code: 0 done, 1 refused, 2 not understood
 */
export async function signer(args: readonly string[], env: Env, out: Output): Promise<number> {
  const [verb, ...rest] = args;
  try {
    switch (verb) {
      case undefined:
        return await run(env, out);
      case "pause":
        await pause(`${need(env, "SIGNER_STATE_DIR")}/paused`, rest.join(" "));
        out.log("Nothing is signed until: deno task signer resume");
        return 0;
      case "resume":
        await resume(`${need(env, "SIGNER_STATE_DIR")}/paused`);
        out.log("Signing is not paused.");
        return 0;
      case "status":
        return await status(env, out);
      case "role":
        return await role(rest, env, out);
      default:
        out.error(USAGE);
        return 2;
    }
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    out.error(error.message);
    return 1;
  }
}

async function run(env: Env, out: Output): Promise<number> {
  const answer = loadConfig(env, "signer");
  if (!answer.ok) {
    out.error(`Cannot sign as the environment is wrong:\n  ${answer.faults.join("\n  ")}`);
    return 2;
  }
  let settings;
  try {
    settings = await settingsOf(answer.config);
  } catch (error) {
    throw new Refused(error instanceof Error ? error.message : String(error));
  }
  return await runProcess(settings, env);
}

async function status(env: Env, out: Output): Promise<number> {
  const found = await askStatus(need(env, "SIGNER_SOCKET"));
  const stateDir = env.SIGNER_STATE_DIR;
  if (found === null) {
    out.error("The signer does not answer.");
    if (stateDir && await isPaused(`${stateDir}/paused`)) out.error("It is paused.");
    return 1;
  }
  out.log(`The signer answers${found.paused ? " and is paused" : ""}; wallet ${found.walletId}.`);
  if (!found.reachesDatabase) out.log("It cannot reach its database.");
  for (const asset of found.uncapped) {
    out.log(`Without a cap per transaction and per day: ${asset}`);
  }
  for (const [name, sum] of Object.entries(found.spent)) {
    out.log(`Signed for in the last 24 hours: ${sum} ${name}`);
  }
  return found.paused || !found.reachesDatabase ? 1 : 0;
}

async function role(args: readonly string[], env: Env, out: Output): Promise<number> {
  const [name, ...more] = args;
  if (name === undefined || more.length > 0) {
    out.error(USAGE);
    return 2;
  }
  const sql = connect(need(env, "DATABASE_URL"), { max: 1, applicationName: "engine-signer-role" });
  try {
    const fault = await grantSignerRole(sql, name);
    if (fault !== null) throw new Refused(fault);
  } finally {
    await sql.end({ timeout: 5 });
  }
  out.log(`${name} may read intents and addresses, and nothing else of the books.`);
  return 0;
}

if (import.meta.main) Deno.exit(await signer(Deno.args, Deno.env.toObject(), console));
