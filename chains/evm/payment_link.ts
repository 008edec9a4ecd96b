/**
 * Links that wallets open with receiver, token and amount filled in, after EIP-681.
 *
 * @module
 */

import { type Amount, toTokenUnits } from "../../ledger/money/amount.ts";
import type { TokenContract } from "./read/read_balance.ts";

/**
 * The link of a transfer of tokens.
 *
 * @param to the receiver
 * @param amount null: the payer names it
 * @throws {RangeError} when the amount is finer than the token
 */
export function paymentLink(
  chainId: number,
  { contract, decimals }: TokenContract,
  to: string,
  amount: Amount | null,
): string {
  const link = `ethereum:${contract}@${chainId}/transfer?address=${to}`;
  return amount === null ? link : `${link}&uint256=${toTokenUnits(amount, decimals)}`;
}
