/**
 * The needs of sweeps on TRON: energy and bandwidth of an address, coin to burn instead, and stake of
 * the hot wallet that is delegated for energy (`DelegateResource`, stake 2.0).
 *
 * @module
 */

import { type Amount, fromTokenUnits } from "../../../ledger/money/amount.ts";
import type { SweepCosts } from "../../fees.ts";
import {
  type AccountResourceAnswer,
  canDelegateSchema,
  delegatedResourceSchema,
} from "./answers.ts";
import { longAccount, longAccountResources } from "./long_answers.ts";
import { sunAmount, TRX_DECIMALS } from "../token_contracts.ts";
import {
  type ChainParameters,
  type ChainPrices,
  DELEGATION_BYTES,
  energyWithMargin,
  NATIVE_TRANSFER_BYTES,
  simulateTransfer,
  TOKEN_TRANSFER_BYTES,
  type TokenTransferCall,
  tokenTransferFee,
} from "./estimate_fee.ts";
import type { NodePool } from "../../nodes/node_pool.ts";
import { readAny } from "./read_from.ts";

const SUN_PER_TRX = 1_000_000n;
/** `ResourceCode.ENERGY` of java-tron's `common.proto`. */
const ENERGY = 1;

/** Settings of the reads. */
export interface GasContext {
  readonly pool: NodePool;
  readonly parameters: ChainParameters;
  /** 42 hex digits. */
  readonly hotWalletHex: string;
  readonly highestFeeLimitSun: number;
}

/** See `GasPort.sweepCosts`. */
export async function sweepCosts(
  context: GasContext,
  call: TokenTransferCall,
  signal?: AbortSignal,
): Promise<SweepCosts> {
  const { pool, parameters, hotWalletHex, highestFeeLimitSun } = context;
  const prices = await parameters.prices(signal);
  const [account, own, hot, { energy, arrives }] = await Promise.all([
    readAccount(pool, call.owner, signal),
    readResources(pool, call.owner, signal),
    readResources(pool, hotWalletHex, signal),
    simulateTransfer(pool, call, signal),
  ]);
  const isActive = account.address !== undefined;
  const energyLeft = left(own.EnergyLimit, own.EnergyUsed);
  const bytes = bytesBurned(own, prices);
  const energyAtMost = energyWithMargin(energy);
  const costAtMost = lacking(energyAtMost, energyLeft) * prices.energy + bytes;
  // funding activates, and that takes the place of its bytes
  const funding = isActive ? NATIVE_TRANSFER_BYTES * prices.byte : prices.activation;
  const cost = lacking(energy, energyLeft) * prices.energy + bytes;
  return {
    isActive,
    coin: sunAmount(account.balance),
    fee: {
      ...tokenTransferFee(energy, prices, highestFeeLimitSun),
      ...(arrives === null ? {} : { arrives: fromTokenUnits(arrives, call.decimals) }),
    },
    cost: sunAmount(cost),
    enough: sunAmount(costAtMost),
    costAtMost: sunAmount(costAtMost),
    costDelegated: sunAmount(bytes),
    stakeNeeded: stakeFor(lacking(energyAtMost, energyLeft), hot),
    costByCoin: sunAmount(cost + funding),
    // delegated, undelegated, and the coin that wakes the address up
    costByDelegation: sunAmount(
      bytes + 2 * DELEGATION_BYTES * prices.byte + (isActive ? 0 : funding),
    ),
  };
}

/** Stake of the hot wallet that can be delegated for energy now. */
export async function delegatableStake(
  { pool, hotWalletHex }: GasContext,
  signal?: AbortSignal,
): Promise<Amount> {
  const request = {
    path: "/wallet/getcandelegatedmaxsize",
    body: { owner_address: hotWalletHex, type: ENERGY },
  };
  const answer = await readAny(pool, request, canDelegateSchema, signal);
  return sunAmount(answer.max_size);
}

/** Stake of the hot wallet that an address holds for energy, in solid blocks. */
export async function delegatedStake(
  { pool, hotWalletHex }: GasContext,
  address: string,
  signal?: AbortSignal,
): Promise<Amount> {
  const request = {
    path: "/walletsolidity/getdelegatedresourcev2",
    body: { fromAddress: hotWalletHex, toAddress: address },
  };
  const answer = await readAny(pool, request, delegatedResourceSchema, signal);
  return sunAmount(
    answer.delegatedResource.reduce((sum, one) => sum + one.frozen_balance_for_energy, 0),
  );
}

function readAccount(pool: NodePool, address: string, signal?: AbortSignal) {
  const request = { path: "/walletsolidity/getaccount", body: { address } };
  return readAny(pool, request, longAccount, signal);
}

function readResources(pool: NodePool, address: string, signal?: AbortSignal) {
  const request = { path: "/wallet/getaccountresource", body: { address } };
  return readAny(pool, request, longAccountResources, signal);
}

/** Bytes are paid as a whole from stake, or from the free allowance, or burned. @returns sun */
function bytesBurned(own: AccountResourceAnswer, prices: ChainPrices): number {
  const staked = left(own.NetLimit, own.NetUsed);
  const free = left(own.freeNetLimit, own.freeNetUsed);
  return Math.max(staked, free) >= TOKEN_TRANSFER_BYTES ? 0 : TOKEN_TRANSFER_BYTES * prices.byte;
}

/**
 * Stake whose share of the network's energy is at least so much. The node counts whole TRX, so one
 * is added for what rounding takes.
 */
function stakeFor(energy: number, network: AccountResourceAnswer): Amount | null {
  const { TotalEnergyLimit: limit, TotalEnergyWeight: weight } = network;
  if (limit === 0 || weight === 0) return null;
  if (energy === 0) return sunAmount(0);
  const trx = (BigInt(energy) * BigInt(weight) + BigInt(limit) - 1n) / BigInt(limit) + 1n;
  return fromTokenUnits(trx * SUN_PER_TRX, TRX_DECIMALS);
}

function lacking(needed: number, has: number): number {
  return Math.max(0, needed - has);
}

function left(limit: number, used: number): number {
  return Math.max(0, limit - used);
}
