/**
 * Rules for the destination of a transfer. The database is not believed in this: what it calls an
 * address of the wallet is derived from the keys and compared, so that an intruder who can write to the
 * database can neither call a theft a sweep nor feed it from the hot wallet as gas.
 *
 * @module
 */

import type { Network } from "../../ledger/money/pair.ts";
import type { Intent, IntentKind } from "../signer.ts";
import type { WalletName } from "../wallet/network_keys.ts";

/** Derives the wallet's addresses; `null` where the wallet has no account of the network. */
export interface AddressSource {
  address(network: Network, wallet: WalletName): string | null;
}

/** Addresses for what the hot wallet need not hold, by network. */
export type ColdAddresses = Readonly<Partial<Record<Network, string>>>;

/** Kinds whose money leaves the wallet, or is there to be burned. */
const SPENDING: ReadonlySet<IntentKind> = new Set(["payout", "settlement", "gas"]);

/** True if a transfer of this kind counts against the caps: the others stay in the wallet. */
export function isSpending(kind: IntentKind): boolean {
  return SPENDING.has(kind);
}

/**
 * Finds the fault of an intent's destination, source or currency for its kind.
 *
 * @returns `null` when it is
 */
export function destinationFault(
  intent: Intent,
  own: AddressSource,
  cold: ColdAddresses,
): string | null {
  switch (intent.kind) {
    case "payout":
    case "settlement":
      return sourceFault(intent, "hot", "token") ?? receiverFault(intent, own, cold);
    case "sweep":
      return sourceFault(intent, "deposit", null) ?? hotFault(intent, own);
    case "gas":
    case "delegation":
    case "reclaim":
      return sourceFault(intent, "hot", "native") ?? derivedFault(intent, own);
    case "cold":
      return sourceFault(intent, "hot", null) ?? coldFault(intent, cold);
    default:
      return intent.kind satisfies never;
  }
}

/** The wallet it leaves and the asset it moves; `null`: either asset. */
function sourceFault(
  { kind, wallet, currency }: Intent,
  from: "hot" | "deposit",
  asset: "token" | "native" | null,
): string | null {
  if ((wallet === "hot") !== (from === "hot")) {
    return `a ${kind} leaves ${from === "hot" ? "the hot wallet" : "a deposit address"} only`;
  }
  if (asset !== null && (currency === "native") !== (asset === "native")) {
    return `a ${kind} moves ${asset === "native" ? "the chain's coin" : "tokens"} only`;
  }
  return null;
}

/**
 * A payout to a wallet of the service, or to the paying account itself, would leave a payment in the
 * books that no other account receives. The deposit address of another account is paid like any.
 */
function receiverFault(intent: Intent, own: AddressSource, cold: ColdAddresses): string | null {
  const { kind, network, destination, isDestinationClosed } = intent;
  const isClosed = isDestinationClosed || destination === own.address(network, "hot") ||
    destination === cold[network];
  return isClosed ? `the destination of a ${kind} is our own: ${destination}` : null;
}

function hotFault({ kind, network, destination }: Intent, own: AddressSource): string | null {
  return destination === own.address(network, "hot")
    ? null
    : `a ${kind} goes to our hot wallet only: ${destination}`;
}

function derivedFault(
  { kind, network, destination, destinationIndex }: Intent,
  own: AddressSource,
): string | null {
  return destinationIndex !== null && destination === own.address(network, destinationIndex)
    ? null
    : `a ${kind} goes to a deposit address of our own keys only: ${destination}`;
}

function coldFault({ kind, network, destination }: Intent, cold: ColdAddresses): string | null {
  const address = cold[network];
  if (address === undefined) return `${network} has no cold address configured with the signer`;
  return destination === address ? null : `a ${kind} goes to ${address} only: ${destination}`;
}
