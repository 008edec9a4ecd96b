/**
 * Estimates the cost of a transfer, at prices that the network votes on.
 *
 * @module
 */

import { fromTokenUnits } from "../../../ledger/money/amount.ts";
import { ChainUnavailable } from "../../chain.ts";
import type { FeeEstimate } from "../../fees.ts";
import { longAccount } from "./long_answers.ts";
import { chainParametersSchema, type LogAnswer } from "./answers.ts";
import { constantCall } from "./constant_call.ts";
import { SALT_SUN } from "../pay/envelope.ts";
import type { NodePool } from "../../nodes/node_pool.ts";
import { readAny } from "./read_from.ts";
import { sunAmount } from "../token_contracts.ts";
import { TRANSFER_TOPIC } from "./parse_block.ts";
import { transferArguments } from "../pay/transfer_transaction.ts";

/** A signed USDT transfer as the chain counts it (345 measured, a little more with long varints). */
export const TOKEN_TRANSFER_BYTES = 350;
/** A signed TRX transfer (267 observed in receipts, a little more for large amounts). */
export const NATIVE_TRANSFER_BYTES = 275;
/** A signed delegation of stake, or its end (277 to 284, by the length of the amount). */
export const DELEGATION_BYTES = 285;
/** The penalty factor and the receiver's storage may change until the transfer runs. */
const LIMIT_NUMERATOR = 12;
const LIMIT_DENOMINATOR = 10;

/** Votes take effect every 6 hours; a minute of delay is covered by the margin of the limit. */
const KEEP_MS = 60_000;

/** Prices in sun. */
export interface ChainPrices {
  /** Of one unit of energy. */
  readonly energy: number;
  /** Of one byte of bandwidth. */
  readonly byte: number;
  /** Burnt when a transfer of TRX creates its receiver's account. */
  readonly activation: number;
}

/** Reads and keeps the prices of one network. */
export class ChainParameters {
  #prices: ChainPrices | null = null;
  #readAt = 0;

  constructor(readonly pool: NodePool) {}

  /**
   * The current prices, at most a minute old.
   *
   * @throws {ChainUnavailable} when they cannot be read or one is missing
   */
  async prices(signal?: AbortSignal): Promise<ChainPrices> {
    const now = performance.now();
    if (this.#prices !== null && now - this.#readAt < KEEP_MS) return this.#prices;
    const request = { path: "/wallet/getchainparameters", body: {} };
    const answer = await readAny(this.pool, request, chainParametersSchema, signal);
    const values = new Map(answer.chainParameter.map(({ key, value }) => [key, value]));
    const read = (key: string): number => {
      const value = values.get(key);
      if (value !== undefined && value >= 0) return value;
      throw new ChainUnavailable("malformed", `Cannot read prices as one is missing: ${key}`);
    };
    this.#prices = {
      energy: read("getEnergyFee"),
      byte: read("getTransactionFee"),
      activation: read("getCreateNewAccountFeeInSystemContract") + read("getCreateAccountFee"),
    };
    this.#readAt = now;
    return this.#prices;
  }
}

/** A token transfer to price; addresses are 42 hex digits. */
export interface TokenTransferCall {
  readonly owner: string;
  readonly contract: string;
  readonly to: string;
  readonly units: bigint;
  /** Of the token. */
  readonly decimals: number;
}

/** Result of a simulated transfer. */
export interface SimulatedTransfer {
  readonly energy: number;
  /** Amount that reaches the receiver, in the token's smallest unit; null: the node gave no events. */
  readonly arrives: bigint | null;
}

/**
 * Simulates a token transfer with the real sender and receiver: one that holds none of the token yet
 * costs twice as much energy, and a token may keep a part of what it moves.
 *
 * @throws {ChainUnavailable} `reverted` when the transfer would fail now
 */
export async function simulateTransfer(
  pool: NodePool,
  call: TokenTransferCall,
  signal?: AbortSignal,
): Promise<SimulatedTransfer> {
  const answer = await constantCall(
    pool,
    {
      owner: call.owner,
      contract: call.contract,
      selector: "transfer(address,uint256)",
      parameter: transferArguments(call.to, call.units),
    },
    "head",
    signal,
  );
  return { energy: answer.energy_used, arrives: arrivesBy(answer.logs, call) };
}

