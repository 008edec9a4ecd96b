import { createWallet } from "../../../chains/wallet/create_wallet.ts";
import { readPassphraseFile } from "../../../chains/wallet/secret_file.ts";
import { exportMnemonic } from "../../../chains/wallet/unlock_wallet.ts";
import { type Network, SERVED_NETWORKS } from "../../../ledger/money/pair.ts";
import { need, Refused } from "./refused.ts";

/**
 * Makes a wallet file, from new words or from those given.
 *
 * @param networks separated by commas; all that are supported when left out
 * @param words an English BIP-39 mnemonic, `null` for a new one
 * @param isShown whether new words are part of the answer
 * @returns what to print
 * @throws {Refused} when a wallet is there already, or the words or the passphrase are unfit
 */
export async function makeWallet(
  env: Readonly<Record<string, string>>,
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
      networks: networksOf(networks),
      ...(words === null ? {} : { mnemonic: words }),
    });
    const lines = Object.entries(wallet.networks).map(([network, account]) =>
      `  ${network.padEnd(12)}hot wallet ${account.hotWallet}`
    );
    const secret = isShown
      ? `\n\nThe words, shown this once; whoever has them has the money:\n\n${await exportMnemonic(
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

function networksOf(text: string | undefined): readonly Network[] {
  if (text === undefined) return SERVED_NETWORKS;
  return text.split(",").map((name) => {
    const network = SERVED_NETWORKS.find((known) => known === name.trim());
    if (network !== undefined) return network;
    throw new Refused(
      `Cannot make a wallet as a network is none of ${SERVED_NETWORKS}: ${name}`,
    );
  });
}
