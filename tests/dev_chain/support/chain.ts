/** A development chain for one test, on a port and in a folder of its own. @module */

import { assertEquals, assertExists } from "@std/assert";
import type { TronWeb } from "tronweb";
import { addressWord, wordOf } from "../../../devchain/contract.ts";
import { fromBase58, toBase58 } from "../../../devchain/address.ts";
import { type BuildOptions, buildTransaction } from "../../../devchain/build.ts";
import { type ChainKey, newKey, signDigest } from "../../../devchain/signature.ts";
import type { DevChain, DevChainOptions } from "../../../devchain/options.ts";
import { startDevChain } from "../../../devchain/start.ts";
import type { ContractValue, Transaction } from "../../../devchain/transaction.ts";
import { needs } from "../../support/permissions.ts";

const SKIPPED = needs({ net: true, read: true, write: true, env: true, run: true });

/** A test that starts chains; skipped where it may not. */
export function chainTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: SKIPPED, fn });
}

/** JSON as tests read it. */
// deno-lint-ignore no-explicit-any -- answers are asserted field by field
export type Json = any;

/** A chain with what tests ask of it. */
export interface TestChain extends DevChain {
  readonly dataDir: string;
  /** GETs a path and reads JSON. */
  get(path: string): Promise<Json>;
  /** POSTs JSON to a path and reads JSON; asserts status 200. */
  post(path: string, body?: unknown): Promise<Json>;
  /** POSTs without asserting. */
  ask(path: string, body?: unknown): Promise<{ status: number; json: Json }>;
  mine(blocks?: number): Promise<Json>;
}

/** Runs a test against a new chain that makes blocks only on demand. */
export async function withChain(
  work: (chain: TestChain) => Promise<void>,
  options: Partial<DevChainOptions> = {},
): Promise<void> {
  const dataDir = options.dataDir ?? await Deno.makeTempDir({ prefix: "dev-chain-" });
  const chain = await startDevChain({ network: "TRX", port: 0, blockMs: 0, ...options, dataDir });
  try {
    await work(attach(chain, dataDir));
  } finally {
    await chain.stop();
    if (options.dataDir === undefined) await Deno.remove(dataDir, { recursive: true });
  }
}

/** Adds the tests' verbs to a running chain. */
export function attach(chain: DevChain, dataDir: string): TestChain {
  const ask = async (path: string, body: unknown = {}) => {
    const response = await fetch(chain.url + path, { method: "POST", body: JSON.stringify(body) });
    return { status: response.status, json: await response.json() };
  };
  const post = async (path: string, body: unknown = {}) => {
    const { status, json } = await ask(path, body);
    assertEquals(status, 200, `${path}: ${JSON.stringify(json)}`);
    return json;
  };
  const get = async (path: string) => await (await fetch(chain.url + path)).json();
  const mine = (blocks = 1) => post("/dev/mine", { blocks });
  return { ...chain, stop: () => chain.stop(), dataDir, ask, post, get, mine };
}

/** A wallet of a test. */
export interface Wallet extends ChainKey {
  readonly base58: string;
}

/** A new empty wallet. */
export function newWallet(): Wallet {
  const key = newKey();
  return { ...key, base58: toBase58(key.address) };
}

/** A new wallet with money from the faucet, in a block. */
export async function fundedWallet(
  chain: TestChain,
  money: { trx?: string; usdt?: string },
): Promise<Wallet> {
  const wallet = newWallet();
  const { trx, usdt } = money;
  const to = wallet.base58;
  if (trx !== undefined) await chain.post("/dev/transfer", { to, amount: trx, currency: "TRX" });
  if (usdt !== undefined) await chain.post("/dev/transfer", { to, amount: usdt });
  await chain.mine();
  return wallet;
}

/** tronweb with a wallet's key. */
export async function tronwebOf(chain: DevChain, wallet: Wallet): Promise<TronWeb> {
  // It reads the environment while it loads, so tests that are skipped must not load it.
  const { TronWeb } = await import("tronweb");
  return new TronWeb({ fullHost: chain.url, privateKey: wallet.secret });
}

