/**
 * A node's answers when it does not take a transaction: code and text of java-tron's
 * `Wallet.broadcastTransaction`.
 *
 * @module
 */

import { toBase58 } from "./address.ts";

/** Codes this node gives. */
export type RefusalCode =
  | "SIGERROR"
  | "CONTRACT_VALIDATE_ERROR"
  | "BANDWITH_ERROR"
  | "DUP_TRANSACTION_ERROR"
  | "TAPOS_ERROR"
  | "TOO_BIG_TRANSACTION_ERROR"
  | "TRANSACTION_EXPIRATION_ERROR"
  | "SERVER_BUSY"
  | "OTHER_ERROR";

/** A transaction that was not taken. */
export interface NodeRefusal {
  readonly code: RefusalCode;
  /** Plain text; on the wire it is hex unless `visible` is set. */
  readonly message: string;
}

/** The contract cannot be carried out on the present state. */
export function contractRefusal(reason: string): NodeRefusal {
  return { code: "CONTRACT_VALIDATE_ERROR", message: `Contract validate error : ${reason}` };
}

/** The signature is missing, malformed or of another key. */
export function signatureRefusal(reason: string): NodeRefusal {
  return { code: "SIGERROR", message: `Validate signature error: ${reason}` };
}

/** The paying account was never activated. */
export function unknownAccount(address: string): NodeRefusal {
  return contractRefusal(`account [${toBase58(address)}] does not exist`);
}

/** Refusals without a reason of their own. */
export const REFUSALS = {
  bandwidth: { code: "BANDWITH_ERROR", message: "Account resource insufficient error." },
  duplicate: { code: "DUP_TRANSACTION_ERROR", message: "Dup transaction." },
  tapos: { code: "TAPOS_ERROR", message: "Tapos check error." },
  tooBig: { code: "TOO_BIG_TRANSACTION_ERROR", message: "Transaction size is too big." },
  expired: { code: "TRANSACTION_EXPIRATION_ERROR", message: "Transaction expired" },
  busy: { code: "SERVER_BUSY", message: "Server busy." },
  contractCount: {
    code: "OTHER_ERROR",
    message: "Error: act size should be exactly 1, this is extend feature",
  },
} as const satisfies Record<string, NodeRefusal>;
