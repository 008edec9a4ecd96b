/**
 * Routes that read, try and prepare calls of contracts.
 *
 * @module
 */

import { keccak_256 } from "@noble/hashes/sha3.js";
import type { HexAddress } from "../address.ts";
import { buildTransaction, unsignedJson } from "../build.ts";
import { type CallResult, type Contract, readContract } from "../contract.ts";
import { callContract } from "../execute.ts";
import { Overlay } from "../overlay.ts";
import { hexOfText } from "../render.ts";
import type { Transaction } from "../transaction.ts";
import {
  type Answer,
  NodeError,
  type NodeRequest,
  NOTHING,
  type Params,
  type Route,
  stateOf,
  topOf,
  unlessZero,
} from "./route.ts";

const address = (name: string) => ({ name, type: "address" });
const number = (name: string) => ({ name, type: "uint256" });

function reads(name: string, inputs: readonly unknown[], type: string) {
  return {
    constant: true,
    name,
    ...(inputs.length === 0 ? {} : { inputs }),
    outputs: [{ type }],
    type: "Function",
    stateMutability: "View",
  };
}

function writes(name: string, inputs: readonly unknown[]) {
  return {
    name,
    inputs,
    outputs: [{ type: "bool" }],
    type: "Function",
    stateMutability: "Nonpayable",
  };
}

function event(name: string, first: string, second: string) {
  return {
    name,
    inputs: [
      { indexed: true, ...address(first) },
      { indexed: true, ...address(second) },
      number("value"),
    ],
    type: "Event",
  };
}

/** Functions and events of every token of this chain. */
const TOKEN_ABI: readonly unknown[] = [
  reads("name", [], "string"),
  reads("symbol", [], "string"),
  reads("decimals", [], "uint256"),
  reads("totalSupply", [], "uint256"),
  reads("balanceOf", [address("who")], "uint256"),
  reads("allowance", [address("owner"), address("spender")], "uint256"),
  writes("transfer", [address("to"), number("value")]),
  writes("approve", [address("spender"), number("value")]),
  writes("transferFrom", [address("from"), address("to"), number("value")]),
  event("Transfer", "from", "to"),
  event("Approval", "owner", "spender"),
];

/** Paths about contracts. */
export const CONTRACT_ROUTES: Readonly<Record<string, Route>> = {
  triggerconstantcontract: { answer: tryCall, solidity: true, get: false },
  estimateenergy: { answer: estimateEnergy, solidity: true, get: false },
  triggersmartcontract: { answer: prepareCall, solidity: false, get: false },
  getcontract: { answer: getContract, solidity: false, get: true },
  getcontractinfo: { answer: getContractInfo, solidity: false, get: true },
};

interface Call {
  readonly owner: HexAddress;
  readonly contract: HexAddress;
  /** Hex, selector first. */
  readonly data: string;
}

function tryCall(request: NodeRequest): Answer {
  const call = readCall(request.params);
  if (!("owner" in call)) return call;
  const result = runCall(request, call);
  if (result === null) return failure("CONTRACT_VALIDATE_ERROR", "Smart contract is not exist.");
  const transaction = unsignedJson(callTransaction(request, call), request.params.visible);
  return {
    json: {
      result: {
        result: true,
        ...(result.ok ? {} : { message: hexOfText("REVERT opcode executed") }),
      },
      energy_used: result.energy,
      constant_result: [result.output],
      ...(result.ok ? unlessZero("energy_penalty", result.penalty) : {}),
      ...(result.ok && result.logs.length > 0 ? { logs: result.logs } : {}),
      transaction: { ret: [result.ok ? {} : { ret: "FAILED" }], ...transaction },
    },
  };
}

function estimateEnergy(request: NodeRequest): Answer {
  const call = readCall(request.params);
  if (!("owner" in call)) return call;
  const result = runCall(request, call);
  if (result === null) return failure("CONTRACT_VALIDATE_ERROR", "Smart contract is not exist.");
  if (!result.ok) return failure("CONTRACT_EXE_ERROR", "REVERT opcode executed");
  return { json: { result: { result: true }, energy_required: result.energy } };
}

function prepareCall(request: NodeRequest): Answer {
  const call = readCall(request.params);
  if (!("owner" in call)) return call;
  if (readContract(request.node.store, call.contract) === null) {
    return failure("CONTRACT_VALIDATE_ERROR", "No contract or not a valid smart contract");
  }
  const transaction = callTransaction(request, call);
  return {
    json: {
      result: { result: true },
      transaction: unsignedJson(transaction, request.params.visible),
    },
  };
}

function runCall(request: NodeRequest, call: Call): CallResult | null {
  return callContract(new Overlay(stateOf(request)), call.contract, call.owner, call.data);
}

function callTransaction(request: NodeRequest, call: Call): Transaction {
  const { node, params } = request;
  const value = {
    owner_address: call.owner,
    contract_address: call.contract,
    ...unlessZero("call_value", params.int("call_value")),
    data: call.data,
  };
  const feeLimit = params.int("fee_limit");
  // as java-tron: the block of the very state that the call was tried on
  const reference = node.store.block(topOf(request)) ?? node.head;
  return buildTransaction("TriggerSmartContract", value, reference, {
    timestamp: node.time,
    ...(feeLimit === 0 ? {} : { feeLimit }),
  });
}

/** The call of a request, or the answer to a request that names none. */
function readCall(params: Params): Call | Answer {
  try {
    const owner = params.address("owner_address");
    const contract = params.address("contract_address");
    const selector = params.text("function_selector");
    if (owner === null) return parameterMissing("owner_address isn't set.");
    if (contract === null) return parameterMissing("contract_address isn't set.");
    if (selector === "" && params.text("data") === "") {
      return parameterMissing("At least one of function_selector and data must be non-empty");
    }
    const data = selector === ""
      ? params.hash("data")
      : keccak_256(new TextEncoder().encode(selector)).subarray(0, 4).toHex() +
        params.hash("parameter");
    return { owner, contract, data };
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    return failure("OTHER_ERROR", `class ${error.exception} : ${error.message}`);
  }
}

function parameterMissing(reason: string): Answer {
  return failure("OTHER_ERROR", `class java.security.InvalidParameterException : ${reason}`);
}

function failure(code: string, message: string): Answer {
  return { json: { result: { code, message: hexOfText(message) } } };
}

function getContract(request: NodeRequest): Answer {
  const address = request.params.address("value");
  const contract = address === null ? null : readContract(request.node.store, address);
  if (address === null || contract === null) return NOTHING;
  return { json: describe(address, contract) };
}

function getContractInfo(request: NodeRequest): Answer {
  const address = request.params.address("value");
  const contract = address === null ? null : readContract(request.node.store, address);
  if (address === null || contract === null) return NOTHING;
  return {
    json: {
      runtimecode: "",
      smart_contract: describe(address, contract),
      contract_state: { energy_factor: 34_000, update_cycle: 1 },
    },
  };
}

function describe(address: HexAddress, contract: Contract): Record<string, unknown> {
  return {
    origin_address: contract.origin,
    contract_address: address,
    ...(contract.kind === "token" ? { abi: { entrys: TOKEN_ABI } } : {}),
    consume_user_resource_percent: 100,
    name: contract.kind === "token" ? contract.name : "Script",
    origin_energy_limit: 10_000_000,
  };
}
