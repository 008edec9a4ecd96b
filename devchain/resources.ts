/**
 * Pays for bytes and energy: from stake first, then the free allowance (bytes only), then TRX that
 * is burned. After java-tron's `BandwidthProcessor`, `EnergyProcessor` and `VMActuator`.
 *
 * @module
 */

import type { Account, Usage } from "./account.ts";
import type { Resource } from "./contract_types.ts";
import {
  BYTE_PRICE,
  ENERGY_PRICE,
  FREE_NET_LIMIT,
  NEW_ACCOUNT_NET_FEE,
  RECOVERY_MS,
  SUN_PER_TRX,
  TOTALS,
} from "./parameters.ts";

/** Points still counted as used at a time: usage fades linearly over a day. */
export function usedAt(usage: Usage, now: number): number {
  const elapsed = Math.max(0, now - usage.at);
  if (elapsed >= RECOVERY_MS) return 0;
  return Math.floor((usage.points * (RECOVERY_MS - elapsed)) / RECOVERY_MS);
}

/** Points a day that an account's stake, own and received, buys of a resource. */
export function stakedLimit(account: Account, resource: Resource): number {
  const { own, received } = account.stake[resource];
  return pointsOf(own + received, resource);
}

/** Points a day that so much stake buys. @param stake sun */
export function pointsOf(stake: bigint, resource: Resource): number {
  const { limit, weight } = totalsOf(resource);
  return Number((stake / SUN_PER_TRX) * limit / weight);
}

/** The stake that buys so many points a day, rounded up. @returns sun */
export function stakeOf(points: number, resource: Resource): bigint {
  const { limit, weight } = totalsOf(resource);
  return (BigInt(points) * SUN_PER_TRX * weight + limit - 1n) / limit;
}

function totalsOf(resource: Resource): { limit: bigint; weight: bigint } {
  return resource === "ENERGY"
    ? { limit: BigInt(TOTALS.energyLimit), weight: BigInt(TOTALS.energyWeight) }
    : { limit: BigInt(TOTALS.netLimit), weight: BigInt(TOTALS.netWeight) };
}

/** Cost of a transaction's bytes. */
export interface BandwidthBill {
  readonly account: Account;
  /** Bytes taken from stake or from the free allowance. */
  readonly used: number;
  /** Sun burned instead. */
  readonly burned: bigint;
}

/**
 * Pays for a transaction's bytes.
 *
 * @param bytes size with the room for a result
 * @param createsAccount whether its TRX transfer activates the receiver: then the free allowance
 * does not count and a fixed fee replaces the price per byte
 * @returns the bill, or null when neither allowance nor balance suffices
 */
export function payBandwidth(
  account: Account,
  bytes: number,
  createsAccount: boolean,
  now: number,
): BandwidthBill | null {
  const net = usedAt(account.net, now);
  if (stakedLimit(account, "BANDWIDTH") - net >= bytes) {
    return {
      account: { ...account, net: { points: net + bytes, at: now } },
      used: bytes,
      burned: 0n,
    };
  }
  const free = usedAt(account.freeNet, now);
  if (!createsAccount && FREE_NET_LIMIT - free >= bytes) {
    const freeNet = { points: free + bytes, at: now };
    return { account: { ...account, freeNet }, used: bytes, burned: 0n };
  }
  const burned = createsAccount ? NEW_ACCOUNT_NET_FEE : BYTE_PRICE * BigInt(bytes);
  if (account.balance < burned) return null;
  return { account: { ...account, balance: account.balance - burned }, used: 0, burned };
}

/**
 * The most energy a call may use. As in java-tron the fee limit caps staked energy too.
 *
 * @param feeLimit sun
 */
export function energyLimit(account: Account, feeLimit: number, now: number): number {
  const staked = stakedEnergyLeft(account, now);
  const bought = Number(account.balance / ENERGY_PRICE);
  return Math.min(staked + bought, Number(BigInt(feeLimit) / ENERGY_PRICE));
}

/** Cost of a call's energy. */
export interface EnergyBill {
  readonly account: Account;
  /** Energy taken from stake. */
  readonly used: number;
  /** Sun burned for the rest. */
  readonly burned: bigint;
}

/**
 * Pays for energy that {@linkcode energyLimit} allowed.
 *
 * @throws {RangeError} when the balance does not cover it, which the limit excludes
 */
export function payEnergy(account: Account, energy: number, now: number): EnergyBill {
  const used = Math.min(energy, stakedEnergyLeft(account, now));
  const burned = BigInt(energy - used) * ENERGY_PRICE;
  if (account.balance < burned) {
    throw new RangeError(`Cannot pay for energy as the balance is short: ${account.balance}`);
  }
  return {
    account: {
      ...account,
      balance: account.balance - burned,
      energy: used === 0 ? account.energy : {
        points: usedAt(account.energy, now) + used,
        at: now,
      },
    },
    used,
    burned,
  };
}

function stakedEnergyLeft(account: Account, now: number): number {
  return Math.max(0, stakedLimit(account, "ENERGY") - usedAt(account.energy, now));
}
