/**
 * The production adapter of TRON networks. It speaks the public HTTP API of a full node and knows
 * nothing of who runs that node.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import { z } from "zod";
import { type Amount, fromTokenUnits, toTokenUnits } from "../../ledger/money/amount.ts";
import { type Currency, type Network, tokenDecimals } from "../../ledger/money/pair.ts";
import {
  type Asset,
  type BroadcastOutcome,
  type Chain,
  ChainUnavailable,
  type Checkpoint,
  type FeeEstimate,
  type GasPort,
  type SignedTransaction,
} from "../chain.ts";
import { depositBranch } from "../deposit_branch.ts";
import {
  addressFromLogHex,
  addressOfPublicKey,
  addressToHex,
  addressToLogHex,
  isTronAddress,
} from "./address.ts";
import { type AccountAnswer, accountSchema } from "./answers.ts";
import { ChainIdentity } from "./chain_identity.ts";
import { ChainParameters } from "./chain_parameters.ts";
import { classifyBroadcast, combineOutcomes, unclear } from "./classify_broadcast.ts";
import { constantCall, returnedInteger } from "./constant_call.ts";
import { makeEnvelope } from "./envelope.ts";
import {
  estimateNativeTransfer,
  estimateTokenTransfer,
  loanFee,
  type TokenTransferCall,
} from "./estimate_fee.ts";
import { lendableStake, lentStake, sweepMeans } from "./gas.ts";
import { NewestPlace } from "./newest_place.ts";
import { TronNode } from "./node.ts";
import type { Admit } from "./node_health.ts";
import { NodePool, readFrom } from "./node_pool.ts";
import { type IgnoredTransfers, type ParseContext, TRX_DECIMALS } from "./parse_block.ts";
import { readBlock, readBlocks, readNewest } from "./read_blocks.ts";
import { readAtCheckpoint } from "./read_at_checkpoint.ts";
import { readTransaction } from "./read_transaction.ts";
import { readTwice } from "./same_state.ts";
import { signedTerms } from "./signed_terms.ts";
import { contractEntries, type TokenContracts } from "./token_contracts.ts";
import { readTokenSwitches } from "./token_switches.ts";
import { tronTransactionId } from "./transaction_id.ts";
import { nodesOf, type TronNodes } from "./tron_nodes.ts";

const logger = getLogger(["engine", "chains", "tron"]);

const DEFAULT_LIFETIME_MS = 5 * 60 * 1000;
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
  /** Extended public key of the deposit branch, `m/44'/195'/<account>'/0`; confidential. */
  readonly depositXpub: string;
  /** Address that payouts leave from. */
  readonly hotWallet: string;
  /** Validity of a transaction in milliseconds of block time; default 5 minutes. */
  readonly lifetimeMs?: number;
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
  /** The most one transaction may burn, in sun; default 150 TRX. */
  readonly highestFeeLimitSun?: number;
}

/** A {@linkcode Chain} with what only TRON's composition root and metrics need. */
export interface TronChain extends Chain {
  readonly nodes: TronNodes;
  /** Running totals of Transfer events that are no money. */
  readonly ignored: Readonly<IgnoredTransfers>;
  /**
   * Start-up check: reads `decimals()` of every configured token and compares it with the
   * service's own table.
   *
   * @throws {ChainUnavailable} when no node answers
   * @throws {Error} when they differ; then no amount can be trusted and the network must not start
   */
  verify(signal?: AbortSignal): Promise<void>;
}

/** Addresses of the deposit branch, from its extended public key alone. */
function depositAddresses(depositXpub: string): (index: number) => string {
  const keyOf = depositBranch(depositXpub);
  return (index) => addressOfPublicKey(keyOf(index));
}

/** The bytes offered to one node; a failure of the transport says nothing about the outcome. */
async function offer(
  node: TronNode,
  signed: SignedTransaction,
  signal?: AbortSignal,
): Promise<BroadcastOutcome> {
  try {
    const answer = await node.post("/wallet/broadcasttransaction", signed.bytes, signal);
    return classifyBroadcast(answer, signed.txid);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    return unclear(error.category.toUpperCase());
  }
}

const signedTextSchema = z.object({ txID: z.string() });

/**
 * The bytes offered to all nodes at once. An acceptance is reported without waiting for the other
 * nodes, which are still offered the bytes; anything less counts only when all have answered.
 */
async function offerToAll(
  nodes: readonly TronNode[],
  signed: SignedTransaction,
  signal?: AbortSignal,
): Promise<BroadcastOutcome> {
  const { promise, resolve, reject } = Promise.withResolvers<BroadcastOutcome>();
  const offers = nodes.map(async (node) => {
    const outcome = await offer(node, signed, signal);
    if (outcome.category === "accepted") resolve(outcome);
    return outcome;
  });
  Promise.all(offers).then((outcomes) => resolve(combineOutcomes(outcomes)), reject);
  return await promise;
}

/** @throws {Error} when the bytes are not of that transaction: a stored row was mixed up */
function requireOwnBytes(signed: SignedTransaction): void {
  const { txID } = signedTextSchema.parse(JSON.parse(signed.bytes));
  if (txID === signed.txid) return;
  throw new Error(`Cannot broadcast ${signed.txid} as its bytes are of another: ${txID}`);
}

