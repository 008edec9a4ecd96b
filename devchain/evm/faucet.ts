/**
 * Keys that the node signs with: the faucet's, and any that a test hands it.
 *
 * @module
 */

import { type Abi, encodeFunctionData, type LocalAccount, parseAbi } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { AnvilRefusal } from "./anvil.ts";
import { CannotDo, type EvmChain } from "./evm_chain.ts";
import { CONTRACTS } from "./genesis.ts";
import { feeCapOf, isFrom, nonceOf, tipCapOf } from "./pool.ts";
import { type Hex, HexText } from "./rpc.ts";

const ABI: Abi = parseAbi([
  "function transfer(address to, uint256 value)",
  "function pretend(address from, address to, uint256 value)",
  "function log(bytes32[] topics, bytes data)",
  "function run(address[] to, bytes[] data)",
  "function pause()",
  "function unpause()",
  "function setParams(uint256 basisPoints, uint256 most)",
  "function addBlackList(address who)",
  "function removeBlackList(address who)",
  "function blacklist(address who)",
  "function unBlacklist(address who)",
]);

export interface ContractCall {
  readonly to: Hex;
  readonly data: Hex;
}

const GWEI = 1_000_000_000n;
/** The faucet pays whatever base fee is set: 10,000 gwei at most. */
const FEE_CAP = 10_000n * GWEI;
const TIP = 2n * GWEI;
/** Enough for a transfer of coin to an account that is delegated to a contract. */
const COIN_GAS = 60_000n;
/** Gas that a call may use beyond its estimate, as what waits before it may make it dearer. */
const SPARE_GAS = 60_000n;

/** The call of a function. @throws when it is none of the table above, or the arguments are not its own */
export function callOf(to: Hex, name: string, args: readonly unknown[]): ContractCall {
  return { to, data: encodeFunctionData({ abi: ABI, functionName: name, args }) };
}

/** Pays and calls for people and tests. */
export class Faucet {
  readonly account: LocalAccount;
  readonly #chain: EvmChain;
  readonly #chainId: number;
  #last: Promise<unknown> = Promise.resolve();

  constructor(chain: EvmChain, mnemonic: string, chainId: number) {
    this.account = mnemonicToAccount(mnemonic);
    this.#chain = chain;
    this.#chainId = chainId;
  }

  /** Sends coin. @param amount wei @throws {CannotDo} with the node's refusal */
  async payCoin(to: Hex, amount: bigint): Promise<Hex> {
    return await this.#send({ to, value: amount, data: "0x", gas: COIN_GAS });
  }

  /** Calls a contract. @throws {CannotDo} when it would fail, or with the node's refusal */
  async call(call: ContractCall): Promise<Hex> {
    const request = { from: this.account.address, to: call.to, data: call.data };
    let gas: bigint;
    try {
      gas = BigInt(HexText.parse(await this.#chain.ask("eth_estimateGas", request)));
    } catch (error) {
      if (!(error instanceof AnvilRefusal)) throw error;
      throw new CannotDo(`The contract refuses it: ${error.message}`);
    }
    return await this.#send({ ...call, value: 0n, gas: gas + gas / 4n + SPARE_GAS });
  }

  /** Takes several calls in one transaction; one that fails fails them all. */
  async runAll(calls: readonly ContractCall[]): Promise<Hex> {
    const lists = [calls.map(({ to }) => to), calls.map(({ data }) => data)];
    const { to, data } = callOf(CONTRACTS.script, "run", lists);
    // it may be meant to fail, which an estimate would refuse
    const gas = 200_000n * BigInt(calls.length + 1);
    return await this.#send({ to, data, value: 0n, gas });
  }

  /** One transaction after the other, so that no two have one nonce. */
  #send(call: ContractCall & { readonly value: bigint; readonly gas: bigint }): Promise<Hex> {
    const sent = this.#last.then(async () => {
      const nonce = await this.#chain.pendingNonce(this.account.address);
      return await this.#sign(this.account, { ...call, nonce, feeCap: FEE_CAP, tip: TIP });
    });
    // the failure of one is its caller's and not the next one's
    this.#last = sent.catch(() => {});
    return sent;
  }

  /**
   * Uses a nonce of any key, as another program that has the key would: with a transfer of nothing to itself,
   * at fees that replace what waits with that nonce.
   *
   * @param nonce default: the first that no block has
   * @throws {CannotDo} with the node's refusal
   */
  async useNonce(account: LocalAccount, nonce: number | null): Promise<Hex> {
    const { address } = account;
    const mined = Number(await this.#chain.ask("eth_getTransactionCount", address, "latest"));
    const used = nonce ?? mined;
    const waiting = this.#chain.pool.find((one) =>
      isFrom(one.tx, address) && nonceOf(one) === used
    );
    const tip = max(TIP, waiting === undefined ? 0n : 2n * tipCapOf(waiting));
    const asked = 4n * (this.#chain.baseFee ?? 10n * GWEI) + tip;
    const feeCap = max(asked, waiting === undefined ? 0n : 2n * feeCapOf(waiting));
    const call = { to: address, data: "0x", value: 0n, gas: COIN_GAS } as const;
    return await this.#sign(account, { ...call, nonce: used, feeCap, tip });
  }

  async #sign(
    account: LocalAccount,
    terms: ContractCall & {
      readonly value: bigint;
      readonly gas: bigint;
      readonly nonce: number;
      readonly feeCap: bigint;
      readonly tip: bigint;
    },
  ): Promise<Hex> {
    const raw = await account.signTransaction({
      type: "eip1559",
      chainId: this.#chainId,
      nonce: terms.nonce,
      to: terms.to,
      data: terms.data,
      value: terms.value,
      gas: terms.gas,
      maxFeePerGas: terms.feeCap,
      maxPriorityFeePerGas: terms.tip,
    });
    const handed = await this.#chain.submit(raw);
    if ("txid" in handed) return handed.txid;
    throw new CannotDo(`The node refuses it: ${handed.error.message}`);
  }
}

function max(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
