/**
 * The contract types that are no smart contract: TRX transfers, staking, lending stake. Checks and
 * texts after java-tron's actuators.
 *
 * @module
 */

import {
  type Account,
  newAccount,
  readAccount,
  readDelegation,
  type Stake,
  writeAccount,
  writeDelegation,
} from "./account.ts";
import { type HexAddress, isHexAddress, toBase58 } from "./address.ts";
import { readContract } from "./contract.ts";
import type { Resource } from "./contract_types.ts";
import type { Overlay } from "./overlay.ts";
import { MAX_UNFREEZINGS, NEW_ACCOUNT_FEE, SUN_PER_TRX, UNFREEZE_DELAY_MS } from "./parameters.ts";
import { contractRefusal, type NodeRefusal, unknownAccount } from "./refusal.ts";
import { pointsOf, stakedLimit, stakeOf, usedAt } from "./resources.ts";
import type { ContractCall, ContractValue } from "./transaction.ts";

/** Fee of a system contract besides bandwidth, or the reason for which it cannot be carried out. */
export type SystemResult =
  | { readonly ok: true; readonly fee: bigint }
  | { readonly ok: false; readonly refusal: NodeRefusal };

/** One system contract on its way. */
interface Run {
  readonly state: Overlay;
  readonly owner: HexAddress;
  readonly account: Account;
  readonly value: ContractValue;
  /** Block time. */
  readonly now: number;
}

/**
 * Carries out a system contract.
 *
 * @param owner the paying account, which exists
 * @param now block time
 */
export function runSystemContract(
  state: Overlay,
  call: ContractCall,
  owner: HexAddress,
  now: number,
): SystemResult {
  const account = readAccount(state, owner);
  if (account === null) return { ok: false, refusal: unknownAccount(owner) };
  const carryOut = CONTRACTS.get(call.type);
  if (carryOut === undefined) return refused(`no such contract on this node: ${call.type}`);
  return carryOut({ state, owner, account, value: call.parameter.value, now });
}

const CONTRACTS: ReadonlyMap<string, (run: Run) => SystemResult> = new Map([
  ["TransferContract", transfer],
  ["FreezeBalanceV2Contract", freeze],
  ["UnfreezeBalanceV2Contract", unfreeze],
  ["WithdrawExpireUnfreezeContract", withdrawUnfrozen],
  ["DelegateResourceContract", delegate],
  ["UnDelegateResourceContract", undelegate],
]);

/** The receiver of a TRX transfer, null when it is malformed. */
export function transferReceiver(value: ContractValue): HexAddress | null {
  const to = value["to_address"];
  return typeof to === "string" && isHexAddress(to) ? to : null;
}

function transfer({ state, owner, account, value, now }: Run): SystemResult {
  const to = transferReceiver(value);
  const amount = sun(value, "amount");
  if (to === null) return refused("Invalid toAddress!");
  if (to === owner) return refused("Cannot transfer TRX to yourself.");
  if (amount <= 0n) return refused("Amount must be greater than 0.");
  if (readContract(state, to) !== null) return refused("Cannot transfer TRX to a smartContract.");
  const receiver = readAccount(state, to);
  const fee = receiver === null ? NEW_ACCOUNT_FEE : 0n;
  if (account.balance < amount + fee) {
    return refused("Validate TransferContract error, balance is not sufficient.");
  }
  writeAccount(state, owner, {
    ...account,
    balance: account.balance - amount - fee,
    lastOperationAt: now,
  });
  const before = receiver ?? newAccount(now);
  writeAccount(state, to, { ...before, balance: before.balance + amount });
  return { ok: true, fee };
}

function freeze({ state, owner, account, value }: Run): SystemResult {
  const amount = sun(value, "frozen_balance");
  const resource = resourceOf(value);
  if (amount <= 0n) return refused("frozenBalance must be positive");
  if (amount < SUN_PER_TRX) return refused("frozenBalance must be greater than or equal to 1 TRX");
  if (amount > account.balance) {
    return refused("frozenBalance must be less than or equal to accountBalance");
  }
  if (resource === null) {
    return refused("ResourceCode error, valid ResourceCode[BANDWIDTH、ENERGY]");
  }
  writeAccount(state, owner, {
    ...withStake(account, resource, { own: amount }),
    balance: account.balance - amount,
  });
  return { ok: true, fee: 0n };
}

function unfreeze({ state, owner, account, value, now }: Run): SystemResult {
  const amount = sun(value, "unfreeze_balance");
  const resource = resourceOf(value);
  if (resource === null) return refused("ResourceCode error.valid ResourceCode[BANDWIDTH、Energy]");
  const stake = account.stake[resource];
  if (stake.own === 0n) return refused(`no frozenBalance(${resource})`);
  if (amount <= 0n || amount > stake.own) {
    return refused(`Invalid unfreeze_balance, [${amount}] is error`);
  }
  const { waiting, expired } = unfreezingOf(account, now);
  if (waiting.length >= MAX_UNFREEZINGS) {
    return refused("Invalid unfreeze operation, unfreezing times is over limit");
  }
  // As on TRON, what has expired is paid out with the next unstaking.
  writeAccount(state, owner, {
    ...withStake(account, resource, { own: -amount }),
    balance: account.balance + expired,
    unfreezing: [...waiting, { resource, amount, expiresAt: now + UNFREEZE_DELAY_MS }],
  });
  return { ok: true, fee: 0n };
}

