/**
 * Words of one chain where only chains in general are spoken of.
 *
 * @module
 */

import type { SourceFile } from "./source_file.ts";
import type { Violation } from "./rules.ts";

const NO_CHAINS_OWN = /^(actors|api|ledger)\/.*\.(tsx?|sql)$/;
/** Released, and what is made of it. */
const RELEASED = /^ledger\/(migrations\/|schema\.sql$)/;
const WORDS = /\b(?:TRX|TRON|energy|stake|staked|lent|sun|base58)\b/gi;

/** Files that may, with their reason. One that no longer needs to is a violation itself. */
const EXCEPTIONS: readonly (readonly [RegExp, string])[] = [
  [
    /^actors\/sweeper\/(own_coin_step|sweep_terms|plan_address|sweeper_actor)\.ts$/,
    "sweeps of addresses that pay for themselves, with coin or with energy that is delegated",
  ],
  [
    /^actors\/treasury\/(prepare_batch|liquidity)\.ts$/,
    "the outgoing kind `delegation` is bounded by stake",
  ],
  [
    /^(ledger\/money\/pair|ledger\/settings)\.ts$/,
    "the list of the interface's networks, and their order",
  ],
  [/^api\/payouts\/withdrawal_fees\.ts$/, "the interface's default network"],
  [
    /^(actors\/merchant\/refusal|api\/http\/(fields|error_table)|api\/operations\/(treasury|failover|reconcile)|api\/statements\/exchange_rates|ledger\/reconcile\/difference)\.ts$/,
    "examples",
  ],
];

/** Finds words of one chain in files that know none. */
export function chainWords(file: SourceFile): readonly Violation[] {
  if (!NO_CHAINS_OWN.test(file.path) || RELEASED.test(file.path)) return [];
  const found = [...file.text.matchAll(WORDS)];
  if (EXCEPTIONS.some(([files]) => files.test(file.path))) {
    return found.length > 0 ? [] : [{
      at: 0,
      banned: "an exception that is not needed any more",
      use: "tests/repo/chain_words_rule.ts without this file",
    }];
  }
  return found.map((match) => ({
    at: match.index,
    banned: match[0],
    use: "a word for any chain; what is one chain's own is in chains/",
  }));
}
