/** Routes that build unsigned transactions of system contracts. @module */

import { buildTransaction, unsignedJson } from "../build.ts";
import { contractTypeNamed, type FieldType, RESOURCES } from "../contract_types.ts";
import { ownerOf } from "../execute.ts";
import { Overlay } from "../overlay.ts";
import { runSystemContract } from "../system_contract.ts";
import { type Answer, NodeError, type NodeRequest, type Params, type Route } from "./route.ts";

/** Paths that build transactions. */
export const BUILD_ROUTES: Readonly<Record<string, Route>> = {
  createtransaction: builds("TransferContract"),
  freezebalancev2: builds("FreezeBalanceV2Contract"),
  unfreezebalancev2: builds("UnfreezeBalanceV2Contract"),
  withdrawexpireunfreeze: builds("WithdrawExpireUnfreezeContract"),
  delegateresource: builds("DelegateResourceContract"),
  undelegateresource: builds("UnDelegateResourceContract"),
};

function builds(typeName: string): Route {
  const type = contractTypeNamed(typeName);
  if (type === undefined) throw new RangeError(`Cannot build an unknown contract: ${typeName}`);
  const answer = (request: NodeRequest): Answer => {
    const { node, params } = request;
    const value: Record<string, string | number | boolean> = {};
    for (const field of type.fields) {
      const read = readField(params, field);
      if (read !== null) value[field.name] = read;
    }
    const timestamp = node.time;
    const transaction = buildTransaction(typeName, value, node.head, { timestamp });
    const call = transaction.raw.contract[0];
    const owner = call === undefined ? null : ownerOf(call);
    if (call === undefined || owner === null) throw refused("Invalid ownerAddress!");
    const result = runSystemContract(new Overlay(node.store), call, owner, node.head.time);
    if (!result.ok) throw refused(result.refusal.message);
    return { json: unsignedJson(transaction, params.visible) };
  };
  return { answer, solidity: false, get: false };
}

function readField(params: Params, field: FieldType): string | number | boolean | null {
  switch (field.kind) {
    case "address": {
      const address = params.address(field.name);
      return address === "" ? null : address;
    }
    case "int":
      return params.int(field.name);
    case "bool":
      return params.flag(field.name);
    case "resource":
      return RESOURCES.find((resource) => resource === params.text(field.name)) ??
        RESOURCES[params.int(field.name)] ?? null;
    case "hex":
      return params.hash(field.name);
    default:
      throw new TypeError(`Cannot read a field of unknown kind: ${field.kind satisfies never}`);
  }
}

function refused(message: string): NodeError {
  return new NodeError("org.tron.core.exception.ContractValidateException", message);
}
