/**
 * The rules of what the signer signs, whatever it is asked for: where money may go, and how much of it.
 * The database is not believed in this: what it calls an address of the wallet is derived from the keys
 * and compared, so that an intruder who can write to the database can neither call a theft a sweep nor feed
 * it from the hot wallet as gas. The sums that are signed away are bounded: the last bound on what a
 * break-in into the rest of the service can take.
 *
 * @module
 */

import { add, type Amount, amountOf, formatAmount, ZERO } from "../../ledger/money/amount.ts";
import type { Network } from "../../ledger/money/pair.ts";
import type { TransferKind } from "../../ledger/money/transfer_kinds.ts";
import type { Asset } from "../chain.ts";
import { type Intent, OVER_DAY_CAP, OVER_TRANSACTION_CAP } from "../signer.ts";
import type { WalletName } from "../wallet/network_keys.ts";

/** The wallet's own addresses; `null` where the wallet has no account of the network. */
export interface WalletAddresses {
  address(network: Network, wallet: WalletName): string | null;
}

/** Addresses for what the hot wallet need not hold, by network. */
export type ColdAddresses = Readonly<Partial<Record<Network, string>>>;

/** Kinds whose money leaves the wallet, or is there to be burned. */
const SPENDING: ReadonlySet<TransferKind> = new Set(["payout", "settlement", "gas"]);

/** True if a transfer of this kind counts against the caps: the others stay in the wallet. */
function isSpending(kind: TransferKind): boolean {
  return SPENDING.has(kind);
}

/**
 * Finds the fault of an intent's destination, source or currency for its kind.
 *
 * @param setup the one destination that a `setup` may have; null: there is none
 * @returns `null` when it is
 */
