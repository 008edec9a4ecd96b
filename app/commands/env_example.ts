// deno-lint-ignore-file no-console -- a command prints
/**
 * Prints `.env.example`: every variable the service reads, with what it means and its default.
 *
 * @module
 */

import {
  defaultsElsewhere,
  familyDocs,
  type VariableDoc,
  variableDocs,
} from "../config/variable_docs.ts";
import { SERVED_NETWORKS } from "../../chains/families.ts";

const HEADER = `# Every variable the service reads; all are optional in development.
# Made by: deno task env-example`;

/** The text of `.env.example`. */
export function envExample(): string {
  const docs = variableDocs();
  const [first = null, ...others] = SERVED_NETWORKS;
  const print = (some: readonly VariableDoc[]) =>
    some.map((doc) => {
      const elsewhere = defaultsElsewhere(docs, doc);
      const text = elsewhere === "" ? doc.text : `${doc.text} (default of ${elsewhere})`;
      return `# ${text}\n# ${doc.name}=${doc.default ?? ""}`;
    });
  const parts = [
    HEADER,
    ...print(docs.filter(({ network }) => network === null)),
    `# The same exist for ${others.join(", ")}.`,
    ...print(docs.filter(({ network, family }) => network === first && family === null)),
    ...familyDocs(docs).flatMap(({ networks, docs: own }) => [
      `# Of ${networks.join(", ")} alone.`,
      ...print(own),
    ]),
  ];
  return `${parts.join("\n\n")}\n`;
}

if (import.meta.main) console.log(envExample().trimEnd());
