/**
 * The wallet: `deno task wallet <verb>`. Made or imported, extended by networks, shown without its secrets, and
 * recovered after the restore of an older copy of the database.
 *
 * @module
 */

import { addNetworks } from "../../chains/wallet/add_networks.ts";
import { createWallet, reencryptWallet } from "../../chains/wallet/create_wallet.ts";
import { openPublicWallet, publicFileText } from "../../chains/wallet/public_wallet.ts";
import { readPassphraseFile } from "../../chains/wallet/secret_file.ts";
import { exportMnemonic } from "../../chains/wallet/unlock_wallet.ts";
import { WalletFault } from "../../chains/wallet/secret_file.ts";
import { FIRST_NETWORKS, SERVED_NETWORKS } from "../../chains/families.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { type Env, need, type Output, type Program, Refused, runProgram } from "./command.ts";
import { closeLost, recover, showLost } from "./recover.ts";

/** Reads the words of a mnemonic. */
type ReadWords = () => Promise<string>;

const PROGRAM: Program<{ readonly env: Env; readonly readWords: ReadWords }> = {
  title: "deno task wallet <verb>",
  verbs: [
    {
      usage: "create [--show-mnemonic] [--networks TRX,...]",
      help: "makes WALLET_FILE, encrypted with the passphrase in WALLET_PASSPHRASE_FILE; shows " +
        `the words this once; without --networks for ${FIRST_NETWORKS.join(" and ")}`,
      run: ({ env }, _, options) =>
        makeWallet(env, options.networks, null, options["show-mnemonic"] !== undefined),
    },
    {
      usage: "import [--networks TRX,...]",
      help: "the same from words on the standard input",
      run: async ({ env, readWords }, _, { networks }) =>
        await makeWallet(env, networks, await readWords(), false),
    },
    {
      usage: "passphrase <new-wallet-file> <new-passphrase-file>",
      help: "writes the same wallet to a new file, encrypted with another passphrase",
      run: ({ env }, [file = "", passphraseFile = ""]) =>
        changePassphrase(env, file, passphraseFile),
    },
    {
      usage: "add-networks --networks ETH,...",
      help:
        "adds the accounts of these networks, where WALLET_FILE lacks them; the earlier file is kept beside it",
      run: ({ env }, _, { networks }) => extendWallet(env, networks),
    },
    {
      usage: "show-public",
      help: "the public keys, as the service's own WALLET_FILE",
      run: ({ env }) => showPublic(env),
    },
    {
      usage: "recover [--network TRX] [--gap 1000]",
      help: "after the restore of an older copy of the database: jumps ahead by the gap and " +
        "watches it; needs --network",
      run: ({ env }, _, { network, gap }) => recover(env, network, gap),
    },
    {
      usage: "unclaimed",
      help: "payments to addresses that a restore has forgotten",
      run: ({ env }) => showLost(env),
    },
    {
      usage: "close <txid> [--network TRX]",
      help: "takes one off that list, once a deposit names it; needs --network",
      run: ({ env }, [txid = ""], { network }) => closeLost(env, network, txid),
    },
  ],
  notes: "See docs/operations.md.",
  // what was typed may be a mnemonic that does not belong here
  hidesInput: true,
};

/** Carries out one command line; see {@linkcode runProgram}. */
export async function wallet(
  args: readonly string[],
  env: Env,
  readWords: ReadWords,
  out: Output,
): Promise<number> {
  try {
    return await runProgram(PROGRAM, { env, readWords }, args, out);
  } catch (error) {
    if (!(error instanceof WalletFault)) throw error;
    out.error(error.message);
    return 1;
  }
}

/**
 * Makes a wallet file, from new words or from those given.
 *
 * @param networks separated by commas; those that are open from the start when left out
 * @param words an English BIP-39 mnemonic, `null` for a new one
 * @param isShown whether new words are part of the answer
 * @returns what to print
 * @throws {Refused} when a wallet is there already, or the words or the passphrase are unfit
 */
