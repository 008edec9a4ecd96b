/**
 * The wallet: `deno task wallet <verb>`. Made or imported, shown without its secrets, and recovered
 * after the restore of an older copy of the database.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { WalletFault } from "../../chains/wallet/wallet_fault.ts";
import type { Output } from "./reconcile.ts";
import { makeWallet } from "./wallet/make_wallet.ts";
import { closeLost, recover, showLost } from "./wallet/recover.ts";
import { Refused } from "./wallet/refused.ts";
import { showPublic } from "./wallet/show_public.ts";

/** Where the words of a mnemonic come from. */
export type ReadWords = () => Promise<string>;

type Env = Readonly<Record<string, string>>;

const USAGE = `deno task wallet <verb>

  create [--show-mnemonic] [--networks TRX,...]   makes WALLET_FILE, encrypted with the passphrase in
                                                  WALLET_PASSPHRASE_FILE; shows the words this once
  import [--networks TRX,...]                     the same from words on the standard input
  show-public                                     the public keys, as the service's own WALLET_FILE
  recover --network TRX [--gap 1000]              after the restore of an older copy of the database:
                                                  jumps ahead by the gap and watches it
  unclaimed                                       payments to addresses that a restore has forgotten
  close --network TRX <txid>                      takes one off that list, once a deposit names it

See docs/operations.md.`;

const OPTIONS = {
  "show-mnemonic": { type: "boolean" },
  networks: { type: "string" },
  network: { type: "string" },
  gap: { type: "string" },
} as const;

/** Options and words that each verb takes. */
const VERBS: Readonly<
  Record<string, { readonly options: readonly (keyof typeof OPTIONS)[]; readonly words: number }>
> = {
  create: { options: ["show-mnemonic", "networks"], words: 0 },
  import: { options: ["networks"], words: 0 },
  "show-public": { options: [], words: 0 },
  recover: { options: ["network", "gap"], words: 0 },
  unclaimed: { options: [], words: 0 },
  close: { options: ["network"], words: 1 },
};

/**
 * Carries out one command line.
 *
 * @returns the exit code: 0 done, 1 refused, 2 not understood
 */
export async function wallet(
  args: readonly string[],
  env: Env,
  readWords: ReadWords,
  out: Output,
): Promise<number> {
  const [verb = "", ...rest] = args;
  const known = Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined;
  let parsed;
  try {
    parsed = parseArgs({ args: [...rest], options: OPTIONS, allowPositionals: true });
  } catch {
    parsed = null;
  }
  const given = Object.keys(parsed?.values ?? {});
  if (
    known === undefined || parsed === null || parsed.positionals.length !== known.words ||
    !given.every((name) => known.options.some((option) => option === name))
  ) {
    // never with what was given: it may be a mnemonic that does not belong here
    out.error(USAGE);
    return 2;
  }
  const { values, positionals: [word = ""] } = parsed;
  try {
    switch (verb) {
      case "create":
        out.log(await makeWallet(env, values.networks, null, values["show-mnemonic"] === true));
        return 0;
      case "import":
        out.log(await makeWallet(env, values.networks, await readWords(), false));
        return 0;
      case "show-public":
        out.log(await showPublic(env));
        return 0;
      case "recover":
        out.log(await recover(env, values.network, values.gap));
        return 0;
      case "unclaimed":
        out.log(await showLost(env));
        return 0;
      default:
        out.log(await closeLost(env, values.network, word));
        return 0;
    }
  } catch (error) {
    if (!(error instanceof Refused || error instanceof WalletFault)) throw error;
    out.error(error.message);
    return 1;
  }
}

if (import.meta.main) {
  const readWords = async () => {
    // deno-lint-ignore no-console -- for the person at the terminal
    if (Deno.stdin.isTerminal()) console.error("Type the words, then Enter and Ctrl-D:");
    return await new Response(Deno.stdin.readable).text();
  };
  Deno.exit(await wallet(Deno.args, Deno.env.toObject(), readWords, console));
}
