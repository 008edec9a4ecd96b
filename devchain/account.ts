/**
 * Accounts in the chain's state. An account exists once TRX reached it; a token balance alone does
 * not make one, as on TRON.
 *
 * @module
 */

import type { HexAddress } from "./address.ts";
import type { Resource } from "./contract_types.ts";
import type { Overlay, StateReader } from "./overlay.ts";

/** Points used of something that comes back within a day. */
export interface Usage {
  readonly points: number;
  /** Time at which `points` was true, Unix milliseconds of block time. */
  readonly at: number;
}

/** Stake of one resource, sun. */
export interface Stake {
  /** Own stake that is not delegated. */
  readonly own: bigint;
  /** Own stake delegated to others. */
  readonly delegated: bigint;
  /** Others' stake delegated to this account. */
  readonly received: bigint;
}

/** Stake on its way back to the balance. */
export interface Unfreezing {
  readonly resource: Resource;
  readonly amount: bigint;
  /** From when it can be withdrawn, Unix milliseconds of block time. */
  readonly expiresAt: number;
}

export interface Account {
  /** Sun. */
  readonly balance: bigint;
  readonly createdAt: number;
  readonly lastOperationAt: number;
  readonly freeNet: Usage;
  readonly net: Usage;
  readonly energy: Usage;
  readonly stake: Readonly<Record<Resource, Stake>>;
  readonly unfreezing: readonly Unfreezing[];
}

const NONE: Usage = { points: 0, at: 0 };
const NO_STAKE: Stake = { own: 0n, delegated: 0n, received: 0n };

/** An account that has just come into being. */
export function newAccount(createdAt: number): Account {
  return {
    balance: 0n,
    createdAt,
    lastOperationAt: 0,
    freeNet: NONE,
    net: NONE,
    energy: NONE,
    stake: { BANDWIDTH: NO_STAKE, ENERGY: NO_STAKE },
    unfreezing: [],
  };
}

/** The account at an address, null where none was activated. */
export function readAccount(state: StateReader, address: HexAddress): Account | null {
  const text = state.get(`account/${address}`);
  return text === undefined ? null : JSON.parse(text, reviveBigint);
}

/** Stores an account. */
export function writeAccount(state: Overlay, address: HexAddress, account: Account): void {
  state.set(`account/${address}`, JSON.stringify(account, writeBigint));
}

/** Stake delegated from one account to another, sun. */
export function readDelegation(
  state: StateReader,
  from: HexAddress,
  to: HexAddress,
  resource: Resource,
): bigint {
  return BigInt(state.get(`delegation/${from}/${to}/${resource}`) ?? "0");
}

/** Stores a delegation and both sides' index of partners. */
export function writeDelegation(
  state: Overlay,
  from: HexAddress,
  to: HexAddress,
  resource: Resource,
  amount: bigint,
): void {
  state.set(`delegation/${from}/${to}/${resource}`, amount === 0n ? undefined : String(amount));
  const other: Resource = resource === "ENERGY" ? "BANDWIDTH" : "ENERGY";
  const linked = amount > 0n || readDelegation(state, from, to, other) > 0n;
  setPartner(state, `delegates/${from}`, to, linked);
  setPartner(state, `receives/${to}`, from, linked);
}

/** Accounts that an account delegates to, and those that delegate to it. */
export function readPartners(
  state: StateReader,
  address: HexAddress,
): { readonly delegatesTo: readonly HexAddress[]; readonly receivesFrom: readonly HexAddress[] } {
  return {
    delegatesTo: partners(state, `delegates/${address}`),
    receivesFrom: partners(state, `receives/${address}`),
  };
}

function partners(state: StateReader, key: string): HexAddress[] {
  const text = state.get(key);
  return text === undefined ? [] : text.split(",");
}

function setPartner(state: Overlay, key: string, partner: HexAddress, linked: boolean): void {
  const others = partners(state, key).filter((address) => address !== partner);
  if (linked) others.push(partner);
  state.set(key, others.length === 0 ? undefined : others.join(","));
}

function writeBigint(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? `${value}n` : value;
}

function reviveBigint(_key: string, value: unknown): unknown {
  return typeof value === "string" && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value;
}
