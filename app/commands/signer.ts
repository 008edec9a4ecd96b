/**
 * The signer as a process of its own: `deno task signer`. Starts the process that holds the keys,
 * with the few permissions it needs, and passes signals on; holds no key itself. Further verbs:
 * `pause`, `resume`, `status`, `role`.
 *
 * @module
 */

import { pause, readPause, resume } from "../../chains/signer/pause_file.ts";
import { loadConfig } from "../config/config.ts";
import { grantSignerRole } from "../../ledger/database/grant_signer_role.ts";
import { connect } from "../../ledger/database/connect.ts";
import { type Env, need, type Output, type Program, Refused, runProgram } from "./command.ts";
import { askStatus } from "./signer/ask_status.ts";
import { runProcess } from "./signer/run_process.ts";
import { settingsOf } from "./signer/settings_of.ts";

const pauseFile = (env: Env) => `${need(env, "SIGNER_STATE_DIR")}/paused`;

const PROGRAM: Program<{ readonly env: Env; readonly out: Output }> = {
  title: "deno task signer [verb]",
  verbs: [
    { usage: "", help: "signs, until it is stopped", run: ({ env }) => run(env) },
    {
      usage: "pause [<why>...]",
      help: "nothing is signed from now on, also after a restart",
      run: async ({ env }, why) => {
        await pause(pauseFile(env), why.join(" "));
        return "Nothing is signed until: deno task signer resume";
      },
    },
    {
      usage: "resume",
      help: "signs again",
      run: async ({ env }) => {
        await resume(pauseFile(env));
        return "Signing is not paused.";
      },
    },
    {
      usage: "status",
      help: "whether it answers, is paused, and what it signed for in the last 24 hours",
      run: ({ env, out }) => status(env, out),
    },
    {
      usage: "role <name>",
      help: "reduces a PostgreSQL role (of DATABASE_URL) to what the signer reads",
      run: ({ env }, [name = ""]) => role(name, env),
    },
  ],
  notes: "Settings: see SIGNER_* and WALLET_* in .env.example, and docs/operations.md.",
};

/** Carries out one command line; see {@linkcode runProgram}. */
export async function signer(args: readonly string[], env: Env, out: Output): Promise<number> {
  return await runProgram(PROGRAM, { env, out }, args, out);
}

async function run(env: Env): Promise<number> {
  const loaded = loadConfig(env, "signer");
  if (!loaded.ok) {
    const faults = loaded.faults.join("\n  ");
    throw new Refused(`Cannot sign as the environment is wrong:\n  ${faults}`, 2);
  }
  const settings = await settingsOf(loaded.config).catch((error: unknown) => {
    throw new Refused(error instanceof Error ? error.message : String(error));
  });
  return await runProcess(settings, env);
}

async function status(env: Env, out: Output): Promise<number> {
  const found = await askStatus(need(env, "SIGNER_SOCKET"));
  const stateDir = env.SIGNER_STATE_DIR;
  if (found === null) {
    out.error("The signer does not answer.");
    const kept = stateDir ? await readPause(`${stateDir}/paused`) : null;
    if (kept !== null) out.error(pausedLine(kept));
    return 1;
  }
  out.log(`The signer answers; wallet ${found.walletId}.`);
  if (found.paused) out.log(pausedLine(found.pauseNote));
  if (!found.reachesDatabase) out.log("It cannot reach its database.");
  for (const asset of found.uncapped) {
    out.log(`Without a cap per transaction and per day: ${asset}`);
  }
  for (const [name, sum] of Object.entries(found.spent)) {
    out.log(`Signed for in the last 24 hours: ${sum} ${name}`);
  }
  return found.paused || !found.reachesDatabase ? 1 : 0;
}

function pausedLine(note: string): string {
  return `It is paused${note === "" ? "" : `: ${note}`}. To sign again: deno task signer resume`;
}

async function role(name: string, env: Env): Promise<string> {
  const sql = connect(need(env, "DATABASE_URL"), { max: 1, applicationName: "engine-signer-role" });
  try {
    const fault = await grantSignerRole(sql, name);
    if (fault !== null) throw new Refused(fault);
  } finally {
    await sql.end({ timeout: 5 });
  }
  return `${name} may read intents and addresses, and nothing else of the books.`;
}

if (import.meta.main) Deno.exit(await signer(Deno.args, Deno.env.toObject(), console));
