/** Routes that take transactions. @module */

import type { ForcedFailure } from "../execute.ts";
import type { FaultKind } from "../faults.ts";
import { MalformedMessage } from "../protobuf.ts";
import { hexOfText, renderTransaction } from "../render.ts";
import { assemble, decodeTransaction, encodeRaw, type Transaction } from "../transaction.ts";
import { type Answer, NodeError, type NodeRequest, type Params, type Route } from "./route.ts";

/** Paths that take transactions. */
export const BROADCAST_ROUTES: Readonly<Record<string, Route>> = {
  broadcasttransaction: { answer: broadcastTransaction, solidity: false, get: false },
  broadcasthex: { answer: broadcastHex, solidity: false, get: false },
};

const FAULT_KINDS: readonly FaultKind[] = ["lost-broadcast", "silent-accept", "duplicate"];
const FORCED: Readonly<Partial<Record<FaultKind, ForcedFailure>>> = {
  "revert": "REVERT",
  "out-of-energy": "OUT_OF_ENERGY",
};

type Refused = { readonly code: string; readonly message: string } | null;

function broadcastTransaction(request: NodeRequest): Answer {
  const transaction = readTransaction(request.params);
  const refused = broadcast(request, transaction);
  if (refused === null) return { json: { result: true, txid: transaction.txid } };
  const { code, message } = refused;
  return { json: { code, txid: transaction.txid, message: hexOfText(message) } };
}

function broadcastHex(request: NodeRequest): Answer {
  const transaction = readHex(request.params.hash("transaction"));
  const refused = broadcast(request, transaction);
  return {
    json: {
      result: refused === null,
      code: refused?.code ?? "SUCCESS",
      // This servlet alone prints the message as text (java-tron, BroadcastHexServlet).
      message: refused?.message ?? "",
      transaction: renderTransaction(transaction, "DEFAULT"),
      txid: transaction.txid,
    },
  };
}

function broadcast(request: NodeRequest, transaction: Transaction): Refused {
  const { node } = request;
  const fault = request.fire(FAULT_KINDS);
  const keep = fault === null || fault.kind === "silent-accept" ||
    (fault.kind === "duplicate" && !fault.forget);
  const refusal = keep
    ? node.broadcast(transaction, forcedFailure(request, transaction))
    : node.check(transaction);
  if (refusal !== null || fault === null) return refusal;
  switch (fault.kind) {
    case "silent-accept":
      return { code: fault.code, message: "Error: the node is in trouble." };
    case "duplicate":
      return { code: "DUP_TRANSACTION_ERROR", message: "Dup transaction." };
    default:
      return null;
  }
}

function forcedFailure(request: NodeRequest, transaction: Transaction): ForcedFailure | null {
  if (transaction.raw.contract[0]?.type !== "TriggerSmartContract") return null;
  const fault = request.fire(["revert", "out-of-energy"]);
  return fault === null ? null : FORCED[fault.kind] ?? null;
}

function readTransaction(params: Params): Transaction {
  const signatures = params.raw("signature");
  try {
    const raw = encodeRaw(params.raw("raw_data"), params.visible);
    return assemble(raw, readSignatures(signatures));
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
    throw new NodeError("java.lang.NullPointerException", error.message);
  }
}

function readSignatures(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new MalformedMessage("Cannot read signature: not a list");
  return value.map((entry: unknown) => {
    if (typeof entry === "string" && /^([0-9a-f]{2})*$/i.test(entry)) return entry.toLowerCase();
    throw new MalformedMessage("Cannot read signature as it is not hex");
  });
}

function readHex(hex: string): Transaction {
  try {
    return decodeTransaction(Uint8Array.fromHex(hex));
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
    throw new NodeError("com.google.protobuf.InvalidProtocolBufferException", error.message);
  }
}
