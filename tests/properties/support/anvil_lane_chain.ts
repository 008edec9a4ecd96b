/**
 * The development chain in front of anvil as a life of a lane meets it: the adapter, the builder and the signer of production,
 * a hot wallet of its own for each life, blocks when they are drawn.
 *
 * @module
 */

import { Interface, Transaction } from "ethers";
import { z } from "zod";
import type { Chain } from "../../../chains/chain.ts";
import { chainIdOf } from "../../../chains/evm/chain_id.ts";
import { createEvmChain } from "../../../chains/evm/evm_chain.ts";
import { createEvmTransferBuilder } from "../../../chains/evm/pay/transfer_builder.ts";
import { createSigner } from "../../../chains/signer/create_signer.ts";
import { SpendingLimits } from "../../../chains/signer/signing_rules.ts";
import type { DevChain } from "../../../devchain/options.ts";
import { startEvmDevChain } from "../../../devchain/evm/start.ts";
import { amountOf, fromTokenUnits } from "../../../ledger/money/amount.ts";
import { readIntents } from "../../../ledger/treasury/intents.ts";
import { readUsedNonces } from "../../../ledger/treasury/used_nonces.ts";
import { guardCluster } from "../../support/cluster_guard.ts";
import { rigKeys } from "../../faults/support/rig_keys.ts";
import type { Intended } from "./counting_chain.ts";
import type { Landed, LaneChain } from "./lane_chain.ts";

const NETWORK = "ETH";
/** Blocks from the newest to the last that is final. */
const SOLID_LAG = 3;
/** The most that one transaction may cost: some 256 gwei for each unit of its gas. */
const FEE_CAP = amountOf("0.02");
/** Nonces that may be unseen at once: fewer than there are, so that a lane is full at times. */
const MOST_UNSEEN = 6;
const LOSES = 0.15;
/** Gwei that nothing offers. */
const TOO_MUCH = "9000";

const ERC20 = new Interface(["function transfer(address to, uint256 value)"]);
const Info = z.object({ head: z.number(), solid: z.number() });
const Quantity = z.string().transform(Number);
const Shown = z.object({
  hash: z.string(),
  from: z.string(),
  nonce: Quantity,
  to: z.string().nullable(),
  input: z.string(),
});
const Placed = z.looseObject({ blockHash: z.string().nullable().optional() });
const Head = z.object({ transactions: z.array(Shown) });
const Receipt = z.object({
  status: z.string(),
  gasUsed: z.string(),
  effectiveGasPrice: z.string(),
});

/** A chain that many lives share, each with a wallet of its own. */
export interface AnvilLanes extends AsyncDisposable {
  /** A life's view of it. */
  open(draw: () => number): Promise<LaneChain>;
}

/** Starts the chain. */
export async function startAnvilLanes(): Promise<AnvilLanes> {
  const dataDir = await Deno.makeTempDir({ prefix: "engine-lanes-" });
  // until the folder is gone
  await guardCluster(dataDir);
  const dev = await startEvmDevChain({
    network: NETWORK,
    dataDir,
    port: 0,
    blockMs: 0,
    solidLag: SOLID_LAG,
  });
  return {
    open: (draw) => openLane(dev, draw),
    [Symbol.asyncDispose]: async () => {
      await dev.stop();
      await Deno.remove(dataDir, { recursive: true });
    },
  };
}

