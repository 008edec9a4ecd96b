/**
 * The actors of a service with nothing to do, at the pace of production, on a clock that goes from one poll to the next at once;
 * and a node that has the blocks of that time. It replaces the clocks of its process until it is disposed of.
 *
 * @module
 */

import { FakeTime } from "@std/testing/time";
import { sweepPace } from "../../../app/open/treasury_policy.ts";
import { Engine } from "../../../actors/engine.ts";
import { FeeBoard } from "../../../actors/treasury/fee_board.ts";
import { createEvmChain } from "../../../chains/evm/evm_chain.ts";
import { chainIdOf } from "../../../chains/evm/chain_id.ts";
import { PROFILES } from "../../../chains/profiles.ts";
import type { Sql } from "../../../ledger/database/connect.ts";
import { amountOf, ZERO } from "../../../ledger/money/amount.ts";
import { tokenDecimals } from "../../../ledger/money/pair.ts";
import { movedClock } from "../../support/moved_clock.ts";
import { addWallet } from "../../support/wallet_row.ts";
import {
  addressOf,
  type BlockFixture,
  composeBlock,
  hashOf,
  HOT,
  transferLog,
  USDT,
  word,
} from "./block_fixture.ts";
import { withOwnHash } from "./header_fixture.ts";
import { startScriptedRpc } from "./scripted_rpc.ts";

type EvmNetwork = "ETH" | "BNB";

const USDC = addressOf(2);
/** The node's first block is so far behind the newest one at the start. */
const BLOCKS_BEFORE = 1_000;
/** Blocks that become final together, on a chain that finalises epochs. */
const EPOCH_BLOCKS = 32;
const MINUTE_MS = 60_000;
const DECIMALS = "0x313ce567";
const BALANCE_OF = "0x70a08231";
const TRANSFER = "0xa9059cbb";
/** Turns of the event loop in which no actor is at work, after which nothing more comes by itself. */
const QUIET_TURNS = 3;
/** Bound of one poll in real time, milliseconds. */
const STEP_MS = 60_000;

/** Calls of a day at the pace of some minutes: even ones, as fees are looked at every other one. */
export function callsOfDay(calls: number, minutes: number): number {
  return Math.round(calls * 24 * 60 / minutes);
}

/** Calls of a time, by method. */
export type Calls = Readonly<Record<string, number>>;

/** See the module. */
export interface IdleService extends AsyncDisposable {
  /** Lets time pass. @returns calls of that time to the node, as its meter counts them, and by method */
  pass(minutes: number): Promise<{ readonly counted: number; readonly byMethod: Calls }>;
}

/** Starts the actors, and has them reach the chain. @param sql of a database of their own */
export async function startIdleService(
  sql: Sql,
  journalSql: Sql,
  network: EvmNetwork,
): Promise<IdleService> {
  await using stack = new AsyncDisposableStack();
  const { pace, defaults } = PROFILES[network];
  await addWallet(sql, network, HOT, "wal_idle");
  const node = stack.use(startNode(network));
  const time = stack.use(new FakeTime());
  const clock = stack.use(movedClock());
  const chain = createEvmChain({
    network,
    nodeUrls: [node.url],
    contracts: { USDT, USDC },
    deposits: { address: (index) => addressOf(100 + index % 1_000) },
    hotWallet: HOT,
    callsPerSecond: 0,
    isDevelopment: true,
    feeCap: amountOf(defaults.feeCap),
  });
  const { headMs, solidMs, resendMs, recheckMs } = pace;
  const pollMs = Math.min(headMs ?? solidMs, solidMs);
  const chains = new Map([[network, chain]]);
  const none = { native: ZERO, USDT: ZERO, USDC: ZERO };
  const rate = network === "ETH" ? "2450" : "900";
  const engine = new Engine({
    sql,
    journalSql,
    chains,
    nodes: () => chain.nodes.states,
    signer: { sign: () => Promise.resolve([]) },
    webhooks: { wake: () => {}, start: () => {}, stop: () => Promise.resolve() },
    pace: () => ({
      pollMs,
      views: { headMs, solidMs },
      leaseMs: 30_000,
      resendMs,
      recheckMs,
      attemptLimit: 2 ** 31 - 1,
    }),
    now: () => Date.now(),
    usdRate: () => "1",
    sweeps: {
      terms: () => ({ enabled: true, gas: "auto", factor: "2", topUpWaitMs: 22 * 60 * MINUTE_MS }),
      pace: () => sweepPace(network),
      coinRate: () => rate,
    },
    treasuryPolicy: () => ({ second: null, low: none, cold: null }),
    coinRate: () => rate,
  });
  const fees = new FeeBoard({
    chains,
    coinRate: () => ({ rate, at: Date.now() }),
    terms: () => ({ receiver: "new", margin: "0", floor: ZERO, cap: amountOf(defaults.feeCap) }),
    now: () => Date.now(),
  });
  /** Everything that was begun goes on until it waits for time alone. */
  const settle = async () => {
    const end = performance.now() + STEP_MS;
    for (let quiet = 0; quiet < QUIET_TURNS; quiet++) {
      // connections are opened by a timer of no length
      time.tick(0);
      await time.runMicrotasks();
      if (engine.busyFor(-1).length > 0) quiet = -1;
      if (performance.now() > end) throw new Error("Cannot go on as a poll does not end");
    }
  };
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += pollMs) {
      clock.advance(pollMs);
      time.tick(pollMs);
      await settle();
    }
  };
  await whileSettling(engine.start(), settle);
  stack.defer(() => whileSettling(engine.stop(5_000), settle));
  fees.start();
  stack.defer(() => whileSettling(fees.stop(), settle));
  // what a start asks for is no part of a day
  await pass(2 * MINUTE_MS);
  if (engine.watched.get(network)?.isHeadRead !== true) {
    throw new Error("Cannot count calls as the chain is not read");
  }
  const disposal = stack.move();
  const counted = () =>
    [...chain.nodes.meters.values()].reduce((sum, meter) => sum + meter.take().calls, 0);
  return {
    async pass(minutes) {
      counted();
      node.byMethod.clear();
      await pass(minutes * MINUTE_MS);
      return { counted: counted(), byMethod: Object.fromEntries(node.byMethod) };
    },
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  };
}

