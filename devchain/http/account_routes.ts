/** Routes that read accounts, their resources and delegations of stake. @module */

import { type Account, readAccount, readDelegation, readPartners } from "../account.ts";
import type { HexAddress } from "../address.ts";
import { readContract } from "../contract.ts";
import { type Resource, RESOURCES } from "../contract_types.ts";
import { FREE_NET_LIMIT, MAX_UNFREEZINGS, SUN_PER_TRX, TOTALS } from "../parameters.ts";
import { stakedLimit, usedAt } from "../resources.ts";
import { delegatable } from "../system_contract.ts";
import type { Answer, NodeRequest, Route } from "./route.ts";
import { NOTHING, stateOf, unlessZero } from "./route.ts";

/** Paths that read accounts. */
export const ACCOUNT_ROUTES: Readonly<Record<string, Route>> = {
  getaccount: { answer: getAccount, solidity: true, get: true },
  getaccountresource: withAccount("address", describeResources, false),
  getaccountnet: withAccount("address", describeNet, false),
  getdelegatedresourcev2: { answer: delegations, solidity: true, get: true },
  getdelegatedresourceaccountindexv2: { answer: partners, solidity: true, get: true },
  getcandelegatedmaxsize: withAccount("owner_address", canDelegate, true),
  getavailableunfreezecount: withAccount("owner_address", unfreezeCount, true),
  getcanwithdrawunfreezeamount: withAccount("owner_address", withdrawable, true),
};

type Describe = (account: Account, request: NodeRequest, address: HexAddress) => unknown;

/** A route about one account, answering `{}` where there is none. */
function withAccount(parameter: string, describe: Describe, solidity: boolean): Route {
  const answer = (request: NodeRequest): Answer => {
    const address = request.params.address(parameter);
    const account = address === null ? null : readAccount(stateOf(request), address);
    if (address === null || account === null) return NOTHING;
    return { json: describe(account, request, address) };
  };
  return { answer, solidity, get: true };
}

function getAccount(request: NodeRequest): Answer {
  const address = request.params.address("address");
  if (address === null) return NOTHING;
  const account = readAccount(stateOf(request), address);
  if (account !== null) return { json: describeAccount(account, request, address) };
  const contract = readContract(stateOf(request), address);
  return contract === null
    ? NOTHING
    : { json: { type: "Contract", address, account_resource: {} } };
}

function describeAccount(account: Account, request: NodeRequest, address: HexAddress): unknown {
  const { BANDWIDTH, ENERGY } = account.stake;
  const now = request.node.head.time;
  return {
    address,
    ...unlessZero("balance", account.balance),
    create_time: account.createdAt,
    ...unlessZero("latest_opration_time", account.lastOperationAt),
    ...unlessZero("net_usage", usedAt(account.net, now)),
    ...unlessZero("latest_consume_time", account.net.at),
    ...unlessZero("free_net_usage", usedAt(account.freeNet, now)),
    ...unlessZero("latest_consume_free_time", account.freeNet.at),
    ...unlessZero("delegated_frozenV2_balance_for_bandwidth", BANDWIDTH.delegated),
    ...unlessZero("acquired_delegated_frozenV2_balance_for_bandwidth", BANDWIDTH.received),
    account_resource: {
      ...unlessZero("energy_usage", usedAt(account.energy, now)),
      ...unlessZero("latest_consume_time_for_energy", account.energy.at),
      ...unlessZero("delegated_frozenV2_balance_for_energy", ENERGY.delegated),
      ...unlessZero("acquired_delegated_frozenV2_balance_for_energy", ENERGY.received),
    },
    owner_permission: {
      permission_name: "owner",
      threshold: 1,
      keys: [{ address, weight: 1 }],
    },
    frozenV2: [
      unlessZero("amount", BANDWIDTH.own),
      { type: "ENERGY", ...unlessZero("amount", ENERGY.own) },
      { type: "TRON_POWER" },
    ],
    ...(account.unfreezing.length === 0 ? {} : {
      unfrozenV2: account.unfreezing.map((entry) => ({
        ...(entry.resource === "ENERGY" ? { type: "ENERGY" } : {}),
        unfreeze_amount: Number(entry.amount),
        unfreeze_expire_time: entry.expiresAt,
      })),
    }),
  };
}

function describeNet(account: Account, request: NodeRequest): Record<string, number> {
  const now = request.node.head.time;
  return {
    ...unlessZero("freeNetUsed", usedAt(account.freeNet, now)),
    freeNetLimit: FREE_NET_LIMIT,
    ...unlessZero("NetUsed", usedAt(account.net, now)),
    ...unlessZero("NetLimit", stakedLimit(account, "BANDWIDTH")),
    TotalNetLimit: TOTALS.netLimit,
    TotalNetWeight: TOTALS.netWeight,
  };
}

function describeResources(account: Account, request: NodeRequest): unknown {
  const { BANDWIDTH, ENERGY } = account.stake;
  const power = (BANDWIDTH.own + BANDWIDTH.delegated + ENERGY.own + ENERGY.delegated) / SUN_PER_TRX;
  return {
    ...describeNet(account, request),
    ...unlessZero("tronPowerLimit", power),
    ...unlessZero("EnergyUsed", usedAt(account.energy, request.node.head.time)),
    ...unlessZero("EnergyLimit", stakedLimit(account, "ENERGY")),
    TotalEnergyLimit: TOTALS.energyLimit,
    TotalEnergyWeight: TOTALS.energyWeight,
  };
}

function delegations(request: NodeRequest): Answer {
  const from = request.params.address("fromAddress");
  const to = request.params.address("toAddress");
  if (from === null || to === null) return NOTHING;
  const state = stateOf(request);
  const bandwidth = readDelegation(state, from, to, "BANDWIDTH");
  const energy = readDelegation(state, from, to, "ENERGY");
  if (bandwidth === 0n && energy === 0n) return NOTHING;
  return {
    json: {
      delegatedResource: [{
        from,
        to,
        ...unlessZero("frozen_balance_for_bandwidth", bandwidth),
        ...unlessZero("frozen_balance_for_energy", energy),
      }],
    },
  };
}

function partners(request: NodeRequest): Answer {
  const address = request.params.address("value");
  if (address === null) return NOTHING;
  const { delegatesTo, receivesFrom } = readPartners(stateOf(request), address);
  return {
    json: {
      account: address,
      ...(receivesFrom.length === 0 ? {} : { fromAccounts: receivesFrom }),
      ...(delegatesTo.length === 0 ? {} : { toAccounts: delegatesTo }),
    },
  };
}

function canDelegate(account: Account, request: NodeRequest): unknown {
  const resource: Resource = RESOURCES[request.params.int("type")] ?? "BANDWIDTH";
  return unlessZero("max_size", delegatable(account, resource, request.node.head.time));
}

function unfreezeCount(account: Account, request: NodeRequest): unknown {
  const now = request.node.head.time;
  const waiting = account.unfreezing.filter((entry) => entry.expiresAt > now).length;
  return unlessZero("count", MAX_UNFREEZINGS - waiting);
}

function withdrawable(account: Account, request: NodeRequest): unknown {
  const at = request.params.int("timestamp") || request.node.head.time;
  const due = account.unfreezing.filter((entry) => entry.expiresAt <= at);
  return unlessZero("amount", due.reduce((sum, entry) => sum + entry.amount, 0n));
}
