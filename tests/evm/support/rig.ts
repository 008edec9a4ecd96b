/**
 * An adapter on an anvil of a test's own, with tokens, keys and a hot wallet that holds some of both.
 *
 * @module
 */

import { Interface, Wallet } from "ethers";
import { chainIdOf } from "../../../chains/evm/chain_id.ts";
import { createEvmChain } from "../../../chains/evm/evm_chain.ts";
import { createEvmTransferBuilder } from "../../../chains/evm/pay/transfer_builder.ts";
import type { SignedTransaction } from "../../../chains/chain.ts";
import type { FeeEstimate, Movement } from "../../../chains/fees.ts";
import type { Intent, SigningKey } from "../../../chains/signer.ts";
import type { OpenChain } from "../../../chains/family.ts";
import { amountOf } from "../../../ledger/money/amount.ts";
import { type AnvilReceipt, type BareAnvil, startAnvil } from "./bare_anvil.ts";
import { tokenCode } from "./tokens.ts";

const TOKEN = new Interface([
  "function transfer(address,uint256)",
  "function pause(bool)",
  "function setParams(uint256,uint256)",
  "function block_(address,bool)",
  "function deprecate(address)",
]);

const UNITS = 10n ** 6n;
const COIN = 10n ** 18n;

/** See the module. */
export interface Rig extends AsyncDisposable {
  readonly anvil: BareAnvil;
  readonly chain: OpenChain;
  readonly usdt: string;
  readonly usdc: string;
  readonly hot: Wallet;
  /** Anvil's own account, which has all that was made. */
  readonly faucet: string;
  /** Sends tokens, of 6 decimals, from the faucet; in the next block. */
  pay(to: string, amount: bigint, token?: string): Promise<string>;
  /** Calls a method of a token as its owner; in the next block. */
  set(token: string, method: string, ...args: readonly unknown[]): Promise<void>;
  /** Opens one more adapter. */
  open(urls: readonly string[], sweepBy?: "coin" | "delegate"): OpenChain;
  /** Signs what the hot wallet pays: one payout, or sweeps of the deposit addresses with these indices. */
  sign(movement: Movement, fee: FeeEstimate, nonce: number): SignedTransaction;
  signSweeps(movements: readonly Movement[], fee: FeeEstimate, nonce: number): SignedTransaction;
}

/** A key by its number. */
export function walletOf(n: number): Wallet {
  return new Wallet(`0x${n.toString(16).padStart(64, "0")}`);
}

/** The key of a deposit address. */
export function depositKey(index: number): Wallet {
  return walletOf(0xd00 + index);
}

/** So many deposit addresses are looked through for an index. */
const MOST = 100;

function indexOf(address: string): number {
  for (let index = 0; index < MOST; index++) {
    if (depositKey(index).address === address) return index;
  }
  throw new Error(`Cannot find the index of an address: ${address}`);
}

function keyOf(wallet: Wallet): SigningKey {
  return { address: wallet.address, privateKey: Uint8Array.fromHex(wallet.privateKey.slice(2)) };
}

/** Starts all of it. */
export async function startRig(...options: readonly string[]): Promise<Rig> {
  const chainId = chainIdOf("ETH", true);
  const anvil = await startAnvil("--chain-id", String(chainId), ...options);
  const [faucet = ""] = await anvil.rpc<readonly string[]>("eth_accounts");
  const hot = walletOf(0x1057);
  const create = async (name: "Usdt" | "Usdc") => {
    const data = tokenCode(name, 6, 10n ** 15n);
    const txid = await anvil.rpc("eth_sendTransaction", { from: faucet, data, gas: "0x400000" });
    await anvil.mine();
    const receipt = await anvil.rpc<AnvilReceipt>("eth_getTransactionReceipt", txid);
    return receipt.contractAddress;
  };
  const send = (to: string, data: string, value = 0n) =>
    anvil.rpc("eth_sendTransaction", {
      from: faucet,
      to,
      data,
      value: `0x${value.toString(16)}`,
      gas: "0x30000",
    });
  const usdt = await create("Usdt");
  const usdc = await create("Usdc");
  const pay = (to: string, amount: bigint, token = usdt) =>
    send(token, TOKEN.encodeFunctionData("transfer", [to, amount]));
  await pay(hot.address, 1_000_000n * UNITS);
  await pay(hot.address, 1_000_000n * UNITS, usdc);
  await send(hot.address, "0x", 100n * COIN);
  await anvil.mine(3);
  const contracts = { USDT: usdt, USDC: usdc };
  const feeCap = amountOf("0.02");
  const open = (nodeUrls: readonly string[], sweepBy: "coin" | "delegate" = "coin") =>
    createEvmChain({
      network: "ETH",
      sweepBy,
      nodeUrls,
      contracts,
      deposits: { address: (index) => depositKey(index).address },
      hotWallet: hot.address,
      blockMs: 1_000,
      isDevelopment: true,
      feeCap,
    });
  const builder = createEvmTransferBuilder({
    network: "ETH",
    chainId,
    contracts,
    feeCap,
    sweepBy: "delegate",
  });
  const chain = open([anvil.url]);
  const sign = (
    movements: readonly Movement[],
    fee: FeeEstimate,
    nonce: number,
    kind: "payout" | "sweep",
  ) => {
    const solid = { height: 0, parentHeight: 0, hash: "", parentHash: "", time: 0, tick: 0 };
    const envelope = chain.envelope(solid, fee, nonce);
    const fault = builder.envelopeFault(envelope, Date.now());
    if (fault !== null) throw new Error(fault);
    const intents = movements.map(({ from, to, asset, amount }, i): Intent => ({
      outgoingId: `out_${i}`,
      kind,
      network: "ETH",
      currency: asset,
      amount,
      destination: to,
      destinationIndex: null,
      isDestinationClosed: false,
      wallet: kind === "payout" ? "hot" : indexOf(from),
      payer: "hot",
      status: "queued",
      nonce: null,
      usedNonces: [],
    }));
    for (const intent of intents) {
      const wrong = builder.intentFault(intent);
      if (wrong !== null) throw new Error(wrong);
    }
    return builder.sign(
      intents,
      envelope,
      (wallet) => keyOf(wallet === "hot" ? hot : depositKey(wallet)),
      "",
    );
  };
  return {
    anvil,
    chain,
    usdt,
    usdc,
    hot,
    faucet,
    pay,
    open,
    async set(token, method, ...args) {
      await send(token, TOKEN.encodeFunctionData(method, args));
    },
    sign: (movement, fee, nonce) => sign([movement], fee, nonce, "payout"),
    signSweeps: (movements, fee, nonce) => sign(movements, fee, nonce, "sweep"),
    [Symbol.asyncDispose]: () => anvil[Symbol.asyncDispose](),
  };
}