/** Waits for what goes on by timers of no length. */
async function whileSettling(work: Promise<void>, settle: () => Promise<void>): Promise<void> {
  let isOver = false;
  const watched = work.finally(() => isOver = true);
  while (!isOver) await settle();
  await watched;
}

interface IdleNode extends AsyncDisposable {
  readonly url: string;
  readonly byMethod: Map<string, number>;
}

/** A node whose chain makes its blocks and finalises them at the pace of the network, each with a payment of others. */
function startNode(network: EvmNetwork): IdleNode {
  const { blockMs, finalityMs } = PROFILES[network].pace;
  const began = Date.now() - BLOCKS_BEFORE * blockMs;
  const byMethod = new Map<string, number>();
  const newest = () => Math.floor((Date.now() - began) / blockMs);
  const finalised = () => {
    const height = newest() - Math.ceil(finalityMs / blockMs);
    return network === "ETH" ? height - height % EPOCH_BLOCKS : height;
  };
  const blocks: BlockFixture[] = [];
  const nextBlock = () => {
    const height = blocks.length;
    const logs = [transferLog(addressOf(3), addressOf(4), 1_000_000n)];
    const parentHash = blocks[height - 1]?.head.hash ?? hashOf("none");
    const { head, receipts } = composeBlock(height, [{ logs }], { parentHash });
    const seconds = Math.floor((began + height * blockMs) / 1_000);
    // its hash is that of its header, as blocks of the head view are kept only then
    return withOwnHash({ head: { ...head, timestamp: `0x${seconds.toString(16)}` }, receipts });
  };
  const blockOf = (height: number) => {
    if (height > newest()) return null;
    while (blocks.length <= height) blocks.push(nextBlock());
    return blocks[height] ?? null;
  };
  const named = (place: unknown) =>
    place === "latest" ? newest() : place === "finalized" ? finalised() : Number(place);
  const heights = new Map<string, number>();
  /** Answers of the tokens by the methods' first bytes; switches are off. */
  const calls: Readonly<Record<string, bigint>> = {
    [DECIMALS]: BigInt(tokenDecimals("USDT", network)),
    [BALANCE_OF]: 10n ** 30n,
    [TRANSFER]: 1n,
  };
  const answers: Record<string, (params: readonly unknown[]) => unknown> = {
    eth_chainId: () => `0x${chainIdOf(network, true).toString(16)}`,
    eth_getBlockByNumber: ([place]) => {
      const head = blockOf(named(place))?.head ?? null;
      if (head !== null) heights.set(head.hash, Number(head.number));
      return head;
    },
    eth_getBlockReceipts: ([place]) => {
      const hash = typeof place === "object" && place !== null && "blockHash" in place
        ? place.blockHash
        : place;
      return blockOf(heights.get(String(hash)) ?? -1)?.receipts ?? null;
    },
    eth_getTransactionCount: () => "0x0",
    eth_getBalance: () => `0x${(10n ** 20n).toString(16)}`,
    eth_call: ([call]) => {
      const { to = "", data = "" } = call as Readonly<Record<string, string>>;
      const method = data.slice(0, 10);
      // a wallet that holds one of two tokens
      if (method === BALANCE_OF && to.toLowerCase() === USDC) return word(0n);
      return word(calls[method] ?? 0n);
    },
    eth_estimateGas: () => "0xfde8",
    eth_feeHistory: () => ({ baseFeePerGas: ["0x3b9aca00"], reward: [["0x5f5e100"]] }),
    eth_gasPrice: () => "0x3b9aca00",
    eth_getCode: () => "0x",
  };
  const scripts = Object.fromEntries(
    Object.entries(answers).map(([method, answer]) => [
      method,
      (params: readonly unknown[]) => {
        byMethod.set(method, (byMethod.get(method) ?? 0) + 1);
        return answer(params);
      },
    ]),
  );
  const node = startScriptedRpc(scripts);
  return { url: node.url, byMethod, [Symbol.asyncDispose]: () => node[Symbol.asyncDispose]() };
}