async function openLane(dev: DevChain, draw: () => number): Promise<LaneChain> {
  const post = async (path: string, body: unknown): Promise<unknown> => {
    const response = await fetch(dev.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer: unknown = await response.json();
    if (response.ok) return answer;
    throw new Error(`Cannot ${path}: ${JSON.stringify(answer)}`);
  };
  const rpc = async (method: string, ...params: readonly unknown[]) => {
    const answer = await post("/", { jsonrpc: "2.0", id: 1, method, params });
    return z.object({ result: z.unknown() }).parse(answer).result;
  };
  const info = async () => Info.parse(await post("/dev/config", {}));
  const mine = (blocks: number) => post("/dev/mine", { blocks, intervalMs: 1_000 });
  const setBase = (gwei: string) => post("/dev/basefee", { gwei });
  const fault = (kind: string | null) =>
    post("/dev/config", {
      faults: kind === null ? [] : [{ path: "eth_sendRawTransaction", kind, times: 1 }],
    });
  // what an earlier life has left in the pool is another wallet's
  const keys = rigKeys(NETWORK, "wal_test");
  const hot = keys.hot.address;
  let base = "1";
  await setBase(base);
  await post("/dev/transfer", { to: hot, amount: "1000", currency: "coin" });
  await post("/dev/transfer", { to: hot, amount: "1000000", currency: "USDT" });
  await mine(SOLID_LAG + 1);
  const contracts = { USDT: dev.usdt };
  const chain = createEvmChain({
    network: NETWORK,
    nodeUrls: [dev.url],
    contracts,
    deposits: keys.deposits,
    hotWallet: hot,
    blockMs: 1_000,
    callsPerSecond: 0,
    isDevelopment: true,
    feeCap: FEE_CAP,
  });
  const intended = new Map<string, Intended>();
  let isCalm = false;
  /** Ids of the newest transactions that were sent. */
  const offered: string[] = [];
  const isWaiting = async (txid: string) => {
    const shown = Placed.nullable().parse(await rpc("eth_getTransactionByHash", txid));
    return shown !== null && (shown.blockHash ?? null) === null;
  };
  const solidOnes: Landed[] = [];
  let readUpTo = 0;
  const idsIn = (to: string | null, input: string): readonly string[] => {
    if (to?.toLowerCase() !== dev.usdt.toLowerCase()) return [];
    const receiver = String(ERC20.decodeFunctionData("transfer", input)[0]);
    return [...intended].flatMap(([id, one]) => one.to === receiver ? [id] : []);
  };
  const port: Chain = {
    ...chain,
    capabilities: { ...chain.capabilities, life: eagerLife(chain) },
    broadcast: async (signed) => {
      const { to, data } = Transaction.from(signed.bytes);
      offered.push(signed.txid);
      if (offered.length > MOST_UNSEEN) offered.shift();
      const reverts = idsIn(to, data).some((id) => intended.get(id)?.reverts === true);
      const isLost = !isCalm && draw() < LOSES;
      const kind = isLost ? "lost-broadcast" : reverts ? "revert" : null;
      if (kind === null) return await chain.broadcast(signed);
      await fault(kind);
      try {
        return await chain.broadcast(signed);
      } finally {
        await fault(null);
      }
    },
  };
  const { solid: firstHeight } = await info();
  const read = async (height: number) => {
    const answer = await chain.block(height, "head");
    if (answer.kind !== "block") throw new Error(`Cannot read block ${height}: ${answer.kind}`);
    return answer.block;
  };
  return {
    port,
    firstNonce: 0,
    firstHeight,
    shares: false,
    receiver: (number) => keys.deposits.address(1_000_000 + number),
    intend: (id, one) => intended.set(id, one),
    signer: (sql) =>
      createSigner({
        keys: keys.source,
        intents: {
          read: (ids) => readIntents(sql, ids),
          readUsed: (places) => readUsedNonces(sql, places),
        },
        builders: [createEvmTransferBuilder({
          network: NETWORK,
          chainId: chainIdOf(NETWORK, true),
          contracts,
          feeCap: FEE_CAP,
        })],
        spending: new SpendingLimits({}),
        now: Date.now,
      }),
    calm: () => {
      isCalm = true;
    },
    jump: async (to) => {
      base = String(to);
      await setBase(base);
    },
    evict: async () => {
      const waiting: string[] = [];
      for (const txid of offered) if (await isWaiting(txid)) waiting.push(txid);
      const txid = waiting[Math.floor(draw() * waiting.length)];
      if (txid !== undefined) await post("/dev/evict", { txid });
    },
    reorganise: async () => {
      const { head, solid } = await info();
      const depth = Math.min(head - solid, 1 + Math.floor(draw() * SOLID_LAG));
      const drop = draw() >= 0.5;
      await post("/dev/reorg", { depth, drop });
      await mine(depth);
    },
    mine: async () => {
      const leavesOut = !isCalm && draw() < LOSES;
      if (leavesOut) await setBase(TOO_MUCH);
      await mine(1);
      if (leavesOut) await setBase(base);
    },
    solidHeight: async () => (await info()).solid,
    block: read,
    seen: async () => {
      const { head, solid } = await info();
      const found: { readonly txid: string; readonly height: number }[] = [];
      for (let height = solid + 1; height <= head; height++) {
        for (const { txid } of (await read(height)).transactions) found.push({ txid, height });
      }
      return found;
    },
    landed: async () => {
      const { solid } = await info();
      // what is solid stays as it was read
      for (let height = Math.max(firstHeight, readUpTo) + 1; height <= solid; height++) {
        const head = await rpc("eth_getBlockByNumber", `0x${height.toString(16)}`, true);
        for (const one of Head.parse(head).transactions) {
          if (one.from.toLowerCase() !== hot.toLowerCase()) continue;
          const receipt = Receipt.parse(await rpc("eth_getTransactionReceipt", one.hash));
          const wei = BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice);
          solidOnes.push({
            nonce: one.nonce,
            txid: one.hash,
            fee: fromTokenUnits(wei, 18),
            moved: receipt.status === "0x1" ? idsIn(one.to, one.input) : [],
          });
        }
        readUpTo = height;
      }
      return solidOnes;
    },
  };
}

/** Replaces at once what is in no block: there is no time in a life. */
function eagerLife({ capabilities: { life } }: Chain): Chain["capabilities"]["life"] {
  if (life.kind !== "nonce") throw new Error("Cannot use a chain as it counts no nonces");
  return { ...life, lane: { ...life.lane, bumpAfterMs: 0, mostUnseen: MOST_UNSEEN } };
}
