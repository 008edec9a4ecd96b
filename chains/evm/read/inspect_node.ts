/**
 * Looks at one node: whether it serves what reading, estimating and sweeping need. Nothing is changed by it.
 *
 * @module
 */

import { hexToString } from "viem/utils";
import { z } from "zod";
import { type Network, tokenDecimals } from "../../../ledger/money/pair.ts";
import { ChainUnavailable } from "../../chain.ts";
import type { NodeFinding } from "../../family.ts";
import { NewestPlace } from "../../nodes/believed_nodes.ts";
import type { ChainNode } from "../../nodes/node.ts";
import { NodePool } from "../../nodes/node_pool.ts";
import { PROFILES, type TokenContracts } from "../../profiles.ts";
import { chainIdOf } from "../chain_id.ts";
import { DEPLOYER } from "../pay/sweep_delegate.ts";
import { contractEntries, methodData } from "../token_contracts.ts";
import {
  bytesSchema,
  type HeadAnswer,
  headOrNothingSchema,
  headSchema,
  quantitySchema,
} from "./answers.ts";
import { callContract, returnedInteger } from "./contract_call.ts";
import { readGasPrices } from "./fee_market.ts";
import { makeSource } from "./make_source.ts";
import { completeBlock } from "./read_range.ts";
import { evmBlockAt } from "./read_blocks.ts";
import {
  type EvmSource,
  FinalBlocks,
  finalHead,
  headCall,
  quantityOf,
  requireChainId,
  rpc,
} from "./source.ts";
import { readTokenSwitches } from "./token_switches.ts";

/** An address that has neither code nor coin on any chain, as a caller of what only reads. */
const ANYONE = "0x00000000000000000000000000000000000ca11e";
/** A well-formed authorisation of EIP-7702 by a key that stands for none of the wallet's. */
const AUTHORIZATION = {
  address: DEPLOYER,
  nonce: "0x0",
  yParity: "0x0",
  r: `0x${"79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"}`,
  s: "0x1",
};

/** One question to the node; its failure is a finding as well. */
type Question = () => Promise<Omit<NodeFinding, "what">>;

async function answered(
  what: string,
  ifNot: NodeFinding["verdict"],
  question: Question,
): Promise<NodeFinding> {
  try {
    return { what, ...await question() };
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    return { what, verdict: ifNot, found: error.message };
  }
}

/** Bound of one question. */
const TOTAL_MS = 10_000;

const good = (found: string) => ({ verdict: "good", found }) as const;
const bad = (found: string) => ({ verdict: "bad", found }) as const;

/** The network that a node is to serve. */
export interface InspectedNetwork {
  readonly network: Network;
  readonly contracts: TokenContracts;
}

/** Looks at a node; see `Family.inspect`. */
export async function inspectNode(
  node: ChainNode,
  { network, contracts }: InspectedNetwork,
  signal: AbortSignal,
): Promise<readonly NodeFinding[]> {
  const { identity } = PROFILES[network];
  const chainId = chainIdOf(network, false);
  const finals = new FinalBlocks();
  const pool = new NodePool([node], { totalTimeoutMs: TOTAL_MS, blockAt: evmBlockAt(finals) });
  const { blockMs } = PROFILES[network].pace;
  const source = makeSource({
    network,
    pool,
    finals,
    contracts: contractEntries(contracts),
    hotWallet: ANYONE,
    totalTimeoutMs: TOTAL_MS,
    place: new NewestPlace(blockMs / 2),
    blockMs,
    receiptTypes: [],
  });
  const call = { method: "web3_clientVersion", params: [] };
  const version = await answered("version", "note", async () => ({
    verdict: "note",
    found: node.wordsOf(await rpc.ask(node, call, z.string().max(200), signal)),
  }));
  const number = await answered("number of the chain", "bad", async () => {
    await requireChainId(node, chainId, signal);
    return good(String(chainId));
  });
  const first = await answered("first block", "bad", async () => {
    const head = await rpc.ask(node, headCall(0), headOrNothingSchema, signal);
    if (head === null) return { verdict: "note", found: "the node has forgotten it" };
    return head.hash === identity ? good(head.hash) : bad(`${head.hash}, not ${identity}`);
  });
  return [
    version,
    number,
    first,
    ...await viewsOf(node, signal),
    ...await blocksOf(node, source, signal),
    ...await tokensOf(node, { network, contracts }, source, signal),
    ...await payingOf(node, chainId, source, signal),
  ];
}

/** The newest blocks, and how old they are. */
async function viewsOf(node: ChainNode, signal: AbortSignal): Promise<readonly NodeFinding[]> {
  const shown = ({ number, timestamp }: HeadAnswer) =>
    good(`${number}, ${Math.max(0, Math.round(Date.now() / 1_000 - timestamp))} s old`);
  return [
    await answered(
      "newest block",
      "bad",
      async () => shown(await rpc.ask(node, headCall("latest"), headSchema, signal)),
    ),
    await answered("newest final block", "bad", async () => shown(await finalHead(node, signal))),
  ];
}

