/**
 * The control routes of README.md, for people and tests; no client of a real node uses them.
 *
 * @module
 */

import { getAddress, isAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { EVM_FAULTS, readFaults } from "../../faults.ts";
import {
  BadRequest,
  type Body,
  controlRefusal,
  DAY_MS,
  flagIn,
  MAX_MINED,
  reply,
  runCommand,
  unitsIn,
  wholeIn,
  wordIn,
} from "../../http/control.ts";
import { CannotDo, type EvmChain } from "../evm_chain.ts";
import { callOf, type ContractCall, type Faucet } from "../faucet.ts";
import { CONTRACTS } from "../genesis.ts";
import type { EvmNetwork } from "../networks.ts";
import type { Hex } from "../rpc.ts";

/** A chain with what its controls need. */
export interface Controlled {
  /** For example `ETH`. */
  readonly name: string;
  readonly network: EvmNetwork;
  readonly chain: EvmChain;
  readonly faucet: Faucet;
}

const COIN_DECIMALS = 18;
const GWEI_DECIMALS = 9;
const BLOCK_LISTS = {
  USDT: ["addBlackList", "removeBlackList"],
  USDC: ["blacklist", "unBlacklist"],
} as const;

/**
 * Answers one control request.
 *
 * @param peer the client's address; others than this machine's are refused
 */
export async function answerControl(
  controlled: Controlled,
  request: Request,
  path: string,
  peer: string,
): Promise<Response> {
  const refusal = controlRefusal(peer);
  if (refusal !== null) return refusal;
  if (path === "/dev/info" && request.method === "GET") return reply(infoOf(controlled));
  const command = COMMANDS.get(path);
  return await runCommand(
    request,
    path,
    command && ((body) => command(controlled, body)),
    (error) => error instanceof CannotDo,
  );
}

type Command = (controlled: Controlled, body: Body) => Promise<unknown>;

const COMMANDS: ReadonlyMap<string, Command> = new Map<string, Command>([
  ["/dev/transfer", transfer],
  ["/dev/mine", mine],
  ["/dev/reorg", reorganise],
  ["/dev/config", configure],
  ["/dev/emit", emit],
  ["/dev/token-switches", switchToken],
  ["/dev/basefee", setBaseFee],
  ["/dev/evict", evict],
  ["/dev/use-nonce", useNonce],
]);

function infoOf({ name, network, chain, faucet }: Controlled): unknown {
  const { baseFee } = chain;
  return {
    network: name,
    chainId: network.chainId,
    usdt: CONTRACTS.USDT,
    usdc: CONTRACTS.USDC,
    faucetAddress: faucet.account.address,
    ...chain.pace,
    head: chain.head,
    solid: chain.final,
    time: chain.time,
    pending: chain.pool.length,
    baseFeeWei: baseFee === null ? null : String(baseFee),
    faults: chain.faults.list,
  };
}

async function transfer({ network, faucet }: Controlled, body: Body): Promise<unknown> {
  const to = addressIn(body, "to");
  const currency = String(body.get("currency") ?? "USDT");
  if (currency === network.coin || currency === "coin") {
    return { txid: await faucet.payCoin(to, unitsIn(body, COIN_DECIMALS)) };
  }
  if (currency !== "USDT" && currency !== "USDC") {
    throw new BadRequest(`currency must be USDT, USDC or ${network.coin}: ${currency}`);
  }
  const amount = unitsIn(body, network.decimals);
  return { txid: await faucet.call(callOf(CONTRACTS[currency], "transfer", [to, amount])) };
}

async function mine({ chain }: Controlled, body: Body): Promise<unknown> {
  const blocks = wholeIn(body, "blocks", 1, MAX_MINED) ?? 1;
  await chain.mine(blocks, wholeIn(body, "intervalMs", 1, DAY_MS) ?? undefined);
  return heights(chain);
}

async function reorganise({ chain }: Controlled, body: Body): Promise<unknown> {
  const depth = wholeIn(body, "depth", 1, Number.MAX_SAFE_INTEGER) ?? 1;
  await chain.reorganise(depth, flagIn(body, "drop"));
  return heights(chain);
}

function heights({ head, final }: EvmChain): unknown {
  return { head, solid: final };
}

async function configure(controlled: Controlled, body: Body): Promise<unknown> {
  const { chain } = controlled;
  const blockMs = wholeIn(body, "blockMs", 0, DAY_MS);
  const solidLag = wholeIn(body, "solidLag", 0, 10_000);
  const seed = wholeIn(body, "seed", 0, Number.MAX_SAFE_INTEGER);
  const faults = body.has("faults") ? readFaults(body.get("faults"), EVM_FAULTS) : null;
  if (seed !== null) chain.faults.seed(seed);
  if (faults !== null) chain.faults.replace(faults);
  if (blockMs !== null || solidLag !== null) await chain.configure(blockMs, solidLag);
  return infoOf(controlled);
}

async function emit({ faucet }: Controlled, body: Body): Promise<unknown> {
  const steps = body.get("steps");
  if (!Array.isArray(steps) || steps.length === 0) throw new BadRequest("steps must be a list");
  return { txid: await faucet.runAll(steps.map(readStep)) };
}

function readStep(json: unknown): ContractCall {
  if (typeof json !== "object" || json === null) throw new BadRequest("a step must be an object");
  const step: Body = new Map(Object.entries(json));
  const token = CONTRACTS[tokenIn(step)];
  switch (step.get("do")) {
    case "transfer":
      return callOf(token, "transfer", [addressIn(step, "to"), BigInt(wordIn(step, "amount"))]);
    case "event":
      return callOf(token, "pretend", [
        addressIn(step, "from"),
        addressIn(step, "to"),
        BigInt(wordIn(step, "amount")),
      ]);
    case "log":
      return callOf(CONTRACTS.script, "log", [topicsIn(step), hexIn(step.get("data") ?? "0x")]);
    case "revert":
      // a transfer to no receiver
      return callOf(token, "transfer", [`0x${"00".repeat(20)}`, 0n]);
    default:
      throw new BadRequest(`a step must do transfer, event, log or revert: ${step.get("do")}`);
  }
}

/** Switches a token as its issuer could, one transaction for each switch. */
async function switchToken({ faucet }: Controlled, body: Body): Promise<unknown> {
  const currency = tokenIn(body);
  const token = CONTRACTS[currency];
  const [block, unblock] = BLOCK_LISTS[currency];
  const basisPoints = wholeIn(body, "feeBasisPoints", 0, 10_000);
  if (basisPoints !== null && currency !== "USDT") {
    throw new BadRequest("feeBasisPoints are USDT's alone");
  }
  const calls = [
    ...(body.has("paused")
      ? [callOf(token, flagIn(body, "paused") ? "pause" : "unpause", [])]
      : []),
    ...(basisPoints === null ? [] : [
      callOf(token, "setParams", [BigInt(basisPoints), BigInt(wordIn(body, "maximumFee", "0"))]),
    ]),
    ...addressesIn(body, "block").map((who) => callOf(token, block, [who])),
    ...addressesIn(body, "unblock").map((who) => callOf(token, unblock, [who])),
  ];
  if (calls.length === 0) throw new BadRequest("nothing to switch");
  const txids: Hex[] = [];
  for (const call of calls) txids.push(await faucet.call(call));
  return { txids };
}

async function setBaseFee({ chain }: Controlled, body: Body): Promise<unknown> {
  const gwei = body.get("gwei");
  if (gwei === undefined) throw new BadRequest("gwei must be a decimal, or null");
  const wei = gwei === null ? null : unitsIn(new Map([["amount", gwei]]), GWEI_DECIMALS);
  await chain.setBaseFee(wei);
  return { baseFeeWei: wei === null ? null : String(wei) };
}

async function evict({ chain }: Controlled, body: Body): Promise<unknown> {
  await chain.evict(String(body.get("txid") ?? ""));
  return { pending: chain.pool.length };
}

async function useNonce({ faucet }: Controlled, body: Body): Promise<unknown> {
  const key = String(body.get("key") ?? "");
  if (!isKey(key)) throw new BadRequest("key must be 64 hex digits after 0x");
  const nonce = wholeIn(body, "nonce", 0, Number.MAX_SAFE_INTEGER);
  return { txid: await faucet.useNonce(privateKeyToAccount(key), nonce) };
}

function isKey(text: string): text is Hex {
  return /^0x[0-9a-f]{64}$/i.test(text);
}

function tokenIn(body: Body): "USDT" | "USDC" {
  const token = body.get("token") ?? "USDT";
  if (token === "USDT" || token === "USDC") return token;
  throw new BadRequest(`token must be USDT or USDC: ${token}`);
}

function addressIn(body: Body, name: string): Hex {
  return readAddress(body.get(name), name);
}

function addressesIn(body: Body, name: string): readonly Hex[] {
  const list = body.get(name) ?? [];
  if (!Array.isArray(list)) throw new BadRequest(`${name} must be a list of addresses`);
  return list.map((one: unknown) => readAddress(one, name));
}

function readAddress(value: unknown, name: string): Hex {
  const text = String(value ?? "");
  if (isAddress(text, { strict: true })) return getAddress(text);
  throw new BadRequest(`${name} must be an address, its case checked: ${text}`);
}

function topicsIn(step: Body): readonly Hex[] {
  const topics = step.get("topics");
  if (!Array.isArray(topics) || topics.length > 4) {
    throw new BadRequest("topics must be a list of at most 4 words");
  }
  return topics.map((topic: unknown) => {
    const hex = hexIn(topic);
    if (hex.length !== 66) throw new BadRequest("a topic must be 64 hex digits after 0x");
    return hex;
  });
}

function hexIn(value: unknown): Hex {
  const isBytes = (text: unknown): text is Hex =>
    typeof text === "string" && /^0x([0-9a-f]{2})*$/i.test(text);
  if (isBytes(value)) return value;
  throw new BadRequest(`bytes must be hex after 0x: ${value}`);
}
