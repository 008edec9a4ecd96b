/**
 * The transaction that paid a deposit by hand. One that is named elsewhere than under `txHash` of the metadata claims
 * nothing, and the scan would credit its transfer beside the deposit: without `txHash` an id anywhere else is refused.
 *
 * @module
 */

import type { Network } from "../../ledger/money/pair.ts";
import type { Detail } from "../http/answer.ts";
import type { ApiContext } from "../http/context.ts";
import { lettersOf } from "../http/near_miss.ts";

const LETTERS = lettersOf("txHash");
/**
 * Whole words that may be an id, with its prefix or without: alone, in a link of an explorer, also where it is written as a
 * part of another link (`%2F`), among other words.
 */
const WORDS = /(?:(?<![0-9a-z])|(?<=%[0-9a-f]{2}))(?:0x)?[0-9a-f]{64}(?![0-9a-z])/gi;
/** Characters of a name that are repeated in an answer. */
const LONGEST_SHOWN = 100;

const MEANT =
  "A transaction is named by metadata.txHash alone. Did you mean txHash? Send that as well, or leave this one out";

/**
 * The transaction that a deposit stands for, so that the scan does not credit it a second time: another node's scan
 * as well, where this node does not serve the network.
 *
 * @returns null where metadata names none; the fault of a `txHash` that is no id, and without one of another spelling of it
 *   and of an id under any name: read by a person each names a transaction all the same
 */
export function namedTransaction(
  metadata: Readonly<Record<string, unknown>>,
  on: Network,
  { transactionIdOn }: Pick<ApiContext, "transactionIdOn">,
): string | Detail | null {
  const { txHash = null } = metadata;
  if (txHash === null) {
    const isId = (word: string) => {
      const id = transactionIdOn(on, word);
      // where ids have a prefix, a word without it is more likely a digest of something else
      return id !== null && word.toLowerCase().endsWith(id);
    };
    return misnamed(metadata, ["metadata"], (text) => (text.match(WORDS) ?? []).some(isId));
  }
  const txid = typeof txHash === "string" ? transactionIdOn(on, txHash) : null;
  if (txid !== null) return txid;
  const message = "Not a transaction id of this network; leave it out where there is none";
  return { path: ["metadata", "txHash"], message, code: "invalid_string" };
}

/** The first fault of what probably was to be `txHash`, an id at any depth among it; null where there is none. */
function misnamed(
  value: object,
  path: readonly string[],
  holdsId: (text: string) => boolean,
): Detail | null {
  for (const [name, inner] of Object.entries(value)) {
    const here = [...path, name.slice(0, LONGEST_SHOWN)];
    // a deeper txHash may be of anything else, as of a refund: only an id in it tells
    const isOtherSpelling = path.length === 1 && inner !== null && lettersOf(name) === LETTERS;
    if (isOtherSpelling || holdsId(name) || typeof inner === "string" && holdsId(inner)) {
      return { path: here, message: MEANT, code: "unrecognized_keys" };
    }
    const isDeeper = typeof inner === "object" && inner !== null;
    const found = isDeeper ? misnamed(inner, here, holdsId) : null;
    if (found !== null) return found;
  }
  return null;
}