/** Receipts that prove a block, requests of several calls, and the state of one block. */
async function blocksOf(
  node: ChainNode,
  source: EvmSource,
  signal: AbortSignal,
): Promise<readonly NodeFinding[]> {
  const batches = await answered("several calls in one request", "note", async () => {
    const { number } = await finalHead(node, signal);
    await rpc.askAll(node, [headCall(number), headCall(number - 1)], headOrNothingSchema, signal);
    return rpc.answersBatches(node)
      ? good("answered")
      : { verdict: "note", found: "not answered: blocks are read one by one" };
  });
  const receipts = await answered("receipts of a block by its hash", "bad", async () => {
    const head = await finalHead(node, signal);
    if (head.transactions.length === 0) {
      return {
        verdict: "note",
        found: `block ${head.number} is empty and proves nothing: look again`,
      };
    }
    const answer = await completeBlock(node, head, "solid", source, signal);
    if (answer.kind !== "block") {
      return bad(answer.kind === "incomplete" ? answer.reason : "the block is not there");
    }
    const count =
      `${answer.block.transactions.length} receipts have the root of block ${head.number}`;
    const isOneByOne = node.coolDowns.unserved.includes("eth_getBlockReceipts");
    return isOneByOne
      ? { verdict: "note", found: `${count}, each asked for by itself` }
      : good(count);
  });
  const state = await answered("state of a block by its hash", "bad", async () => {
    const { hash } = await finalHead(node, signal);
    const params = [ANYONE, { blockHash: hash, requireCanonical: true }];
    await rpc.ask(node, { method: "eth_getBalance", params }, quantitySchema, signal);
    return good("answered");
  });
  return [batches, receipts, state];
}

/** Each token's decimals and name, and the switches of its issuer. */
async function tokensOf(
  node: ChainNode,
  { network, contracts }: InspectedNetwork,
  source: EvmSource,
  signal: AbortSignal,
): Promise<readonly NodeFinding[]> {
  const found: NodeFinding[] = [];
  for (const [currency, contract] of contractEntries(contracts)) {
    found.push(
      await answered(`${currency} ${contract}`, "bad", async () => {
        const data = methodData("decimals");
        const bytes = await callContract(node, contract, data, "latest", signal);
        const decimals = Number(returnedInteger(bytes, "decimals()"));
        const symbol = symbolIn(
          await callContract(node, contract, methodData("symbol"), "latest", signal),
        );
        const expected = tokenDecimals(currency, network);
        const line = `${symbol}, ${decimals} decimals`;
        return decimals === expected ? good(line) : bad(`${line}, not ${expected}`);
      }),
      await answered(`${currency} switches`, "note", async () => {
        const switches = await readTokenSwitches(source, contract, ANYONE, signal);
        const on = [
          switches.isPaused ? "paused" : "",
          switches.keepsPart ? "keeps a part of each transfer" : "",
          switches.successor === null ? "" : `replaced by ${switches.successor}`,
        ].filter((one) => one !== "");
        return on.length === 0 ? good("none is on") : { verdict: "note", found: on.join(", ") };
      }),
    );
  }
  return found;
}

/** A name in the words of ABI: a text with its length, or 32 bytes. */
function symbolIn(bytes: string): string {
  const at = bytes.length > 2 + 128 ? 2 + 128 : 2;
  return hexToString(`0x${bytes.slice(at)}`).replaceAll(/[^ -~]/g, "").slice(0, 20);
}

/** Prices, estimates, and what the sweep's delegate needs. */
async function payingOf(
  node: ChainNode,
  chainId: number,
  source: EvmSource,
  signal: AbortSignal,
): Promise<readonly NodeFinding[]> {
  const prices = await answered("price of gas", "bad", async () => {
    const { base, tip } = await readGasPrices(source, signal);
    return good(`${base} wei and ${tip} on top of it`);
  });
  const authorizing = await answered(
    "estimates with authorisations (EIP-7702)",
    "note",
    async () => {
      const params = [{
        from: ANYONE,
        to: ANYONE,
        value: "0x0",
        authorizationList: [{ ...AUTHORIZATION, chainId: quantityOf(chainId) }],
      }];
      const gas = await rpc.ask(
        node,
        { method: "eth_estimateGas", params },
        quantitySchema,
        signal,
      );
      return gas > 21_000n + 10_000n
        ? good(`answered: ${gas} gas`)
        : { verdict: "note", found: `the list is not looked at: ${gas} gas` };
    },
  );
  const deployer = await answered("deterministic deployer", "note", async () => {
    const params = [DEPLOYER, "latest"];
    const code = await rpc.ask(node, { method: "eth_getCode", params }, bytesSchema, signal);
    return code === "0x" ? { verdict: "note", found: `no code at ${DEPLOYER}` } : good(DEPLOYER);
  });
  return [prices, authorizing, deployer];
}