/** Sum that events bring from the sender to the receiver; null without any events. */
function arrivesBy(
  logs: readonly LogAnswer[],
  { owner, contract, to }: TokenTransferCall,
): bigint | null {
  if (logs.length === 0) return null;
  const hex = (text: string) => text.toLowerCase().slice(-40);
  const ours = logs.filter(({ address, topics: [topic, from, receiver] }) =>
    hex(address) === hex(contract) && topic?.toLowerCase() === TRANSFER_TOPIC &&
    hex(from ?? "") === hex(owner) && hex(receiver ?? "") === hex(to)
  );
  return ours.reduce(
    (sum, { data }) => /^[0-9a-f]{64}$/i.test(data) ? sum + BigInt(`0x${data}`) : sum,
    0n,
  );
}

/** Energy with room for the penalty factor and the receiver's storage, which may change. */
export function energyWithMargin(energy: number): number {
  return Math.ceil(energy * LIMIT_NUMERATOR / LIMIT_DENOMINATOR);
}

/**
 * The cost of a token transfer of so much energy.
 *
 * @param highestLimit the most that one transaction may burn, in sun
 * @throws {ChainUnavailable} `malformed` when the energy alone costs more than the highest limit, so
 *   that the transfer would burn it in vain
 */
export function tokenTransferFee(
  energy: number,
  prices: ChainPrices,
  highestLimit: number,
): FeeEstimate {
  const energyCost = energy * prices.energy;
  if (energyCost > highestLimit) {
    throw new ChainUnavailable(
      "malformed",
      `Cannot estimate a transfer as it would burn ${energyCost} sun, above the limit: ${highestLimit}`,
    );
  }
  const limit = Math.min(energyWithMargin(energyCost), highestLimit);
  const bytes = TOKEN_TRANSFER_BYTES * prices.byte;
  return {
    fee: sunAmount(energyCost + bytes),
    limit: sunAmount(limit),
    // the limit is for energy alone, and salted: another attempt is another transaction
    atMost: sunAmount(limit + SALT_SUN + bytes),
  };
}

/**
 * Estimates a token transfer by simulating it.
 *
 * Staked energy and free bandwidth are not subtracted. They are shared by everything the wallet
 * sends, so two transfers would both count on them; the estimate stays on the safe side.
 *
 * @throws {ChainUnavailable} see {@linkcode simulateTransfer}, {@linkcode tokenTransferFee}
 */
export async function estimateTokenTransfer(
  pool: NodePool,
  prices: ChainPrices,
  call: TokenTransferCall,
  highestLimit: number,
  signal?: AbortSignal,
): Promise<FeeEstimate> {
  const { energy, arrives } = await simulateTransfer(pool, call, signal);
  const estimate = tokenTransferFee(energy, prices, highestLimit);
  if (arrives === null) return estimate;
  return { ...estimate, arrives: fromTokenUnits(arrives, call.decimals) };
}

/** The cost of delegating stake or undelegating it: its bytes. */
export function delegationFee(prices: ChainPrices): FeeEstimate {
  const fee = sunAmount(DELEGATION_BYTES * prices.byte);
  return { fee, limit: fee };
}

/**
 * Estimates a transfer of TRX: its bytes or, when the receiver has no account, the activation. That
 * takes the place of the bytes: the network charges one or the other.
 *
 * @param to 42 hex digits
 */
export async function estimateNativeTransfer(
  pool: NodePool,
  prices: ChainPrices,
  to: string,
  signal?: AbortSignal,
): Promise<FeeEstimate> {
  const request = { path: "/wallet/getaccount", body: { address: to } };
  const account = await readAny(pool, request, longAccount, signal);
  const fee = sunAmount(
    account.address === undefined ? prices.activation : NATIVE_TRANSFER_BYTES * prices.byte,
  );
  return { fee, limit: fee };
}
