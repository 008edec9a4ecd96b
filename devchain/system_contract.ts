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
  readLoan,
  type Stake,
  writeAccount,
  writeLoan,
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
  const value = call.parameter.value;
  const account = readAccount(state, owner);
  if (account === null) return { ok: false, refusal: unknownAccount(owner) };
  switch (call.type) {
    case "TransferContract":
      return transfer(state, owner, account, value, now);
    case "FreezeBalanceV2Contract":
      return freeze(state, owner, account, value);
    case "UnfreezeBalanceV2Contract":
      return unfreeze(state, owner, account, value, now);
    case "WithdrawExpireUnfreezeContract":
      return withdrawUnfrozen(state, owner, account, now);
    case "DelegateResourceContract":
      return lend(state, owner, account, value, now);
    case "UnDelegateResourceContract":
      return takeBack(state, owner, account, value, now);
    default:
      return refused(`no such contract on this node: ${call.type}`);
  }
}

/** The receiver of a TRX transfer, null when it is malformed. */
export function transferReceiver(value: ContractValue): HexAddress | null {
  const to = value["to_address"];
  return typeof to === "string" && isHexAddress(to) ? to : null;
}

function transfer(
  state: Overlay,
  owner: HexAddress,
  account: Account,
  value: ContractValue,
  now: number,
): SystemResult {
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

function freeze(
  state: Overlay,
  owner: HexAddress,
  account: Account,
  value: ContractValue,
): SystemResult {
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
  const stake = account.stake[resource];
  writeAccount(state, owner, {
    ...withStake(account, resource, { ...stake, own: stake.own + amount }),
    balance: account.balance - amount,
  });
  return { ok: true, fee: 0n };
}

function unfreeze(
  state: Overlay,
  owner: HexAddress,
  account: Account,
  value: ContractValue,
  now: number,
): SystemResult {
  const amount = sun(value, "unfreeze_balance");
  const resource = resourceOf(value);
  if (resource === null) return refused("ResourceCode error.valid ResourceCode[BANDWIDTH、Energy]");
  const stake = account.stake[resource];
  if (stake.own === 0n) return refused(`no frozenBalance(${resource})`);
  if (amount <= 0n || amount > stake.own) {
    return refused(`Invalid unfreeze_balance, [${amount}] is error`);
  }
  const waiting = account.unfreezing.filter((entry) => entry.expiresAt > now);
  if (waiting.length >= MAX_UNFREEZINGS) {
    return refused("Invalid unfreeze operation, unfreezing times is over limit");
  }
  // As on TRON, what has expired is paid out with the next unstaking.
  const expired = account.unfreezing.filter((entry) => entry.expiresAt <= now);
  writeAccount(state, owner, {
    ...withStake(account, resource, { ...stake, own: stake.own - amount }),
    balance: account.balance + expired.reduce((sum, entry) => sum + entry.amount, 0n),
    unfreezing: [...waiting, { resource, amount, expiresAt: now + UNFREEZE_DELAY_MS }],
  });
  return { ok: true, fee: 0n };
}

function withdrawUnfrozen(
  state: Overlay,
  owner: HexAddress,
  account: Account,
  now: number,
): SystemResult {
  const expired = account.unfreezing.filter((entry) => entry.expiresAt <= now);
  if (expired.length === 0) return refused("no unFreeze balance to withdraw ");
  writeAccount(state, owner, {
    ...account,
    balance: account.balance + expired.reduce((sum, entry) => sum + entry.amount, 0n),
    unfreezing: account.unfreezing.filter((entry) => entry.expiresAt > now),
  });
  return { ok: true, fee: 0n };
}

/**
 * The part of its own stake that an account can delegate: what its current usage does not occupy.
 *
 * @returns sun
 */
export function delegatable(account: Account, resource: Resource, now: number): bigint {
  const { own, borrowed } = account.stake[resource];
  const used = usedAt(resource === "ENERGY" ? account.energy : account.net, now);
  // Usage is held against borrowed stake first.
  const occupied = stakeOf(used, resource) - borrowed;
  if (occupied <= 0n) return own;
  return own > occupied ? own - occupied : 0n;
}

function lend(
  state: Overlay,
  owner: HexAddress,
  account: Account,
  value: ContractValue,
  now: number,
): SystemResult {
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
  const given = account.stake[resource];
  const got = receiver.stake[resource];
  writeAccount(
    state,
    owner,
    withStake(account, resource, { ...given, own: given.own - amount, lent: given.lent + amount }),
  );
  writeAccount(
    state,
    to,
    withStake(receiver, resource, { ...got, borrowed: got.borrowed + amount }),
  );
  writeLoan(state, owner, to, resource, readLoan(state, owner, to, resource) + amount);
  return { ok: true, fee: 0n };
}

function takeBack(
  state: Overlay,
  owner: HexAddress,
  account: Account,
  value: ContractValue,
  now: number,
): SystemResult {
  const amount = sun(value, "balance");
  const resource = resourceOf(value);
  const from = value["receiver_address"];
  if (resource === null) return refused("ResourceCode error.valid ResourceCode[BANDWIDTH、Energy]");
  if (typeof from !== "string" || !isHexAddress(from)) return refused("Invalid receiverAddress");
  if (from === owner) return refused("receiverAddress must not be the same as ownerAddress");
  const loan = readLoan(state, owner, from, resource);
  if (loan === 0n) return refused("delegated Resource does not exist");
  if (amount <= 0n) return refused("unDelegateBalance must be more than 0 TRX");
  if (amount > loan) {
    const kind = resource === "ENERGY" ? "Energy" : "BANDWIDTH";
    return refused(
      `insufficient delegatedFrozenBalance(${kind}), request=${amount}, unlock_balance=${loan}`,
    );
  }
  const receiver = readAccount(state, from);
  if (receiver === null) {
    throw new RangeError(`Cannot take back a loan as its holder is gone: ${from}`);
  }
  const moved = movedUsage(receiver, resource, amount, now);
  const got = receiver.stake[resource];
  const given = account.stake[resource];
  writeAccount(
    state,
    from,
    withUsage(
      withStake(receiver, resource, { ...got, borrowed: got.borrowed - amount }),
      resource,
      -moved,
      now,
    ),
  );
  writeAccount(
    state,
    owner,
    withUsage(
      withStake(account, resource, {
        ...given,
        own: given.own + amount,
        lent: given.lent - amount,
      }),
      resource,
      moved,
      now,
    ),
  );
  writeLoan(state, owner, from, resource, loan - amount);
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

function withStake(account: Account, resource: Resource, stake: Stake): Account {
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
