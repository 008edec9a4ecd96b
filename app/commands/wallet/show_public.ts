import { openPublicWallet, publicFileText } from "../../../chains/wallet/public_wallet.ts";
import { need, Refused } from "./refused.ts";

/**
 * The text of the service's own wallet file: public keys and nothing else.
 *
 * @throws {Refused} when there is no wallet
 */
export async function showPublic(env: Readonly<Record<string, string>>): Promise<string> {
  const file = need(env, "WALLET_FILE");
  try {
    return publicFileText(await openPublicWallet(file));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new Refused(`Cannot show the wallet as WALLET_FILE names no file: ${file}`);
  }
}
