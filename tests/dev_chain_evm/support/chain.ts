/** A development chain of an EVM network for one test, and ethers as a client that knows nothing of it. @module */

import { assert, assertEquals } from "@std/assert";
import type { BaseContract, Contract, JsonRpcProvider, TransactionRequest, Wallet } from "ethers";
import { startEvmDevChain } from "../../../devchain/evm/start.ts";
import type { DevChain, DevChainOptions } from "../../../devchain/options.ts";
import { needs } from "../../support/permissions.ts";

const SKIPPED = needs({ net: true, read: true, write: true, env: true, run: true }) ||
  Deno.build.os !== "linux" || Deno.build.arch !== "x86_64";

/** A test that starts chains; skipped where it may not, or where there is no anvil. */
export function chainTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: SKIPPED, fn });
}

/** JSON as tests read it. */
// deno-lint-ignore no-explicit-any -- answers are asserted field by field
export type Json = any;

/** A chain with what tests ask of it. */
export interface TestChain extends DevChain {
  readonly dataDir: string;
  readonly network: string;
  /** The controls: POSTs JSON and reads JSON; asserts status 200. */
  post(path: string, body?: unknown): Promise<Json>;
  /** POSTs without asserting. */
  send(path: string, body?: unknown): Promise<{ status: number; json: Json }>;
  info(): Promise<Json>;
  mine(blocks?: number): Promise<Json>;
  /** Calls a method; asserts that there is a result. */
  rpc(method: string, ...params: unknown[]): Promise<Json>;
  /** Calls a method and gives the whole answer. */
  ask(method: string, ...params: unknown[]): Promise<Json>;
  /** The error of a call that is refused. */
  refusal(method: string, ...params: unknown[]): Promise<string>;
}

const folders: string[] = [];

/** A folder that is removed at the end of the file. */
export async function temporaryFolder(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "dev-chain-evm-" });
  folders.push(folder);
  return folder;
}

if (!SKIPPED) {
  globalThis.addEventListener("unload", () => {
    for (const folder of folders) Deno.removeSync(folder, { recursive: true });
  });
}

/** Runs a test against a new chain that makes blocks only on demand. */
export async function withChain(
  work: (chain: TestChain) => Promise<void>,
  options: Partial<DevChainOptions> = {},
): Promise<void> {
  const network = options.network ?? "ETH";
  const dataDir = options.dataDir ?? await temporaryFolder();
  const chain = await startEvmDevChain({ port: 0, blockMs: 0, ...options, network, dataDir });
  try {
    await work(attach(chain, dataDir, network));
  } finally {
    await chain.stop();
  }
}

/** Adds the tests' verbs to a running chain. @param reach what requests are sent with */
export function attach(
  chain: DevChain,
  dataDir: string,
  network: string,
  reach: typeof fetch = fetch,
): TestChain {
  const send = async (path: string, body: unknown = {}) => {
    const response = await reach(chain.url + path, { method: "POST", body: JSON.stringify(body) });
    const text = await response.text();
    assert(/^[{\[]/.test(text), `${path}: ${response.status} ${text}`);
    return { status: response.status, json: JSON.parse(text) };
  };
  const post = async (path: string, body: unknown = {}) => {
    const { status, json } = await send(path, body);
    assertEquals(status, 200, `${path}: ${JSON.stringify(json)}`);
    return json;
  };
  const ask = async (method: string, ...params: unknown[]) =>
    (await send("", { jsonrpc: "2.0", id: 7, method, params })).json;
  return {
    ...chain,
    stop: () => chain.stop(),
    dataDir,
    network,
    send,
    post,
    ask,
    info: async () => await (await reach(`${chain.url}/dev/info`)).json(),
    mine: (blocks = 1) => post("/dev/mine", { blocks }),
    async rpc(method, ...params) {
      const answer = await ask(method, ...params);
      assert("result" in answer, `${method}: ${JSON.stringify(answer)}`);
      return answer.result;
    },
    async refusal(method, ...params) {
      const answer = await ask(method, ...params);
      assert("error" in answer, `${method}: ${JSON.stringify(answer)}`);
      return answer.error.message;
    },
  };
}

/** ethers on a chain, closed after the work. */
export async function withEthers(
  chain: TestChain,
  work: (provider: JsonRpcProvider) => Promise<void>,
): Promise<void> {
  const { JsonRpcProvider } = await import("ethers");
  // without its cache: a test looks again at once
  const provider = new JsonRpcProvider(chain.url, undefined, { cacheTimeout: -1 });
  try {
    await work(provider);
  } finally {
    provider.destroy();
  }
}

const TOKEN = [
  "function balanceOf(address) view returns (uint256)",
  "function decimals() view returns (uint8)",
  "function symbol() view returns (string)",
  "function transfer(address to, uint256 value)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
];

/** A token by ethers. */
export async function tokenOf(
  provider: JsonRpcProvider,
  address: string,
): Promise<Contract & BaseContract> {
  const { Contract } = await import("ethers");
  return new Contract(address, TOKEN, provider);
}

/** A new wallet with money from the faucet, in a block. */
export async function fundedWallet(
  chain: TestChain,
  money: { coin?: string; usdt?: string; usdc?: string },
): Promise<Wallet & { readonly address: string }> {
  const { Wallet } = await import("ethers");
  const wallet = new Wallet(Wallet.createRandom().privateKey);
  const to = wallet.address;
  const pay = async (amount: string | undefined, currency: string) => {
    if (amount !== undefined) await chain.post("/dev/transfer", { to, amount, currency });
  };
  await pay(money.coin, "coin");
  await pay(money.usdt, "USDT");
  await pay(money.usdc, "USDC");
  await chain.mine();
  return wallet;
}

export const GWEI = 1_000_000_000n;

/** A signed transfer of coin, or of what the request says. */
export async function signedBy(
  chain: TestChain,
  wallet: Wallet,
  request: TransactionRequest = {},
): Promise<string> {
  const pending = await chain.rpc("eth_getTransactionCount", wallet.address, "pending");
  return await wallet.signTransaction({
    type: 2,
    chainId: Number(await chain.rpc("eth_chainId")),
    nonce: Number(pending),
    to: wallet.address,
    value: 1n,
    gasLimit: 100_000n,
    maxFeePerGas: 10n * GWEI,
    maxPriorityFeePerGas: GWEI,
    ...request,
  });
}

/** USDT in its smallest unit. */
export async function usdtOf(chain: TestChain, address: string, tag = "latest"): Promise<bigint> {
  const data = `0x70a08231${address.slice(2).padStart(64, "0")}`;
  return BigInt(await chain.rpc("eth_call", { to: chain.usdt, data }, tag));
}

/** The id of anvil's process. */
export async function anvilPid(dataDir: string, network: string): Promise<number> {
  const file = `${dataDir}/dev-chain-${network}/anvil.port`;
  return JSON.parse(await Deno.readTextFile(file)).pid;
}
