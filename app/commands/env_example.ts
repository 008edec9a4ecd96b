// deno-lint-ignore-file no-console -- a command prints
/**
 * Prints `.env.example`: every variable the service reads, with what it means and its default.
 *
 * @module
 */

import { defaultsElsewhere, variableDocs } from "../config/variable_docs.ts";
import { SERVED_NETWORKS } from "../../chains/families.ts";
import type { Network } from "../../ledger/money/pair.ts";

const HEADER = `# Every variable the service reads; all are optional in development.
# Made by: deno task env-example`;

/** The text of `.env.example`. */
export function envExample(): string {
  const docs = variableDocs();
  const [first = null, ...others] = SERVED_NETWORKS;
  const print = (network: Network | null) =>
    docs.filter((doc) => doc.network === network)
      .map((doc) => {
        const elsewhere = defaultsElsewhere(docs, doc);
        const text = elsewhere === "" ? doc.text : `${doc.text} (default of ${elsewhere})`;
        return `# ${text}\n# ${doc.name}=${doc.default ?? ""}`;
      });
  const parts = [
    HEADER,
    ...print(null),
    `# The same exist for ${others.join(", ")}.`,
    ...print(first),
  ];
  return `${parts.join("\n\n")}\n`;
}

if (import.meta.main) console.log(envExample().trimEnd());
