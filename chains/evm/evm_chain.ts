/**
 * The adapter of Ethereum and of chains that speak its dialect, over the JSON-RPC of their nodes.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import type { Amount } from "../../ledger/money/amount.ts";
import { type Network, tokenDecimals } from "../../ledger/money/pair.ts";
import type { AddressSource } from "../address_source.ts";
import { WrongDecimals } from "../chain.ts";
import type { OpenChain, SingleNode } from "../family.ts";
import { MOST_AHEAD_MS, NewestPlace } from "../nodes/believed_nodes.ts";
import { ChainNode, type NodeOptions } from "../nodes/node.ts";
import { NodePool } from "../nodes/node_pool.ts";
import { PROFILES, type SweepBy, type TokenContracts } from "../profiles.ts";
import { addressOfEvent, eventAddress, evmAddress } from "./address.ts";
import { chainIdOf } from "./chain_id.ts";
import { estimateFee, type Parts, tokenOf } from "./estimate_transaction.ts";
import { WrongChainNode } from "../nodes/node_failures.ts";
import { evmLane, type LaneBounds } from "./lane.ts";
import { paymentLink } from "./payment_link.ts";
import { broadcastToAll } from "./pay/broadcast.ts";
import { makeEnvelope } from "./pay/envelope.ts";
import { delegateOf } from "./pay/sweep_delegate.ts";
import { feeBySigned, signedTerms } from "./pay/signed_terms.ts";
import { headOrNothingSchema } from "./read/answers.ts";
import { callContract, returnedInteger } from "./read/contract_call.ts";
import { evmGasPort } from "./read/gas.ts";
import { makeSource } from "./read/make_source.ts";
import { readBalance } from "./read/read_balance.ts";
import { readProvenIds } from "./read/proven_ids.ts";
import { evmBlockAt, readBlock, readBlocks, readNewest } from "./read/read_blocks.ts";
import { readFurthest } from "./read/read_furthest.ts";
import { readTransaction } from "./read/read_transaction.ts";
import { evmTransactionId } from "./transaction_id.ts";
import { readsBlocks } from "./read/rpc_errors.ts";
import { FinalBlocks, headCall, requireChainId, rpc } from "./read/source.ts";
import { missingDelegate } from "./read/sweep_setup.ts";
import { readTokenSwitches } from "./read/token_switches.ts";
import { contractEntries, methodData } from "./token_contracts.ts";

const DEFAULT_REQUEST_TIMEOUT_MS = 5_000;
const DEFAULT_TOTAL_TIMEOUT_MS = 15_000;
const SECOND = 1_000;
/** A newest block may be so much older than its view has it in regular operation. */
const STALE_MS = 120 * SECOND;
/** More save little: 31.9k gas for each address of 20 and 31.2k of 40, measured; a failure is of all of them. */
const SWEEPS_AT_ONCE = 20;
/** Nodes keep 16 transactions of one sender for certain, those of BNB Smart Chain more. */
const LANES: Readonly<Record<string, LaneBounds>> = {
  ETH: { mostUnseen: 12, bumpAfterMs: 48 * SECOND },
  BNB: { mostUnseen: 48, bumpAfterMs: 6 * SECOND },
};
/** On a development chain one that is in none of four blocks is replaced, and not within this time. */
const DEVELOPMENT_BUMP_MS = 3 * SECOND;

/** Configuration of a network. */
export interface EvmChainOptions {
  readonly network: Network;
  /** Base URLs; reads use them in this order, broadcasts go to all of them. */
  readonly nodeUrls: readonly string[];
  /** Sent as `Authorization: Bearer`; most providers take a key in the URL's path as well. */
  readonly apiKey?: string | undefined;
  readonly contracts: TokenContracts;
  readonly deposits: AddressSource;
  /** Address that payouts leave from. */
  readonly hotWallet: string;
  /** Time between two blocks; default that of its profile. */
  readonly blockMs?: number;
  /** Bound of one request in milliseconds; default 5,000. */
  readonly requestTimeoutMs?: number;
  /** Bound of one read over all nodes in milliseconds; default 15,000. */
  readonly totalTimeoutMs?: number;
  /** Calls per node and day (UTC) that its provider allows; default without a bound. */
  readonly dailyCalls?: number | undefined;
  /** Calls per node and second at most, 0 without a bound; see {@linkcode NodeOptions.callsPerSecond}. */
  readonly callsPerSecond?: number | undefined;
  /** Types of transactions whose receipts are believed without their root; default none. */
  readonly receiptTypes?: readonly number[];
  /** True for a development chain: it has a number of its own, and its blocks may come at any time. */
  readonly isDevelopment?: boolean;
  /** True for one that is treated as the real chain, but for its number. */
  readonly isRehearsal?: boolean;
  /** The most that one transaction may cost, in coin; absent where the chain is only read. */
  readonly feeCap?: Amount;
  /**
   * Sender of a sweep: the address itself, with coin that it is given (default), or the hot wallet by its
   * delegate, from many addresses at once.
   */
  readonly sweepBy?: SweepBy | undefined;
  /** Addresses from which the hot wallet collects in one transaction; default 20. */
  readonly sweepsAtOnce?: number | undefined;
}

