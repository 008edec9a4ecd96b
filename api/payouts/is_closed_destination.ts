import { LOST_ACCOUNT } from "../../ledger/addresses/lost_account.ts";
import type { Network } from "../../ledger/money/pair.ts";
import type { ApiContext } from "../http/context.ts";

/**
 * True for an address that a merchant may not pay out to, as no other account would be credited: the
 * service's wallets, the merchant's own deposit addresses, those of an account that is not known any
 * more, and those that are watched on another network only. A deposit address of another merchant is
 * a destination like any: the scan credits what arrives there.
 *
 * @param merchantId whose money would leave; null where that is not known yet
 */
export async function isClosedDestination(
  merchantId: string | null,
  network: Network,
  address: string,
  context: Pick<ApiContext, "chains" | "addressOwners" | "treasury">,
): Promise<boolean> {
  const { policy } = context.treasury(network);
  if (address === context.chains.get(network)?.hotWallet) return true;
  if (address === policy?.cold?.address) return true;
  const owners = await context.addressOwners(address);
  if (owners === undefined) return false;
  const owner = owners.find((one) => one.network === network);
  return owner === undefined || owner.merchantId === merchantId ||
    owner.merchantId === LOST_ACCOUNT;
}
