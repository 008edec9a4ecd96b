import { HDKey } from "@scure/bip32";
import type { Network } from "../../ledger/pair.ts";
import { addressEncoder } from "./address_encoders.ts";
import { DEPOSIT_BRANCH } from "./derivation_paths.ts";
import type { PublicAccount } from "./wallet_file.ts";

/** Deposit addresses of a network, from the public key alone: the address of an index. */
export function publicAddresses(
  network: Network,
  account: PublicAccount,
): (index: number) => string {
  const branch = HDKey.fromExtendedKey(account.xpub).deriveChild(DEPOSIT_BRANCH);
  const encode = addressEncoder(network);
  return (index) => {
    const { publicKey } = branch.deriveChild(index);
    if (publicKey === null) throw new Error(`Cannot derive an address as it has no key: ${index}`);
    return encode(publicKey);
  };
}