/** See `Verifiable.verify`: decimals of every token are compared with the service's own table. */
async function verify({ pool, contracts, network }: Parts, signal?: AbortSignal): Promise<void> {
  const data = methodData("decimals");
  for (const [currency, contract] of contracts) {
    const bytes = await pool.read(
      (node, bound) => callContract(node, contract, data, "latest", bound),
      { signal },
    );
    const found = returnedInteger(bytes, "decimals()");
    const expected = BigInt(tokenDecimals(currency, network));
    if (found !== expected) {
      throw new WrongDecimals(
        `Cannot use ${currency} on ${network} as its contract has ${found} decimals, not ${expected}`,
      );
    }
    logEvent("token.decimals", { currency, network, decimals: Number(found) });
  }
}

/** A node that is asked in this dialect. */
export function nodeOf(
  { apiKey, ...options }: SingleNode & Omit<NodeOptions, "apiKey">,
): ChainNode {
  const header = apiKey === undefined
    ? undefined
    : { header: "authorization", value: `Bearer ${apiKey}` };
  return new ChainNode({ ...options, apiKey: header, readsBlocks });
}

/** Bound of one read over all nodes, milliseconds. */
function totalTimeoutOf({ totalTimeoutMs }: EvmChainOptions): number {
  return totalTimeoutMs ?? DEFAULT_TOTAL_TIMEOUT_MS;
}

/** The nodes of the options. */
function poolOf(options: EvmChainOptions, chainId: number, finals: FinalBlocks): NodePool {
  const { network, nodeUrls, apiKey, dailyCalls, callsPerSecond } = options;
  if (nodeUrls.length === 0) {
    throw new TypeError(`Cannot read from ${network} as it has no node configured`);
  }
  const requestTimeoutMs = options.requestTimeoutMs ?? DEFAULT_REQUEST_TIMEOUT_MS;
  const nodes = nodeUrls.map((url) =>
    nodeOf({ url, apiKey, requestTimeoutMs, dailyCalls, callsPerSecond })
  );
  return new NodePool(nodes, {
    totalTimeoutMs: totalTimeoutOf(options),
    blockAt: evmBlockAt(finals),
    checksIdentity: true,
    // nodes that have forgotten old blocks do not have the first one, but know their chain's number
    requireIdentity: (node, signal) => requireChainId(node, chainId, signal),
  });
}

/** Id of the first block, as one node has it; null where it does not have that block any more. */
export async function firstBlockOf(node: SingleNode, signal: AbortSignal): Promise<string | null> {
  return (await rpc.ask(nodeOf(node), headCall(0), headOrNothingSchema, signal))?.hash ?? null;
}

/** True where one node is of the chain with this number. @throws {ChainUnavailable} when it does not answer */
export async function hasChainId(
  node: SingleNode,
  chainId: number,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await requireChainId(nodeOf(node), chainId, signal);
    return true;
  } catch (error) {
    if (error instanceof WrongChainNode) return false;
    throw error;
  }
}

/** Bounds of the network's lanes. */
function laneBounds(network: Network, blockMs: number, isDevelopment: boolean): LaneBounds {
  const bounds = LANES[PROFILES[network].coin.symbol];
  if (bounds === undefined) {
    throw new TypeError(`Cannot open a network of another kind: ${network}`);
  }
  if (!isDevelopment) return bounds;
  return { ...bounds, bumpAfterMs: Math.max(DEVELOPMENT_BUMP_MS, 4 * blockMs) };
}

/**
 * Makes the adapter; no request is sent yet.
 *
 * @throws {TypeError} when a URL is malformed
 * @throws {RangeError} when an address is malformed
 */
