import { ChainUnavailable } from "../../chains/chain.ts";
import { SignerUnavailable } from "../../chains/signer.ts";
import { classifyDatabaseError } from "../../ledger/database/database_errors.ts";

/** True for an error that says that a node, the signer or the database is away; nothing is wrong with the message. */
export function isAway(error: unknown): boolean {
  return error instanceof ChainUnavailable || error instanceof SignerUnavailable ||
    classifyDatabaseError(error) === "connection";
}