function withdrawUnfrozen({ state, owner, account, now }: Run): SystemResult {
  const { waiting, expired } = unfreezingOf(account, now);
  if (expired === 0n) return refused("no unFreeze balance to withdraw ");
  writeAccount(state, owner, {
    ...account,
    balance: account.balance + expired,
    unfreezing: waiting,
  });
  return { ok: true, fee: 0n };
}

/** Unstakings that are locked still, and the sum of those that are not. */
function unfreezingOf({ unfreezing }: Account, now: number) {
  const waiting = unfreezing.filter((entry) => entry.expiresAt > now);
  const expired = unfreezing.filter((entry) => entry.expiresAt <= now);
  return { waiting, expired: expired.reduce((sum, entry) => sum + entry.amount, 0n) };
}

/**
 * The part of its own stake that an account can delegate: what its current usage does not occupy.
 *
 * @returns sun
 */
export function delegatable(account: Account, resource: Resource, now: number): bigint {
  const { own, received } = account.stake[resource];
  const used = usedAt(resource === "ENERGY" ? account.energy : account.net, now);
  // Usage is held against received stake first.
  const occupied = stakeOf(used, resource) - received;
  if (occupied <= 0n) return own;
  return own > occupied ? own - occupied : 0n;
}

function delegate({ state, owner, account, value, now }: Run): SystemResult {
  const amount = sun(value, "balance");
  const resource = resourceOf(value);
  const to = value["receiver_address"];
  if (amount < SUN_PER_TRX) {
    return refused("delegateBalance must be greater than or equal to 1 TRX");
  }
  if (resource === null) {
    return refused("ResourceCode error, valid ResourceCode[BANDWIDTH、ENERGY]");
  }
  if (amount > delegatable(account, resource, now)) {
    const kind = resource === "ENERGY" ? "Energy" : "Bandwidth";
    return refused(
      `delegateBalance must be less than or equal to available Freeze${kind}V2 balance`,
    );
  }
  if (typeof to !== "string" || !isHexAddress(to)) return refused("Invalid receiverAddress");
  if (to === owner) return refused("receiverAddress must not be the same as ownerAddress");
  const receiver = readAccount(state, to);
  if (receiver === null) return refused(`Account[${toBase58(to)}] not exists`);
  if (readContract(state, to) !== null) {
    return refused("Do not allow delegate resources to contract addresses");
  }
  writeAccount(state, owner, withStake(account, resource, { own: -amount, delegated: amount }));
  writeAccount(state, to, withStake(receiver, resource, { received: amount }));
  writeDelegation(state, owner, to, resource, readDelegation(state, owner, to, resource) + amount);
  return { ok: true, fee: 0n };
}

function undelegate({ state, owner, account, value, now }: Run): SystemResult {
  const amount = sun(value, "balance");
  const resource = resourceOf(value);
  const from = value["receiver_address"];
  if (resource === null) return refused("ResourceCode error.valid ResourceCode[BANDWIDTH、Energy]");
  if (typeof from !== "string" || !isHexAddress(from)) return refused("Invalid receiverAddress");
  if (from === owner) return refused("receiverAddress must not be the same as ownerAddress");
  const delegation = readDelegation(state, owner, from, resource);
  if (delegation === 0n) return refused("delegated Resource does not exist");
  if (amount <= 0n) return refused("unDelegateBalance must be more than 0 TRX");
  if (amount > delegation) {
    const kind = resource === "ENERGY" ? "Energy" : "BANDWIDTH";
    return refused(
      `insufficient delegatedFrozenBalance(${kind}), request=${amount}, unlock_balance=${delegation}`,
    );
  }
  const receiver = readAccount(state, from);
  if (receiver === null) {
    throw new RangeError(`Cannot undelegate as its holder is gone: ${from}`);
  }
  const moved = movedUsage(receiver, resource, amount, now);
  const holder = withStake(receiver, resource, { received: -amount });
  writeAccount(state, from, withUsage(holder, resource, -moved, now));
  const giver = withStake(account, resource, { own: amount, delegated: -amount });
  writeAccount(state, owner, withUsage(giver, resource, moved, now));
  writeDelegation(state, owner, from, resource, delegation - amount);
  return { ok: true, fee: 0n };
}

/** The share of the receiver's usage that returns with the stake: used energy is not got back. */
function movedUsage(receiver: Account, resource: Resource, amount: bigint, now: number): number {
  const limit = stakedLimit(receiver, resource);
  const used = usedAt(resource === "ENERGY" ? receiver.energy : receiver.net, now);
  const share = pointsOf(amount, resource);
  return limit === 0 ? 0 : Math.min(share, Math.floor((used * share) / limit));
}

function withUsage(account: Account, resource: Resource, points: number, now: number): Account {
  const field = resource === "ENERGY" ? "energy" : "net";
  return { ...account, [field]: { points: usedAt(account[field], now) + points, at: now } };
}

function withStake(account: Account, resource: Resource, change: Partial<Stake>): Account {
  const { own, delegated, received } = account.stake[resource];
  const stake = {
    own: own + (change.own ?? 0n),
    delegated: delegated + (change.delegated ?? 0n),
    received: received + (change.received ?? 0n),
  };
  return { ...account, stake: { ...account.stake, [resource]: stake } };
}

function sun(value: ContractValue, field: string): bigint {
  const amount = value[field];
  return typeof amount === "number" ? BigInt(amount) : 0n;
}

function resourceOf(value: ContractValue): Resource | null {
  const resource = value["resource"] ?? "BANDWIDTH";
  return resource === "BANDWIDTH" || resource === "ENERGY" ? resource : null;
}

function refused(reason: string): SystemResult {
  return { ok: false, refusal: contractRefusal(reason) };
}
