/**
 * The transaction that paid a deposit by hand. One that is named elsewhere than under `txHash` of the metadata claims
 * nothing, and the scan would credit its transfer beside the deposit: a name that looks like it is refused.
 *
 * @module
 */

import type { Network } from "../../ledger/money/pair.ts";
import type { Detail } from "../http/answer.ts";
import type { ApiContext } from "../http/context.ts";
import { isNearMiss, lettersOf } from "../http/near_miss.ts";

const LETTERS = lettersOf("txHash");
/** Names, by their letters, of a transaction's id and of a merchant's own ids alike: their value tells. */
const OWN_NAMES: ReadonlySet<string> = new Set(["hash", "tx", "txn", "transaction"]);
/** Parts of such names, as of `refundTxHash` and `myTransactionId`. */
const PARTS = ["txhash", "txid", "txnid", "transactionhash", "transactionid"];
/** Characters of a name that are repeated in an answer. */
const LONGEST_SHOWN = 100;

const MEANT =
  "A transaction is named by metadata.txHash alone. Did you mean txHash? Send that as well, or leave this one out";

/**
 * The transaction that a deposit stands for, so that the scan does not credit it a second time: another node's scan
 * as well, where this node does not serve the network.
 *
 * @returns null where metadata names none; the fault of a `txHash` that is no id, and of a name that was probably meant to be
 *   it: read by a person either names a transaction all the same
 */
export function namedTransaction(
  metadata: Readonly<Record<string, unknown>>,
  on: Network,
  { transactionIdOn }: Pick<ApiContext, "transactionIdOn">,
): string | Detail | null {
  const { txHash = null } = metadata;
  if (txHash === null) {
    return misnamed(metadata, ["metadata"], (text) => transactionIdOn(on, text.trim()) !== null);
  }
  const txid = typeof txHash === "string" ? transactionIdOn(on, txHash) : null;
  if (txid !== null) return txid;
  const message = "Not a transaction id of this network; leave it out where there is none";
  return { path: ["metadata", "txHash"], message, code: "invalid_string" };
}

/** The fault of the first name that was probably meant to be `txHash`, at any depth; null where there is none. */
function misnamed(
  value: object,
  path: readonly string[],
  isId: (text: string) => boolean,
): Detail | null {
  for (const [name, inner] of Object.entries(value)) {
    if (inner === null) continue;
    const here = [...path, name.slice(0, LONGEST_SHOWN)];
    const letters = lettersOf(name);
    const isLikely = !OWN_NAMES.has(letters) && isNearMiss(letters, LETTERS);
    const isPossible = isLikely || OWN_NAMES.has(letters) ||
      PARTS.some((one) => letters.includes(one));
    // a deeper name may be of anything else: only an id of the network in it tells
    if (isLikely && path.length === 1 || isPossible && holdsId(inner, isId)) {
      return { path: here, message: MEANT, code: "unrecognized_keys" };
    }
    const found = typeof inner === "object" ? misnamed(inner, here, isId) : null;
    if (found !== null) return found;
  }
  return null;
}

/** True for an id, and for what holds one. */
function holdsId(value: unknown, isId: (text: string) => boolean): boolean {
  if (typeof value === "string") return isId(value);
  return typeof value === "object" && value !== null &&
    Object.values(value).some((inner) => holdsId(inner, isId));
}
