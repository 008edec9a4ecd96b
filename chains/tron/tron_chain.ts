/**
 * The production adapter of TRON networks, over the public HTTP API of full nodes.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import { type Amount, fromTokenUnits, toTokenUnits } from "../../ledger/money/amount.ts";
import { type Currency, type Network, tokenDecimals } from "../../ledger/money/pair.ts";
import type { AddressSource } from "../address_source.ts";
import { type Asset, type Checkpoint, WrongDecimals } from "../chain.ts";
import type { FeeEstimate, GasPort, Movement } from "../fees.ts";
import type { OpenChain, SingleNode } from "../family.ts";
import { ChainIdentity, NewestPlace } from "../nodes/believed_nodes.ts";
import { ChainNode } from "../nodes/node.ts";
import { NodePool } from "../nodes/node_pool.ts";
import { PROFILES, type TokenContracts } from "../profiles.ts";
import { addressFromLogHex, addressToHex, addressToLogHex, tronAddress } from "./address.ts";
import { broadcastToAll } from "./pay/broadcast.ts";
import { makeEnvelope, signedTerms } from "./pay/envelope.ts";
import type { AccountAnswer } from "./read/answers.ts";
import { longAccount } from "./read/long_answers.ts";
import { LongBlocks } from "./read/long_blocks.ts";
import {
  ChainParameters,
  delegationFee,
  estimateNativeTransfer,
  estimateTokenTransfer,
  type TokenTransferCall,
} from "./read/estimate_fee.ts";
import { constantCall, readTwice, returnedInteger } from "./read/constant_call.ts";
import { delegatableStake, delegatedStake, sweepCosts } from "./read/gas.ts";
import type { ParseContext } from "./read/parse_block.ts";
import {
  readBlock,
  readBlocks,
  readFurthest,
  readNewest,
  tronBlockAt,
} from "./read/read_blocks.ts";
import { readFrom } from "./read/read_from.ts";
import { readsBlocks, suspensionIn } from "./read/refusal_texts.ts";
import { readTransaction } from "./read/read_transaction.ts";
import { tronTransactionId } from "./transaction_id.ts";
import { readTokenSwitches } from "./read/token_switches.ts";
import { LIFETIME_MS } from "./terms.ts";
import { contractEntries, sunAmount } from "./token_contracts.ts";

/** Header of public providers; see {@linkcode TronChainOptions.apiKey}. */
const API_KEY_HEADER = "tron-pro-api-key";
const DEFAULT_REQUEST_TIMEOUT_MS = 5_000;
const DEFAULT_TOTAL_TIMEOUT_MS = 15_000;
/** 150 TRX: a transfer to a new holder at the highest energy price so far needs 66. */
const DEFAULT_HIGHEST_FEE_LIMIT_SUN = 150_000_000;

/** Configuration of a TRON network. */
export interface TronChainOptions {
  readonly network: Network;
  /** Base URLs; reads use them in this order, broadcasts go to all of them. */
  readonly nodeUrls: readonly string[];
  /** Sent as `TRON-PRO-API-KEY`. */
  readonly apiKey?: string;
  readonly contracts: TokenContracts;
  readonly deposits: AddressSource;
  /** Address that payouts leave from. */
  readonly hotWallet: string;
  /** Validity of a transaction in milliseconds of block time; default 5 minutes. */
  readonly lifetimeMs?: number;
  /** Time between two blocks; default that of its profile. */
  readonly blockMs?: number;
  /** Bound of one request in milliseconds; default 5,000. */
  readonly requestTimeoutMs?: number;
  /** Bound of one read over all nodes in milliseconds; default 15,000. */
  readonly totalTimeoutMs?: number;
  /** Calls per node and day (UTC) that its provider allows; default without a bound. */
  readonly dailyCalls?: number;
  /** Calls per node and second at most, 0 without a bound; see {@linkcode NodeOptions.callsPerSecond}. */
  readonly callsPerSecond?: number;
  /** True if nodes are asked for the chain's first block before they are believed; default not. */
  readonly checksIdentity?: boolean;
  /** Time between two blocks at least, milliseconds; default 1, as a development chain may have it. */
  readonly leastBlockMs?: number;
  /** By which a block may be ahead of the clock, milliseconds; default without a bound, as a development chain leaps. */
  readonly mostAheadMs?: number;
  /** The most one transaction may burn, in sun; default 150 TRX. */
  readonly highestFeeLimitSun?: number;
}

