import type { Network } from "../../ledger/money/pair.ts";
import { depositBranch } from "../deposit_branch.ts";
import { addressEncoder } from "./address_encoders.ts";
import type { PublicAccount } from "./wallet_file.ts";

/** Deposit addresses of a network, from the public key alone: the address of an index. */
export function publicAddresses(
  network: Network,
  account: PublicAccount,
): (index: number) => string {
  const keyOf = depositBranch(account.depositXpub);
  const encode = addressEncoder(network);
  return (index) => encode(keyOf(index));
}
