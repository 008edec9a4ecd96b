/**
 * The faucet: signs real transactions with its own key and broadcasts them as any client would.
 *
 * @module
 */

import { addressWord, wordOf } from "./contract.ts";
import { type HexAddress, toBase58 } from "./address.ts";
import { buildTransaction } from "./build.ts";
import type { ChainNode } from "./chain_node.ts";
import { MAX_FEE_LIMIT } from "./parameters.ts";
import { encodeScript, type ScriptStep } from "./script.ts";
import { signDigest } from "./signature.ts";
import type { ContractValue } from "./transaction.ts";

/** The id of a transaction in the pool, or why the node did not take it. */
export type Sent = { readonly txid: string } | { readonly refused: string };

/** Lifetime of the faucet's transactions, milliseconds of block time. */
export const FAUCET_LIFETIME_MS = 15_000;

/** The chain's source of money. */
export class Faucet {
  readonly #node: ChainNode;
  #latest = 0;

  constructor(node: ChainNode) {
    this.#node = node;
  }

  /** Its base58 address. */
  get address(): string {
    return toBase58(this.#node.identity.faucet.address);
  }

  /** Sends TRX. @param amount sun */
  payTrx(to: HexAddress, amount: bigint, lifetimeMs?: number): Sent {
    if (amount > BigInt(Number.MAX_SAFE_INTEGER)) return { refused: "amount is too large" };
    const value = { to_address: to, amount: Number(amount) };
    return this.#send("TransferContract", value, lifetimeMs);
  }

  /** Sends tokens. @param amount in the token's smallest unit */
  payToken(token: HexAddress, to: HexAddress, amount: bigint, lifetimeMs?: number): Sent {
    if (amount >= 1n << 256n) return { refused: "amount is too large" };
    return this.#call(token, "a9059cbb" + addressWord(to) + wordOf(amount), lifetimeMs);
  }

  /** Calls the script contract. */
  runScript(steps: readonly ScriptStep[], lifetimeMs?: number): Sent {
    return this.#call(this.#node.identity.script, encodeScript(steps), lifetimeMs);
  }

  /** 64 hex digits, different at every call. */
  nonce(): string {
    return crypto.getRandomValues(new Uint8Array(32)).toHex();
  }

  #call(contract: HexAddress, data: string, lifetimeMs?: number): Sent {
    return this.#send("TriggerSmartContract", { contract_address: contract, data }, lifetimeMs);
  }

  #send(type: string, value: ContractValue, lifetimeMs = FAUCET_LIFETIME_MS): Sent {
    const { identity, solid, time } = this.#node;
    // Equal payments within a millisecond would be one transaction.
    this.#latest = Math.max(this.#latest + 1, Date.now());
    const unsigned = buildTransaction(
      type,
      { owner_address: identity.faucet.address, ...value },
      solid,
      {
        from: time,
        expiresInMs: lifetimeMs,
        timestamp: this.#latest,
        ...(type === "TriggerSmartContract" ? { feeLimit: MAX_FEE_LIMIT } : {}),
      },
    );
    const signature = signDigest(Uint8Array.fromHex(unsigned.txid), identity.faucet);
    const signed = { ...unsigned, signatures: [signature], size: unsigned.size + 67 };
    const refusal = this.#node.broadcast(signed, null);
    return refusal === null
      ? { txid: signed.txid }
      : { refused: `${refusal.code}: ${refusal.message}` };
  }
}