/** Settings and state that the parts of one adapter share. */
interface Parts {
  readonly network: Network;
  readonly pool: NodePool;
  readonly contracts: ReadonlyMap<Currency, string>;
  readonly parameters: ChainParameters;
  readonly hotWalletHex: string;
  readonly highestFeeLimitSun: number;
}

/** @throws {TypeError} when the network has no contract of the currency */
function contractOf({ contracts, network }: Parts, currency: Currency): string {
  const contract = contracts.get(currency);
  if (contract !== undefined) return contract;
  throw new TypeError(`Cannot use ${currency} as it has no contract configured on: ${network}`);
}

/** See {@linkcode Chain.estimateFee}. */
async function estimateFee(
  parts: Parts,
  movements: readonly Movement[],
  signal?: AbortSignal,
): Promise<FeeEstimate> {
  const { pool, parameters, highestFeeLimitSun } = parts;
  const [movement] = movements;
  if (movement === undefined || movements.length > 1) {
    throw new RangeError(`Cannot estimate as a transaction moves one thing: ${movements.length}`);
  }
  const { asset, isDelegation } = movement;
  const to = addressToHex(movement.to);
  const prices = await parameters.prices(signal);
  if (isDelegation === true) return delegationFee(prices);
  if (asset === "native") return await estimateNativeTransfer(pool, prices, to, signal);
  const call = callOf(parts, { ...movement, currency: asset });
  return await estimateTokenTransfer(pool, prices, call, highestFeeLimitSun, signal);
}

/** A transfer of tokens as its contract sees it. */
function callOf(
  parts: Parts,
  { from, to, currency, amount }: Parameters<GasPort["sweepCosts"]>[0],
): TokenTransferCall {
  const decimals = tokenDecimals(currency, parts.network);
  return {
    owner: addressToHex(from),
    contract: contractOf(parts, currency),
    to: addressToHex(to),
    units: toTokenUnits(amount, decimals),
    decimals,
  };
}

/** See {@linkcode Chain.balanceOf}. */
async function balanceOf(
  parts: Parts,
  address: string,
  asset: Asset,
  signal?: AbortSignal,
  checkpoint?: Checkpoint,
): Promise<Amount> {
  const hex = addressToHex(address);
  if (asset === "native") {
    const request = { path: "/walletsolidity/getaccount", body: { address: hex } };
    const account = await parts.pool.read((node, bound) => {
      const read = () => readFrom(node, request, longAccount, bound);
      if (checkpoint === undefined) return read();
      const isSame = (one: AccountAnswer, other: AccountAnswer) => one.balance === other.balance;
      return readTwice(parts.pool, node, checkpoint, read, isSame, bound);
    }, { signal, checkpoint });
    return sunAmount(account.balance);
  }
  const selector = "balanceOf(address)";
  const answer = await constantCall(
    parts.pool,
    {
      owner: hex,
      contract: contractOf(parts, asset),
      selector,
      parameter: hex.slice(2).padStart(64, "0"),
    },
    "solid",
    signal,
    checkpoint,
  );
  return fromTokenUnits(returnedInteger(answer, selector), tokenDecimals(asset, parts.network));
}

/** See `Verifiable.verify`: decimals of every token are compared with the service's own table. */
async function verify(parts: Parts, signal?: AbortSignal): Promise<void> {
  const { pool, contracts, network, hotWalletHex } = parts;
  for (const [currency, contract] of contracts) {
    const selector = "decimals()";
    const call = { owner: hotWalletHex, contract, selector, parameter: "" };
    const found = returnedInteger(await constantCall(pool, call, "head", signal), selector);
    const expected = BigInt(tokenDecimals(currency, network));
    if (found !== expected) {
      throw new WrongDecimals(
        `Cannot use ${currency} on ${network} as its contract has ${found} decimals, not ${expected}`,
      );
    }
    logEvent("token.decimals", {
      currency,
      network,
      decimals: Number(found),
    });
  }
}

/** The nodes of the options. */
function poolOf(options: TronChainOptions): NodePool {
  const { network, nodeUrls, apiKey, checksIdentity = false } = options;
  if (nodeUrls.length === 0) {
    throw new TypeError(`Cannot read from ${network} as it has no node configured`);
  }
  const nodes = nodeUrls.map((url) =>
    new ChainNode({
      url,
      requestTimeoutMs: options.requestTimeoutMs ?? DEFAULT_REQUEST_TIMEOUT_MS,
      apiKey: apiKey === undefined ? undefined : { header: API_KEY_HEADER, value: apiKey },
      dailyCalls: options.dailyCalls,
      callsPerSecond: options.callsPerSecond,
      suspensionIn,
      readsBlocks,
    })
  );
  const totalTimeoutMs = options.totalTimeoutMs ?? DEFAULT_TOTAL_TIMEOUT_MS;
  return new NodePool(nodes, { totalTimeoutMs, blockAt: tronBlockAt, checksIdentity });
}