export function destinationFault(
  intent: Intent,
  own: WalletAddresses,
  cold: ColdAddresses,
  setup: string | null = null,
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
    case "setup":
      return sourceFault(intent, "hot", "native") ?? setupFault(intent, setup);
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
function receiverFault(intent: Intent, own: WalletAddresses, cold: ColdAddresses): string | null {
  const { kind, network, destination, isDestinationClosed } = intent;
  const isClosed = isDestinationClosed || destination === own.address(network, "hot") ||
    destination === cold[network];
  return isClosed ? `the destination of a ${kind} is our own: ${destination}` : null;
}

function hotFault({ kind, network, destination }: Intent, own: WalletAddresses): string | null {
  return destination === own.address(network, "hot")
    ? null
    : `a ${kind} goes to our hot wallet only: ${destination}`;
}

function derivedFault(
  { kind, network, destination, destinationIndex }: Intent,
  own: WalletAddresses,
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

function setupFault({ kind, network, destination }: Intent, setup: string | null): string | null {
  if (setup === null) return `${network} needs no ${kind}`;
  return destination === setup ? null : `a ${kind} is for ${setup} only: ${destination}`;
}

/** Bounds of one asset on one network; an absent one does not bind. */
export interface Limit {
  readonly perTransaction?: Amount;
  /** Over the last 24 hours, in hourly steps. */
  readonly perDay?: Amount;
}

/** Limits by asset and network, for example `"USDT/TRX"` or `"native/TRX"`. */
export type Limits = Readonly<Partial<Record<`${Asset}/${Network}`, Limit>>>;

/** Sums that were signed away: decimal amounts by asset and network, or `cancels` and network, then by hour since 1970. */
export type SpentHours = Readonly<Record<string, Readonly<Record<string, string>>>>;

const HOUR_MS = 60 * 60 * 1000;
const HOURS = 24;

type AssetName = `${Asset}/${Network}`;

/** Sums of intents, of those that count against the caps. */
export class Sums {
  readonly #sums = new Map<AssetName, Amount>();

  add(intents: readonly Intent[]): void {
    for (const { kind, currency, network, amount } of intents) {
      if (!isSpending(kind)) continue;
      const name = `${currency}/${network}` as const;
      this.#sums.set(name, add(this.of(name), amount));
    }
  }

  of(name: AssetName): Amount {
    return this.#sums.get(name) ?? ZERO;
  }

  get all(): Iterable<readonly [AssetName, Amount]> {
    return this.#sums;
  }
}

/** Name under which the coin is counted that transfers of nothing burn: no limit of an asset has it. */
function cancelsOn(network: Network): string {
  return `cancels/${network}`;
}

/**
 * Keeps the sums of the last day. Only what leaves us counts: sweeps and cold transfers go to
 * addresses that the signer has checked to be the wallet's. What is signed again because an earlier
 * signature expired counts again: the sum may be too high, never too low.
 */
export class SpendingLimits {
  /** Sums by asset and network, then by hour since 1970. */
  readonly #spent = new Map<string, Map<number, Amount>>();
  /**
   * The newest hour in which something was counted, by asset and network together. Time never goes
   * back behind it: what was signed away would lie in the future and be counted apart from the rest.
   */
  #newest = -Infinity;

  /** @param spent of an earlier run, see {@linkcode SpendingLimits.spent} */
  constructor(readonly limits: Limits, spent: SpentHours = {}) {
    for (const [name, hours] of Object.entries(spent)) {
      const sums = Object.entries(hours).map(([hour, sum]) =>
        [Number(hour), amountOf(sum)] as const
      );
      this.#spent.set(name, new Map(sums));
      for (const [hour] of sums) this.#newest = Math.max(this.#newest, hour);
    }
  }

  /**
   * Finds the limit that the intents of one transaction are over together.
   *
   * @param now Unix milliseconds
   * @param besides what is to be signed as well and is not counted yet; default: nothing is
   * @returns `null` when they are within
   */
  fault(intents: readonly Intent[], now: number, besides: Sums = new Sums()): string | null {
    const sums = new Sums();
    sums.add(intents);
    for (const [name, amount] of sums.all) {
      const { perTransaction, perDay } = this.limits[name] ?? {};
      if (perTransaction !== undefined && amount > perTransaction) {
        return `more than ${formatAmount(perTransaction)} ${OVER_TRANSACTION_CAP}`;
      }
      const day = add(this.#sum(name, now), besides.of(name));
      if (perDay !== undefined && add(day, amount) > perDay) {
        return `more than ${formatAmount(perDay)} ${OVER_DAY_CAP}`;
      }
    }
    return null;
  }

  /**
   * Judges what a transfer of nothing may burn by the day's allowance for those, which nothing else uses up: a lane whose
   * payouts have reached their cap goes on.
   *
   * @param most that allowance
   * @returns `null` when it is within
   */
  cancelFault(network: Network, fee: Amount, most: Amount, now: number): string | null {
    const isOver = fee > ZERO && add(this.#sum(cancelsOn(network), now), fee) > most;
    return isOver
      ? `more than ${formatAmount(most)} for transfers of nothing ${OVER_DAY_CAP}`
      : null;
  }

  /**
   * Counts what a transfer of nothing may burn.
   *
   * @returns whether it is anything
   */
  countCancel(network: Network, fee: Amount, now: number): boolean {
    if (fee <= ZERO) return false;
    this.#add(cancelsOn(network), fee, now);
    return true;
  }

  /**
   * Counts each intent of a signature.
   *
   * @returns whether any counts at all
   */
  count(intents: readonly Intent[], now: number): boolean {
    return intents.filter((intent) => this.#count(intent, now)).length > 0;
  }

  #count(intent: Intent, now: number): boolean {
    if (!isSpending(intent.kind)) return false;
    this.#add(`${intent.currency}/${intent.network}`, intent.amount, now);
    return true;
  }

  #add(name: string, amount: Amount, now: number): void {
    const hours = this.#spent.get(name) ?? new Map<number, Amount>();
    this.#spent.set(name, hours);
    const hour = this.#hourOf(now);
    this.#newest = hour;
    hours.set(hour, add(hours.get(hour) ?? ZERO, amount));
  }

  /** The parts of the last day's sums, to be kept over a restart. */
  spent(now: number): SpentHours {
    const entries = [...this.#spent.keys()].map((name) => {
      this.#sum(name, now);
      const hours = this.#spent.get(name) ?? new Map<number, Amount>();
      return [name, Object.fromEntries([...hours].map(([hour, sum]) => [hour, formatAmount(sum)]))];
    });
    return Object.fromEntries(entries);
  }

  /** The last day's sums, by asset and network. */
  sums(now: number): Readonly<Record<string, string>> {
    return Object.fromEntries(
      [...this.#spent.keys()].map((name) => [name, formatAmount(this.#sum(name, now))]),
    );
  }

  #hourOf(now: number): number {
    return Math.max(this.#newest, Math.floor(now / HOUR_MS));
  }

  #sum(name: string, now: number): Amount {
    const hours = this.#spent.get(name);
    if (hours === undefined) return ZERO;
    const oldest = this.#hourOf(now) - HOURS;
    let sum = ZERO;
    for (const [hour, spent] of hours) {
      if (hour < oldest) hours.delete(hour);
      else sum = add(sum, spent);
    }
    return sum;
  }
}
