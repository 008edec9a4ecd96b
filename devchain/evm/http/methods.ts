/**
 * The JSON-RPC methods of the node: those that it answers itself, those that anvil answers, and the faults
 * of answers.
 *
 * @module
 */

import type { Fault, FaultKind } from "../../faults.ts";
import { errorOf } from "../anvil.ts";
import type { EvmChain, Reception } from "../evm_chain.ts";
import { nextNonce, refusal, type Waiting } from "../pool.ts";
import { AnvilAnswer, type Hex, HexText, quantity, type RpcAnswer } from "../rpc.ts";

export interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

type Params = readonly unknown[];

/** Families of methods that anvil may answer; its own, and those of keys that nodes hold, are not among them. */
const PASSED = /^(eth|net|web3|debug)_[A-Za-z0-9]+$/;
const REFUSED = new Set([
  "eth_sendTransaction",
  "eth_sendUnsignedTransaction",
  "eth_sendRawTransactionSync",
  "eth_sign",
  "eth_signTransaction",
  "eth_signTypedData",
  "eth_signTypedData_v3",
  "eth_signTypedData_v4",
  "eth_accounts",
]);
const RECEIPT_FAULTS: readonly FaultKind[] = [
  "lagging-receipts",
  "receipts-null",
  "receipts-short",
  "log-missing",
  "receipts-of-another",
];
const BROADCAST_FAULTS: readonly FaultKind[] = [
  "lost-broadcast",
  "silent-accept",
  "duplicate",
  "nonce-too-low",
  "underpriced",
  "revert",
  "out-of-gas",
];

/** Answers calls. */
export class Methods {
  readonly #chain: EvmChain;

  constructor(chain: EvmChain) {
    this.#chain = chain;
  }

  /** Answers calls, in their order; those for anvil go there as one batch. */
  async answer(calls: readonly Call[]): Promise<readonly RpcAnswer[]> {
    const own = calls.map((call) => this.#ownAnswer(call));
    const passed = calls.filter((_, i) => own[i] === null).map((call) => this.#rewritten(call));
    const [local, remote] = await Promise.all([Promise.all(own), this.#pass(passed)]);
    const answers = [...remote];
    return await Promise.all(calls.map((call, i) => {
      const answer = local[i] ?? answers.shift();
      if (answer === undefined) throw new Error(`anvil left a call unanswered: ${call.method}`);
      return this.#coloured(call, answer);
    }));
  }

  /** Null for a call that anvil answers. */
  #ownAnswer({ method, params }: Call): Promise<RpcAnswer> | null {
    const [first, second] = params;
    switch (method) {
      case "eth_sendRawTransaction":
        return this.#broadcast(first);
      case "eth_getTransactionByHash":
      case "eth_getRawTransactionByHash": {
        const waiting = this.#waiting(first);
        if (waiting === undefined) return null;
        return result(method === "eth_getTransactionByHash" ? waiting.tx : waiting.raw);
      }
      case "eth_getTransactionCount":
        return second === "pending" ? this.#pendingCount(params) : null;
      default:
        if (PASSED.test(method) && !REFUSED.has(method)) return null;
        return Promise.resolve({
          error: {
            code: -32_601,
            message: `the method ${method} does not exist/is not available`,
          },
        });
    }
  }

  async #broadcast(given: unknown): Promise<RpcAnswer> {
    const raw = HexText.safeParse(given);
    if (!raw.success) {
      return { error: { code: -32_602, message: "invalid argument 0: hex string is needed" } };
    }
    // a fault hides no refusal: it happens to what would have been taken
    const fired: { fault: Fault | null } = { fault: null };
    const handed = await this.#chain.submit(raw.data, (waiting): Reception => {
      const isCall = typeof waiting.tx["input"] === "string" && waiting.tx["input"] !== "0x";
      const kinds = BROADCAST_FAULTS.filter((kind) => isCall || !isFate(kind));
      const fault = this.#chain.faults.fire("eth_sendRawTransaction", kinds);
      fired.fault = fault;
      const kind = fault?.kind;
      return {
        isKept: kind !== "lost-broadcast" && fault?.forget !== true,
        fate: kind !== undefined && isFate(kind) ? kind : null,
      };
    });
    if ("error" in handed) return handed;
    switch (fired.fault?.kind) {
      case "silent-accept":
        return { error: refusal(fired.fault.code) };
      case "duplicate":
        return { error: refusal("already known") };
      case "nonce-too-low":
        return { error: refusal("nonce too low") };
      case "underpriced":
        return { error: refusal("replacement transaction underpriced") };
      default:
        return { result: handed.txid };
    }
  }

