/**
 * Errors of JSON-RPC in the words of Ethereum's nodes and their providers. The only place where codes and
 * texts of reads are read; those of broadcasts are in `pay/broadcast.ts`.
 *
 * Codes after EIP-1474, EIP-1898 and geth's `errors.go`; -32016 and -32029 are those of providers.
 *
 * @module
 */

import type { RpcDialect, RpcError } from "../../nodes/json_rpc.ts";
import { mostBytesOf } from "./answer_sizes.ts";

/** More was asked than the node or its provider answers. */
const TOO_MANY = new Set([429, -32005, -32016, -32029]);
const TOO_MANY_TEXT = /rate.?limit|too many requests|capacity|compute units|quota|daily request/i;
/** The call is not served, or not known. */
const UNKNOWN_METHOD = new Set([-32601, -32004]);
const UNKNOWN_TEXT =
  /method\b.{0,80}\b(not (found|supported|available|exist\w*|whitelisted|allowed)|does not exist|is not)|unsupported method|not supported|unknown method/i;
/** Geth's code of a revert that carries data. */
const REVERTED = 3;
const REVERTED_TEXT =
  /execution reverted|reverted|invalid opcode|gas required exceeds|out of gas|insufficient (funds|balance)|always failing transaction|VM execution error/i;
/** The node lacks the block or its state: it is behind, or has forgotten it. */
const BEHIND_TEXT =
  /header not found|header for hash not found|unknown block|block not found|missing trie node|state (is )?not available|historical state|state .{0,40}(pruned|unavailable|missing)|not (currently )?canonical|resource not found|no state|block ?out ?of ?range|\bprun(ed|ing)\b|data before .{0,40} not available/i;

/** See {@linkcode RpcDialect.kindOf}. */
function kindOf({ code, message }: RpcError): ReturnType<RpcDialect["kindOf"]> {
  if (code === REVERTED) return "reverted";
  if (TOO_MANY.has(code) || TOO_MANY_TEXT.test(message)) return "too-many";
  if (UNKNOWN_METHOD.has(code)) return "unknown-method";
  if (BEHIND_TEXT.test(message)) return "refused";
  if (REVERTED_TEXT.test(message)) return "reverted";
  if (UNKNOWN_TEXT.test(message)) return "unknown-method";
  return "failed";
}

/** Ethereum's words of JSON-RPC. */
export const EVM_DIALECT: RpcDialect = { kindOf, mostBytesOf };

/** True for a call that reads blocks: they come in crowds. */
export function readsBlocks(method: string): boolean {
  return method === "eth_getBlockByNumber" || method === "eth_getBlockReceipts" ||
    method === "eth_getTransactionReceipt";
}
