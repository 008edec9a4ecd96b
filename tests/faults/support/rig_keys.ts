import { HDKey } from "@scure/bip32";
import type { AddressSource } from "../../../chains/address_source.ts";
import { depositBranch } from "../../../chains/deposit_branch.ts";
import { knownFamilyOf } from "../../../chains/families.ts";
import type { SigningKey } from "../../../chains/signer.ts";
import { networkKeys, type WalletName } from "../../../chains/wallet/network_keys.ts";
import type { KeySource } from "../../../chains/wallet/unlock_wallet.ts";
import type { Network } from "../../../ledger/money/pair.ts";

/** The wallet of a rig. */
export interface RigKeys {
  readonly source: KeySource;
  readonly hot: SigningKey;
  readonly deposits: AddressSource;
}

/** New keys of a network, whether a service may serve it or not. */
export function rigKeys(network: Network, walletId: string): RigKeys {
  const family = knownFamilyOf(network);
  if (family === undefined) throw new Error(`Cannot make keys as there is no family: ${network}`);
  const master = HDKey.fromMasterSeed(crypto.getRandomValues(new Uint8Array(32)));
  const keys = networkKeys(master, network);
  const keyOf = (wallet: WalletName): SigningKey => {
    const { privateKey, publicKey } = wallet === "hot"
      ? keys.hot
      : keys.deposits.deriveChild(wallet);
    if (privateKey === null || publicKey === null) throw new Error("Cannot derive a key");
    return { address: family.encodeAddress(publicKey), privateKey };
  };
  const publicKeyOf = depositBranch(keys.deposits.publicExtendedKey);
  return {
    source: {
      walletId,
      key: (of, wallet) => of === network ? keyOf(wallet) : null,
      address: (of, wallet) => of === network ? keyOf(wallet).address : null,
      lock: () => {},
    },
    hot: keyOf("hot"),
    deposits: { address: (index) => family.encodeAddress(publicKeyOf(index)) },
  };
}
