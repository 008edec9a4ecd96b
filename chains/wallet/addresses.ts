/**
 * Turns public keys into addresses. A network whose coin type is missing here cannot be put into a wallet
 * yet.
 *
 * @module
 */

import type { Network } from "../../ledger/money/pair.ts";
import { depositBranch } from "../deposit_branch.ts";
import { addressOfPublicKey } from "../tron/address.ts";
import { ACCOUNT_PATHS } from "./derivation_paths.ts";
import type { PublicAccount } from "./wallet_file.ts";

const ENCODERS: ReadonlyMap<number, (publicKey: Uint8Array) => string> = new Map([
  [195, addressOfPublicKey],
]);

/**
 * The encoder of a network.
 *
 * @returns takes a 33-byte compressed public key
 * @throws {TypeError} when wallets cannot hold that network yet
 */
export function addressEncoder(network: Network): (publicKey: Uint8Array) => string {
  const encoder = ENCODERS.get(ACCOUNT_PATHS[network].coinType);
  if (encoder !== undefined) return encoder;
  throw new TypeError(`Cannot derive addresses as the network has no wallet support: ${network}`);
}

/** Deposit addresses of a network, from the public key alone: the address of an index. */
export function publicAddresses(
  network: Network,
  account: PublicAccount,
): (index: number) => string {
  const keyOf = depositBranch(account.depositXpub);
  const encode = addressEncoder(network);
  return (index) => encode(keyOf(index));
}