async function makeWallet(
  env: Env,
  networks: string | undefined,
  words: string | null,
  isShown: boolean,
): Promise<string> {
  const file = need(env, "WALLET_FILE");
  const passphraseFile = need(env, "WALLET_PASSPHRASE_FILE");
  try {
    const passphrase = await readPassphraseFile(passphraseFile);
    const wallet = await createWallet({
      file,
      passphrase,
      networks: networksOf(networks, FIRST_NETWORKS),
      ...(words === null ? {} : { mnemonic: words }),
    });
    const lines = Object.entries(wallet.networks).map(([network, account]) =>
      `  ${network.padEnd(12)}hot wallet ${account.hotWallet}`
    );
    const secret = isShown
      ? `\n\nThe words, shown this once; anyone who has them has the money:\n\n${await exportMnemonic(
        file,
        passphrase,
      )}`
      : "";
    return `Wallet ${wallet.walletId} is in ${file}:\n${lines.join("\n")}${secret}`;
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) {
      throw new Refused(`Cannot make a wallet as WALLET_FILE exists already: ${file}`);
    }
    if (error instanceof Deno.errors.NotFound) {
      throw new Refused(
        `Cannot make a wallet as WALLET_PASSPHRASE_FILE or the folder of WALLET_FILE does not exist`,
      );
    }
    if (error instanceof TypeError) throw new Refused(error.message);
    throw error;
  }
}

/**
 * Adds accounts of further networks to the wallet of WALLET_FILE. They are named one by one: a production
 * signer does not start while its wallet has a network without caps, and then the payouts of all networks wait.
 *
 * @param text the networks, separated by commas
 * @returns what to print
 * @throws {Refused} where a file is missing or unfit, none is named, or nothing is to be added
 */
async function extendWallet(env: Env, text: string | undefined): Promise<string> {
  const file = need(env, "WALLET_FILE");
  const passphraseFile = need(env, "WALLET_PASSPHRASE_FILE");
  const networks = networksOf(text, []);
  try {
    if (networks.length === 0) throw new Refused(await unnamedFault(file));
    const passphrase = await readPassphraseFile(passphraseFile);
    const { wallet, added, backup } = await addNetworks({ file, passphrase, networks });
    const lines = added.map((network) =>
      `  ${network.padEnd(12)}hot wallet ${wallet.networks[network]?.hotWallet}`
    );
    return `Wallet ${wallet.walletId} in ${file} has more networks:\n${lines.join("\n")}\n` +
      `It was before: ${backup}. Make the service's file again (deno task wallet show-public), ` +
      "restart signer and service, and then remove the earlier file.";
  } catch (error) {
    if (error instanceof WalletFault) throw error;
    throw new Refused(error instanceof Error ? error.message : String(error));
  }
}

/** The line for a command that names no network to add: those that the wallet in this file lacks. */
async function unnamedFault(file: string): Promise<string> {
  const { networks } = await openPublicWallet(file);
  const lacking = SERVED_NETWORKS.filter((network) => networks[network] === undefined);
  return lacking.length === 0
    ? `Cannot add a network as the wallet has an account of each: ${file}`
    : `Cannot add a network as --networks names none; it can be ${lacking.join(", ")}. ` +
      "Name only those whose caps the signer has: it does not start without them";
}

/** Writes the wallet of WALLET_FILE to a new file. @throws {Refused} where a file is missing, unfit or there already */
async function changePassphrase(
  env: Env,
  newFile: string,
  newPassphraseFile: string,
): Promise<string> {
  const file = need(env, "WALLET_FILE");
  try {
    const passphraseFile = need(env, "WALLET_PASSPHRASE_FILE");
    const { walletId } = await reencryptWallet({
      file,
      passphrase: await readPassphraseFile(passphraseFile),
      newFile,
      newPassphrase: await readPassphraseFile(newPassphraseFile),
    });
    return `Wallet ${walletId} is in ${newFile}. Set WALLET_FILE and WALLET_PASSPHRASE_FILE of the signer, ` +
      `restart it, and then remove both old files: ${file} and ${passphraseFile}.`;
  } catch (error) {
    if (error instanceof WalletFault) throw error;
    throw new Refused(error instanceof Error ? error.message : String(error));
  }
}

function networksOf(text: string | undefined, otherwise: readonly Network[]): readonly Network[] {
  if (text === undefined) return otherwise;
  return text.split(",").map((name) => {
    const network = SERVED_NETWORKS.find((known) => known === name.trim());
    if (network !== undefined) return network;
    throw new Refused(
      `Cannot use a network as it is none of ${SERVED_NETWORKS.join(", ")}: ${name}`,
    );
  });
}

/**
 * The text of the service's own wallet file: public keys and nothing else.
 *
 * @throws {Refused} when there is no wallet
 */
async function showPublic(env: Env): Promise<string> {
  const file = need(env, "WALLET_FILE");
  try {
    return publicFileText(await openPublicWallet(file));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new Refused(`Cannot show the wallet as WALLET_FILE names no file: ${file}`);
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