/** What the parts of one adapter share. */
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
  transfer: Parameters<Chain["estimateFee"]>[0],
  signal?: AbortSignal,
): Promise<FeeEstimate> {
  const { pool, parameters, highestFeeLimitSun } = parts;
  const to = addressToHex(transfer.to);
  const prices = await parameters.prices(signal);
  if (transfer.isLoan === true) return loanFee(prices);
  if (transfer.currency === "native") {
    return await estimateNativeTransfer(pool, prices, to, signal);
  }
  const call = callOf(parts, { ...transfer, currency: transfer.currency });
  return await estimateTokenTransfer(pool, prices, call, highestFeeLimitSun, signal);
}

/** A transfer of tokens as its contract sees it. */
function callOf(
  parts: Parts,
  { from, to, currency, amount }: Parameters<GasPort["means"]>[0],
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
    const account = await readAtCheckpoint(parts.pool, checkpoint, {
      attempt: (node, bound) => {
        const read = () => readFrom(node, request, accountSchema, bound);
        if (checkpoint === undefined) return read();
        const isSame = (one: AccountAnswer, other: AccountAnswer) => one.balance === other.balance;
        return readTwice(node, checkpoint, read, isSame, bound);
      },
      isEnough: () => true,
      better: (kept) => kept,
    }, signal);
    return fromTokenUnits(BigInt(account.balance), TRX_DECIMALS);
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

/** See {@linkcode TronChain.verify}. */
async function verify(parts: Parts, signal?: AbortSignal): Promise<void> {
  const { pool, contracts, network, hotWalletHex } = parts;
  for (const [currency, contract] of contracts) {
    const selector = "decimals()";
    const call = { owner: hotWalletHex, contract, selector, parameter: "" };
    const found = returnedInteger(await constantCall(pool, call, "head", signal), selector);
    const expected = BigInt(tokenDecimals(currency, network));
    if (found !== expected) {
      throw new Error(
        `Cannot use ${currency} on ${network} as its contract has ${found} decimals, not ${expected}`,
      );
    }
    logger.info("{currency} on {network} has {decimals} decimals", {
      currency,
      network,
      decimals: Number(found),
    });
  }
}

/** The nodes of the options. */
function poolOf(options: TronChainOptions, identity: ChainIdentity): NodePool {
  if (options.nodeUrls.length === 0) {
    throw new TypeError(`Cannot read from ${options.network} as it has no node configured`);
  }
  const requestTimeoutMs = options.requestTimeoutMs ?? DEFAULT_REQUEST_TIMEOUT_MS;
  const nodes = options.nodeUrls.map((url) =>
    new TronNode({
      url,
      requestTimeoutMs,
      ...(options.apiKey === undefined ? {} : { apiKey: options.apiKey }),
      ...(options.dailyCalls === undefined ? {} : { dailyCalls: options.dailyCalls }),
      ...(options.callsPerSecond === undefined ? {} : { callsPerSecond: options.callsPerSecond }),
    })
  );
  const admit: Admit | null = options.checksIdentity === true
    ? (node, signal) => identity.require(node, signal)
    : null;
  return new NodePool(nodes, options.totalTimeoutMs ?? DEFAULT_TOTAL_TIMEOUT_MS, admit);
}

/**
 * Makes the adapter; no request is sent yet.
 *
 * @throws {TypeError} when a URL or key is malformed
 * @throws {RangeError} when an address is malformed
 */
export function createTronChain(options: TronChainOptions): TronChain {
  const { network, hotWallet } = options;
  const entries = contractEntries(options.contracts);
  const identity = new ChainIdentity();
  const pool = poolOf(options, identity);
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
    ignored: { zeroValue: 0, otherContract: 0 },
  };
  const lifetimeMs = options.lifetimeMs ?? DEFAULT_LIFETIME_MS;
  const place = new NewestPlace(options.leastBlockMs ?? 1);
  return {
    network,
    hotWallet,
    nodes: nodesOf(pool, identity),
    capabilities: {
      finality: "solid-block",
      nonce: false,
      needsGasToSweep: true,
      currencies: entries.map(([currency]) => currency),
      contracts: new Map(entries),
      lifetimeMs,
    },
    ignored: context.ignored,
    isAddress: isTronAddress,
    addressOf: addressFromLogHex,
    eventAddress: addressToLogHex,
    transactionId: tronTransactionId,
    deriveAddress: depositAddresses(options.depositXpub),
    head: (signal) => readNewest(pool, "head", place, signal),
    solid: (signal) => readNewest(pool, "solid", place, signal),
    block: (height, finality, signal) => readBlock(pool, height, finality, context, signal),
    blocks: (from, to, finality, signal, checkpoint, continued) => {
      if (continued !== undefined) place.note(continued);
      return readBlocks({ pool, context }, { from, to, finality }, signal, checkpoint, continued);
    },
    transaction: (txid, finality, signal, checkpoint) =>
      readTransaction(pool, txid, finality, context, signal, checkpoint),
    estimateFee: (transfer, signal) => estimateFee(parts, transfer, signal),
    envelope: (solid, fee) => makeEnvelope(network, solid, fee, lifetimeMs),
    termsOf: signedTerms,
    broadcast: async (signed, signal) => {
      requireOwnBytes(signed);
      return await offerToAll(pool.nodes, signed, signal);
    },
    balanceOf: (address, asset, signal, checkpoint) =>
      balanceOf(parts, address, asset, signal, checkpoint),
    tokenSwitches: (currency, address, signal) =>
      readTokenSwitches(pool, contractOf(parts, currency), addressToHex(address), signal),
    gas: {
      means: (transfer, signal) => sweepMeans(parts, callOf(parts, transfer), signal),
      lendable: (signal) => lendableStake(parts, signal),
      lentTo: (address, signal) => lentStake(parts, addressToHex(address), signal),
    },
    verify: (signal) => verify(parts, signal),
  };
}
