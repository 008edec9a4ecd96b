/**
 * Carries out one transaction on a state: bandwidth, then the contract, then energy. What comes
 * out is either a refusal (the transaction is not includable) or what its receipt will say.
 *
 * @module
 */

import { readAccount, writeAccount } from "./account.ts";
import { type HexAddress, isHexAddress } from "./address.ts";
import { type CallResult, type Log, readContract } from "./contract.ts";
import { Overlay } from "./overlay.ts";
import { MAX_FEE_LIMIT } from "./parameters.ts";
import { contractRefusal, type NodeRefusal, REFUSALS, unknownAccount } from "./refusal.ts";
import { energyLimit, payBandwidth, payEnergy } from "./resources.ts";
import { callScript } from "./script.ts";
import { runSystemContract, transferReceiver } from "./system_contract.ts";
import { callToken } from "./token.ts";
import { type ContractCall, RESULT_SIZE, type Transaction } from "./transaction.ts";

/** A failure that a fault imposes on a contract call. */
export type ForcedFailure = "REVERT" | "OUT_OF_ENERGY";

/** Effects of a smart contract call. */
export interface EnergyReceipt {
  readonly contract: HexAddress;
  readonly result: "SUCCESS" | "REVERT" | "OUT_OF_ENERGY";
  /** Return data, hex. */
  readonly output: string;
  /** Text of a failure. */
  readonly message: string | null;
  readonly energyTotal: number;
  /** The part of `energyTotal` that stake paid. */
  readonly energyStaked: number;
  /** The part of `energyTotal` that dynamic pricing added. */
  readonly energyPenalty: number;
  /** Sun burned for energy. */
  readonly energyBurned: bigint;
  readonly logs: readonly Log[];
}

/** Effects of an included transaction. */
export interface Execution {
  readonly netUsed: number;
  /** Sun burned for bandwidth. */
  readonly netBurned: bigint;
  /** Everything burned, sun. */
  readonly fee: bigint;
  /** Null for system contracts. */
  readonly call: EnergyReceipt | null;
}

/** Outcome of carrying out a transaction. */
export type Outcome =
  | { readonly ok: true; readonly execution: Execution }
  | { readonly ok: false; readonly refusal: NodeRefusal };

/**
 * Carries out a transaction.
 *
 * @param state a layer the caller throws away when the outcome is a refusal
 * @param now block time, Unix milliseconds
 * @param forced the failure a fault imposes, for contract calls
 */
export function execute(
  state: Overlay,
  transaction: Transaction,
  now: number,
  forced: ForcedFailure | null,
): Outcome {
  const call = transaction.raw.contract[0];
  if (call === undefined || transaction.raw.contract.length !== 1) {
    return { ok: false, refusal: REFUSALS.contractCount };
  }
  const owner = ownerOf(call);
  if (owner === null) return refused("Invalid ownerAddress");
  const account = readAccount(state, owner);
  if (account === null) return { ok: false, refusal: unknownAccount(owner) };
  const bytes = transaction.size + RESULT_SIZE;
  const bill = payBandwidth(account, bytes, createsAccount(state, call), now);
  if (bill === null) return { ok: false, refusal: REFUSALS.bandwidth };
  writeAccount(state, owner, { ...bill.account, lastOperationAt: now });

  const net = { netUsed: bill.used, netBurned: bill.burned };
  if (call.type !== "TriggerSmartContract") {
    const result = runSystemContract(state, call, owner, now);
    if (!result.ok) return result;
    return { ok: true, execution: { ...net, fee: bill.burned + result.fee, call: null } };
  }
  const receipt = runSmartContract(state, transaction, call, owner, now, forced);
  if (!receipt.ok) return receipt;
  const fee = bill.burned + receipt.call.energyBurned;
  return { ok: true, execution: { ...net, fee, call: receipt.call } };
}

/** The account that signs and pays. */
export function ownerOf(call: ContractCall): HexAddress | null {
  const owner = call.parameter.value["owner_address"];
  return typeof owner === "string" && isHexAddress(owner) ? owner : null;
}

/**
 * Calls a contract without paying.
 *
 * @param state a layer the caller throws away
 * @returns null when there is no such contract
 */
export function callContract(
  state: Overlay,
  contract: HexAddress,
  caller: HexAddress,
  data: string,
): CallResult | null {
  const target = readContract(state, contract);
  if (target === null) return null;
  return target.kind === "token"
    ? callToken(state, { token: contract, contract: target, caller, data })
    : callScript(state, target, caller, data);
}

function runSmartContract(
  state: Overlay,
  transaction: Transaction,
  call: ContractCall,
  owner: HexAddress,
  now: number,
  forced: ForcedFailure | null,
): { ok: true; call: EnergyReceipt } | { ok: false; refusal: NodeRefusal } {
  const value = call.parameter.value;
  const feeLimit = transaction.raw.fee_limit ?? 0;
  if (feeLimit < 0 || feeLimit > MAX_FEE_LIMIT) {
    return refused(`feeLimit must be >= 0 and <= ${MAX_FEE_LIMIT}`);
  }
  const contract = value["contract_address"];
  const attempt = new Overlay(state);
  const data = value["data"];
  const result = typeof contract === "string"
    ? callContract(attempt, contract, owner, typeof data === "string" ? data : "")
    : null;
  if (result === null || typeof contract !== "string") {
    return refused("No contract or not a valid smart contract");
  }
  const payer = readAccount(state, owner);
  if (payer === null) return { ok: false, refusal: unknownAccount(owner) };
  const limit = energyLimit(payer, feeLimit, now);
  // Neither kind of contract is payable.
  const reverts = forced === "REVERT" || !result.ok || Number(value["call_value"] ?? 0) > 0;
  const exhausted = forced === "OUT_OF_ENERGY" || result.energy > limit;
  const energyTotal = exhausted ? limit : result.energy;
  const bill = payEnergy(payer, energyTotal, now);
  if (!exhausted && !reverts) attempt.mergeInto(state);
  writeAccount(state, owner, bill.account);
  const paid = { contract, energyTotal, energyStaked: bill.used, energyBurned: bill.burned };
  if (exhausted) {
    const message =
      `Not enough energy for 'SSTORE' operation executing: curInvokeEnergyLimit[${limit}],` +
      ` curOpEnergy[20000], usedEnergy[${limit}]`;
    const failure = { result: "OUT_OF_ENERGY", output: "", message, logs: [] } as const;
    return { ok: true, call: { ...paid, ...failure, energyPenalty: 0 } };
  }
  if (reverts || !result.ok) {
    const output = result.ok ? "" : result.output;
    const failure = { result: "REVERT", output, message: "REVERT opcode executed" } as const;
    return { ok: true, call: { ...paid, ...failure, logs: [], energyPenalty: 0 } };
  }
  return {
    ok: true,
    call: {
      ...paid,
      result: "SUCCESS",
      output: result.output,
      message: null,
      energyPenalty: result.penalty,
      logs: result.logs,
    },
  };
}

function createsAccount(state: Overlay, call: ContractCall): boolean {
  if (call.type !== "TransferContract") return false;
  const to = transferReceiver(call.parameter.value);
  return to !== null && readContract(state, to) === null && readAccount(state, to) === null;
}

function refused(reason: string): { ok: false; refusal: NodeRefusal } {
  return { ok: false, refusal: contractRefusal(reason) };
}