/**
 * Id of the first block, as one node has it; null where it does not serve that.
 *
 * @throws {ChainUnavailable} when it does not answer
 */
export async function firstBlockOf(node: SingleNode, signal: AbortSignal): Promise<string | null> {
  const { apiKey, ...address } = node;
  const identity = new ChainIdentity(tronBlockAt);
  const header = apiKey === undefined ? undefined : { header: API_KEY_HEADER, value: apiKey };
  await identity.require(new ChainNode({ ...address, apiKey: header, suspensionIn }), signal);
  return identity.genesis;
}

/**
 * Makes the adapter; no request is sent yet.
 *
 * @throws {TypeError} when a URL is malformed
 * @throws {RangeError} when an address is malformed
 */
export function createTronChain(options: TronChainOptions): OpenChain {
  const { network, hotWallet, deposits, mostAheadMs = Infinity } = options;
  const entries = contractEntries(options.contracts);
  const pool = poolOf(options);
  const parts: Parts = {
    network,
    pool,
    contracts: new Map(entries),
    parameters: new ChainParameters(pool),
    hotWalletHex: addressToHex(hotWallet),
    highestFeeLimitSun: options.highestFeeLimitSun ?? DEFAULT_HIGHEST_FEE_LIMIT_SUN,
  };
  const context: ParseContext = {
    tokens: new Map(entries.map(([currency, hex]) => {
      const unit = fromTokenUnits(1n, tokenDecimals(currency, network));
      return [hex.slice(2), { currency, unit }];
    })),
    mostAheadMs,
  };
  const tokens: readonly (string | undefined)[] = Object.values(options.contracts);
  const isToken = (text: string) => tokens.includes(text);
  const long = new LongBlocks({
    totalTimeoutMs: options.totalTimeoutMs ?? DEFAULT_TOTAL_TIMEOUT_MS,
    nodes: pool.nodes.length,
  });
  const source = { pool, context, long };
  const lifetimeMs = options.lifetimeMs ?? LIFETIME_MS;
  const place = new NewestPlace(options.leastBlockMs ?? 1, mostAheadMs);
  const blockMs = options.blockMs ?? PROFILES[network].pace.blockMs;
  return {
    network,
    hotWallet,
    nodes: pool,
    capabilities: {
      currencies: entries.map(([currency]) => currency),
      contracts: new Map(entries),
      life: { kind: "expires", ticks: lifetimeMs, ms: lifetimeMs },
      sweepsAtOnce: 1,
      blockMs,
      mostAheadMs,
    },
    // contracts take tokens in and give none back
    address: (text) => isToken(text) ? null : tronAddress(text),
    addressOf: addressFromLogHex,
    eventAddress: addressToLogHex,
    transactionId: tronTransactionId,
    deriveAddress: (index) => deposits.address(index),
    head: (signal) => readNewest(pool, "head", place, signal),
    furthest: (signal) => readFurthest(pool, place, { blockMs, mostAheadMs }, signal),
    solid: (signal) => readNewest(pool, "solid", place, signal),
    block: (height, finality, signal) => readBlock(source, height, finality, signal),
    blocks: (from, to, finality, signal, checkpoint, continued) => {
      if (continued !== undefined) place.record(continued);
      return readBlocks(source, { from, to, finality }, signal, checkpoint, continued);
    },
    transaction: (txid, finality, signal, checkpoint) =>
      readTransaction(pool, txid, finality, context, signal, checkpoint),
    estimateFee: (movements, signal) => estimateFee(parts, movements, signal),
    envelope: (solid, fee) => makeEnvelope(network, solid, fee, lifetimeMs),
    termsOf: signedTerms,
    broadcast: (signed, signal) => broadcastToAll(pool.offers, signed, signal),
    balanceOf: (address, asset, signal, checkpoint) =>
      balanceOf(parts, address, asset, signal, checkpoint),
    tokenSwitches: (currency, address, signal) =>
      readTokenSwitches(pool, contractOf(parts, currency), addressToHex(address), signal),
    gas: {
      sweepCosts: (transfer, signal) => sweepCosts(parts, callOf(parts, transfer), signal),
      delegatable: (signal) => delegatableStake(parts, signal),
      delegatedTo: (address, signal) => delegatedStake(parts, addressToHex(address), signal),
    },
    verify: (signal) => verify(parts, signal),
  };
}