export function createEvmChain(options: EvmChainOptions): OpenChain {
  const { network, hotWallet, deposits, sweepBy = "coin" } = options;
  const { isDevelopment = false, isRehearsal = false } = options;
  const { pace } = PROFILES[network];
  const entries = contractEntries(options.contracts);
  const contracts = new Map(entries);
  const finals = new FinalBlocks();
  const chainId = chainIdOf(network, isDevelopment || isRehearsal);
  const pool = poolOf(options, chainId, finals);
  const blockMs = options.blockMs ?? pace.blockMs;
  const delegate = sweepBy === "delegate" ? delegateOf(hotWallet) : null;
  const mostAheadMs = isDevelopment || isRehearsal ? Infinity : MOST_AHEAD_MS;
  const place = new NewestPlace(isDevelopment ? 1 : pace.blockMs / 2, mostAheadMs);
  const parts: Parts = {
    ...makeSource({
      network,
      pool,
      finals,
      contracts: entries,
      hotWallet: `0x${eventAddress(hotWallet)}`,
      totalTimeoutMs: totalTimeoutOf(options),
      place,
      blockMs,
      receiptTypes: options.receiptTypes ?? [],
    }),
    network,
    contracts,
    chainId,
    hotWallet,
    feeCap: options.feeCap ?? null,
    delegate,
    sweepsAtOnce: delegate === null ? 1 : options.sweepsAtOnce ?? SWEEPS_AT_ONCE,
  };
  const stale = { head: STALE_MS, solid: STALE_MS + pace.finalityMs };
  const lane = evmLane(parts, parts.feeCap, laneBounds(network, blockMs, isDevelopment));
  /** Contracts take tokens in and give none back. */
  const closed = new Set([...contracts.values(), delegateOf(hotWallet)]);
  return {
    network,
    hotWallet,
    nodes: pool,
    capabilities: {
      currencies: entries.map(([currency]) => currency),
      contracts,
      life: { kind: "nonce", lane },
      sweepsAtOnce: parts.sweepsAtOnce,
      // receipts that are bound to a block's hash are the solid ones of that hash, whichever node gave them
      ...(pace.headMs === null
        ? {}
        : { keptHeadBlocks: 2 * Math.ceil(pace.finalityMs / pace.blockMs) }),
      blockMs,
      mostAheadMs,
    },
    address: (text) => {
      const address = evmAddress(text);
      return address === null || closed.has(address) ? null : address;
    },
    addressOf: addressOfEvent,
    eventAddress,
    transactionId: evmTransactionId,
    paymentLink: (to, currency, amount) => {
      const contract = contracts.get(currency);
      const decimals = tokenDecimals(currency, network);
      return contract === undefined
        ? null
        : paymentLink(chainId, { contract, decimals }, to, amount);
    },
    deriveAddress: (index) => deposits.address(index),
    head: (signal) => readNewest(parts, "head", place, stale.head, signal),
    furthest: (signal) => readFurthest(parts, hotWallet, { blockMs, mostAheadMs }, signal),
    solid: (signal) => readNewest(parts, "solid", place, stale.solid, signal),
    block: (height, finality, signal) => readBlock(parts, height, finality, signal),
    blocks: (from, to, finality, signal, checkpoint, continued) => {
      if (continued !== undefined) place.record(continued);
      return readBlocks(parts, { from, to, finality }, signal, checkpoint, continued);
    },
    transaction: (txid, finality, signal, checkpoint) =>
      readTransaction(parts, txid, finality, signal, checkpoint),
    estimateFee: (movements, signal) => estimateFee(parts, movements, signal),
    envelope: (_, fee, nonce) => makeEnvelope(network, fee, nonce),
    termsOf: (bytes) => signedTerms(bytes),
    feeOf: feeBySigned,
    provenIds: (hash, signal) => readProvenIds(parts, hash, signal),
    broadcast: (signed, signal) => broadcastToAll(pool.offers, signed, signal),
    balanceOf: (address, asset, signal, checkpoint) =>
      readBalance(parts, address, tokenOf(parts, asset), signal, checkpoint),
    tokenSwitches: (currency, address, signal) =>
      readTokenSwitches(parts, contracts.get(currency) ?? "", address, signal),
    ...(delegate === null
      ? {}
      : { missingSetup: (signal) => missingDelegate(parts, delegate, signal) }),
    ...(parts.feeCap === null || delegate !== null
      ? {}
      : { gas: evmGasPort(parts, parts.feeCap, (asset) => tokenOf(parts, asset)) }),
    verify: (signal) => verify(parts, signal),
  };
}