/** A transaction built on the head block and signed. */
export async function signed(
  chain: TestChain,
  wallet: Wallet,
  type: string,
  value: ContractValue,
  options: Partial<BuildOptions> = {},
): Promise<Transaction> {
  const block = await chain.post("/wallet/getblock", {});
  const raw = block.block_header.raw_data;
  const head = {
    height: raw.number ?? 0,
    id: block.blockID,
    time: raw.timestamp,
  };
  const unsigned = buildTransaction(type, { owner_address: wallet.address, ...value }, head, {
    timestamp: raw.timestamp,
    ...options,
  });
  return sign(unsigned, wallet);
}

/** Signs a transaction. */
export function sign(unsigned: Transaction, wallet: ChainKey): Transaction {
  const signature = signDigest(Uint8Array.fromHex(unsigned.txid), wallet);
  return { ...unsigned, signatures: [signature] };
}

/** A signed transfer of TRX. @param amount sun */
export function trxTransfer(
  chain: TestChain,
  from: Wallet,
  to: string,
  amount: number,
  options: Partial<BuildOptions> = {},
): Promise<Transaction> {
  const value = { to_address: hexOf(to), amount };
  return signed(chain, from, "TransferContract", value, options);
}

/** A signed transfer of USDT. @param amount in 10^-6 USDT */
export function usdtTransfer(
  chain: TestChain,
  from: Wallet,
  to: string,
  amount: bigint,
  options: Partial<BuildOptions> = {},
): Promise<Transaction> {
  const value = {
    contract_address: hexOf(chain.usdt),
    data: "a9059cbb" + addressWord(hexOf(to)) + wordOf(amount),
  };
  return signed(chain, from, "TriggerSmartContract", value, { feeLimit: 30_000_000, ...options });
}

/** A transaction in the form `broadcasttransaction` takes. */
export function bodyOf(transaction: Transaction): Record<string, unknown> {
  return {
    visible: false,
    txID: transaction.txid,
    raw_data: transaction.raw,
    raw_data_hex: transaction.rawHex,
    signature: transaction.signatures,
  };
}

/** Broadcasts and returns the answer, whatever it is. */
export function broadcast(chain: TestChain, transaction: Transaction): Promise<Json> {
  return chain.post("/wallet/broadcasttransaction", bodyOf(transaction));
}

/** Broadcasts, asserts success, mines a block and returns the receipt. */
export async function included(chain: TestChain, transaction: Transaction): Promise<Json> {
  const answer = await broadcast(chain, transaction);
  assertEquals(answer, { result: true, txid: transaction.txid });
  await chain.mine();
  return receiptOf(chain, transaction.txid);
}

/** A receipt as the head sees it. */
export function receiptOf(chain: TestChain, txid: string): Promise<Json> {
  return chain.post("/wallet/gettransactioninfobyid", { value: txid });
}

/** USDT balance of an address in 10^-6 USDT, by the view asked. */
export async function usdtBalance(
  chain: TestChain,
  address: string,
  root: "wallet" | "walletsolidity" = "wallet",
): Promise<bigint> {
  const answer = await chain.post(`/${root}/triggerconstantcontract`, {
    owner_address: hexOf(address),
    contract_address: hexOf(chain.usdt),
    function_selector: "balanceOf(address)",
    parameter: addressWord(hexOf(address)),
  });
  return BigInt("0x" + answer.constant_result[0]);
}

/** TRX balance in sun. */
export async function sunBalance(chain: TestChain, address: string): Promise<number> {
  return (await chain.post("/wallet/getaccount", { address: hexOf(address) })).balance ?? 0;
}

/** An address as hex. */
export function hexOf(base58: string): string {
  const hex = fromBase58(base58);
  assertExists(hex);
  return hex;
}

/** The text in a hex message. */
export function textOf(hex: string): string {
  return new TextDecoder().decode(Uint8Array.fromHex(hex));
}