  /** Counts what waits on top of what anvil has in blocks. */
  async #pendingCount([address]: Params): Promise<RpcAnswer> {
    const call = { id: 0, method: "eth_getTransactionCount", params: [address, "latest"] };
    const [answer] = await this.#pass([call]);
    if (answer === undefined || "error" in answer) {
      return answer ?? { error: refusal("no answer") };
    }
    const mined = Number(answer.result);
    return { result: quantity(nextNonce(this.#chain.pool, String(address), mined)) };
  }

  #waiting(txid: unknown): Waiting | undefined {
    const wanted = String(txid).toLowerCase();
    return this.#chain.pool.find(({ tx }) => tx.hash === wanted);
  }

  /** Block tags as anvil has to understand them: it knows neither what is final here nor what waits. */
  #rewritten(call: Call): Call {
    let final: Hex | null = null;
    const heightOf = () => final ??= quantity(this.#finalFor(call.method));
    const rewrite = (value: unknown): unknown => {
      if (value === "finalized" || value === "safe") return heightOf();
      if (value === "pending") return "latest";
      if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
      const fields = Object.entries(value).map(([name, entry]) =>
        name === "fromBlock" || name === "toBlock" ? [name, rewrite(entry)] : [name, entry]
      );
      return Object.fromEntries(fields);
    };
    return { ...call, params: call.params.map(rewrite) };
  }

  #finalFor(method: string): number {
    const { faults, final } = this.#chain;
    const fault = faults.fire(method, ["finality-back"]);
    return Math.max(0, final - (fault?.behind ?? 0));
  }

  async #pass(calls: readonly Call[]): Promise<readonly RpcAnswer[]> {
    if (calls.length === 0) return [];
    const bodies = calls.map(({ method, params }, id) => ({ jsonrpc: "2.0", id, method, params }));
    const json = await this.#chain.read(bodies.length === 1 ? bodies[0] : bodies);
    const answers = (Array.isArray(json) ? json : [json]).map((one) => AnvilAnswer.parse(one));
    return calls.map((_, id) => {
      const answer = answers.find((one) => one.id === id) ?? answers[0];
      if (answer === undefined) return { error: refusal("no answer") };
      return "error" in answer ? { error: errorOf(answer.error) } : { result: answer.result };
    });
  }

  /** An answer about receipts as the faults in force have it. */
  async #coloured({ method }: Call, answer: RpcAnswer): Promise<RpcAnswer> {
    const isList = method === "eth_getBlockReceipts";
    if (!isList && method !== "eth_getTransactionReceipt") return answer;
    if (!("result" in answer) || answer.result === null) return answer;
    const receipts: unknown[] = Array.isArray(answer.result) ? answer.result : [answer.result];
    if (receipts.length === 0) return answer;
    const fault = this.#chain.faults.fire(method, RECEIPT_FAULTS);
    switch (fault?.kind) {
      case "lagging-receipts":
        return { result: isList ? (fault.late ? receipts.slice(0, -1) : []) : null };
      case "receipts-null":
        return { result: null };
      case "receipts-short":
        return { result: isList ? receipts.slice(0, -1) : null };
      case "log-missing": {
        const short = withoutLastLog(receipts);
        return { result: isList ? short : short[0] };
      }
      case "receipts-of-another":
        return await this.#ofBlockBefore(method, receipts[0]);
      default:
        return answer;
    }
  }

  async #ofBlockBefore(method: string, receipt: unknown): Promise<RpcAnswer> {
    const height = Number(fieldOf(receipt, "blockNumber"));
    const before = quantity(Math.max(0, height - 1));
    if (method === "eth_getBlockReceipts") {
      const call = { id: 0, method, params: [before] };
      return (await this.#pass([call]))[0] ?? { result: null };
    }
    const call = { id: 0, method: "eth_getBlockByNumber", params: [before, false] };
    const [answer] = await this.#pass([call]);
    if (answer === undefined || !("result" in answer)) return { result: null };
    const blockHash = fieldOf(answer.result, "hash");
    return { result: { ...Object(receipt), blockNumber: before, blockHash } };
  }
}

function result(value: unknown): Promise<RpcAnswer> {
  return Promise.resolve({ result: value });
}

function isFate(kind: FaultKind): kind is "revert" | "out-of-gas" {
  return kind === "revert" || kind === "out-of-gas";
}

function fieldOf(json: unknown, name: string): unknown {
  return typeof json === "object" && json !== null ? Reflect.get(json, name) : undefined;
}

function withoutLastLog(receipts: readonly unknown[]): unknown[] {
  const logsOf = (receipt: unknown): readonly unknown[] => {
    const logs = fieldOf(receipt, "logs");
    return Array.isArray(logs) ? logs : [];
  };
  const last = receipts.findLastIndex((receipt) => logsOf(receipt).length > 0);
  return receipts.map((receipt, i) =>
    i === last ? { ...Object(receipt), logs: logsOf(receipt).slice(0, -1) } : receipt
  );
}
