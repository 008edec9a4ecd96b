/**
 * Which part of the service may import which.
 *
 * @module
 */

import { dirname, join } from "node:path/posix";
import type { SourceFile } from "./source_file.ts";
import type { Violation } from "./rules.ts";

/** A part, and what its files may import. The first part that a file belongs to counts. */
const PARTS: readonly { readonly of: RegExp; readonly may: RegExp; readonly in: string }[] = [
  { of: /^(tests|bench)\//, may: /^/, in: "anything" },
  { of: /^(main\.ts$|setup\/|commands\/)/, may: /^(?!tests\/)/, in: "anything but tests" },
  {
    of: /^(config|(database|duties|signer|sweep|treasury)_config|secret)\.ts$/,
    may:
      /^((database|duties|signer|sweep|treasury)_config|secret|ledger\/(amount|duties|pair|database\/database_url))\.ts$/,
    in:
      "database_config.ts, duties_config.ts, signer_config.ts, sweep_config.ts, treasury_config.ts, secret.ts, ledger/amount.ts, ledger/duties.ts, ledger/pair.ts and ledger/database/database_url.ts",
  },
  {
    of: /^api\//,
    may: /^(api\/|actors\/|ledger\/|rates\/|webhooks\/|chains\/[^/]+\.ts$)/,
    in: "api, actors, ledger, rates, webhooks and the ports in chains/*.ts",
  },
  {
    of: /^rates\//,
    may: /^(rates\/|ledger\/(amount|pair)\.ts$)/,
    in: "rates, ledger/amount.ts and ledger/pair.ts",
  },
  {
    of: /^actors\//,
    may: /^(actors\/|ledger\/|webhooks\/|chains\/[^/]+\.ts$)/,
    in: "actors, ledger, webhooks and the ports in chains/*.ts",
  },
  { of: /^ledger\//, may: /^ledger\//, in: "ledger" },
  {
    of: /^webhooks\//,
    may: /^(webhooks\/|ledger\/(amount|pair)\.ts$)/,
    in: "webhooks, ledger/amount.ts and ledger/pair.ts",
  },
  {
    of: /^chains\/signer\//,
    may: /^(chains\/(?!dev\/)|ledger\/(amount|pair)\.ts$)/,
    in: "chains (not the development node), ledger/amount.ts and ledger/pair.ts",
  },
  {
    // The wallet shows addresses of every chain.
    of: /^chains\/wallet\//,
    may: /^(chains\/wallet\/|chains\/([^/]+\/address|[^/]+)\.ts$|ledger\/(amount|pair)\.ts$)/,
    in: "the wallet, chains' addresses and ports, ledger/amount.ts and ledger/pair.ts",
  },
  ...["dev", "evm", "solana", "tron"].map((folder) => ({
    of: new RegExp(`^chains/${folder}/`),
    may: new RegExp(
      `^(chains/${folder}/|chains/[^/]+\\.ts$|chains/signer/transfer_builder\\.ts$|ledger/(amount|pair)\\.ts$)`,
    ),
    in: `chains/${folder}, the ports in chains, ledger/amount.ts and ledger/pair.ts`,
  })),
  {
    of: /^chains\//,
    may: /^(chains\/[^/]+\.ts$|ledger\/(amount|pair)\.ts$)/,
    in: "the ports in chains/*.ts, ledger/amount.ts and ledger/pair.ts",
  },
];

const SPECIFIER =
  /^\s*import\s*"([^"]+)"|^\s*(?:import|export)\b[^"'`()=;]*\bfrom\s*"([^"]+)"|\bimport(?:\.meta\.resolve)?\(\s*"([^"]+)"/gm;

/** What a file imports, and where it says so. */
export function importsOf(
  file: SourceFile,
): readonly { readonly at: number; readonly specifier: string }[] {
  if (!/\.tsx?$/.test(file.path)) return [];
  return [...file.uncommented.matchAll(SPECIFIER)].map((match) => ({
    at: match.index + match[0].search(/\S/),
    specifier: match[1] ?? match[2] ?? match[3] ?? "",
  }));
}

/** Finds imports that go the wrong way. */
export function importViolations(file: SourceFile): readonly Violation[] {
  const part = PARTS.find((candidate) => candidate.of.test(file.path));
  const found: Violation[] = [];
  for (const { at, specifier } of importsOf(file)) {
    if (!specifier.startsWith(".")) continue;
    const target = join(dirname(file.path), specifier);
    if (part?.may.test(target)) continue;
    found.push({
      at,
      banned: `importing ${target} here`,
      use: part ? `only ${part.in}` : "a part that tests/repo/import_rule.ts knows",
    });
  }
  return found;
}
