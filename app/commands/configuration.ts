// deno-lint-ignore-file no-console -- a command prints
/**
 * Prints `docs/configuration.md`: every variable with its kind, its default, who reads it and what it means.
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

const HEAD = `# Configuration

Every variable of the environment. Made from app/config by \`deno task configuration\`; a test compares the two.
[.env.example](../.env.example) has the same as a file to fill in.

- A variable that is empty counts as absent. All are optional in development.
- **needed**: outside development the reader named beside it does not start without it.
- What begins like one of these and is none is refused by name: a misspelt cap would not be kept.
- Durations and sizes have their unit in the name or in the text. Amounts are decimals in the token itself
  (\`10000\` is ten thousand USDT).
- "both": give service and signer the same value, but for \`WALLET_FILE\`, which is another file for each.`;

const COLUMNS = "| Name | Kind | Default | Read by | Meaning |\n|---|---|---|---|---|";

/** The default of a network's variable, and of other networks where theirs differs. */
function defaultCell({ default: value }: VariableDoc, elsewhere: string): string {
  const own = value === null ? "" : `\`${value}\``;
  return elsewhere === "" ? own : `${own}; ${elsewhere}`.replace(/^; /, "");
}

/** The text of the page. */
export function configurationPage(): string {
  const docs = variableDocs();
  const [first = null, ...others] = SERVED_NETWORKS;
  const rows = (some: readonly VariableDoc[]) =>
    some.map((doc) =>
      [
        `\`${doc.name}\``,
        doc.kind,
        doc.needed ? "**needed**" : defaultCell(doc, defaultsElsewhere(docs, doc)),
        doc.readers,
        doc.text.replace(/^\* /, ""),
      ].map((cell) => cell.replaceAll("|", "\\|")).join(" | ")
    ).map((line) => `| ${line} |`).join("\n");
  return [
    HEAD,
    `## The whole\n\n${COLUMNS}\n${rows(docs.filter(({ network }) => network === null))}`,
    `## Of a network\n\nThe same exist for ${others.map((name) => `\`${name}\``).join(", ")}: \`${
      others[0]
    }_NODE_URLS\`.\n\n${COLUMNS}\n${
      rows(docs.filter(({ network, family }) => network === first && family === null))
    }`,
    ...familyDocs(docs).map(({ networks, docs: own }) =>
      `Of ${networks.map((name) => `\`${name}\``).join(", ")} alone:\n\n${COLUMNS}\n${rows(own)}`
    ),
  ].join("\n\n") + "\n";
}

if (import.meta.main) console.log(configurationPage().trimEnd());
