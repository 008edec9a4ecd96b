import type { Network } from "../ledger/pair.ts";
import type { ApiContext } from "./context.ts";

/**
 * Whether an address is one of the service's own: its wallets, or one it has handed out. Nobody may
 * be paid there: money would leave the books and not the house.
 */
export async function isOurs(
  address: string,
  network: Network,
  context: Pick<ApiContext, "chains" | "isOwnAddress" | "treasury">,
): Promise<boolean> {
  const { policy } = context.treasury(network);
  return address === context.chains.get(network)?.hotWallet ||
    address === policy?.cold?.address || await context.isOwnAddress(address) === true;
}
