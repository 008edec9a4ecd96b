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
  {
    of: /^app\/config\//,
    may:
      /^(app\/config\/|ledger\/money\/|ledger\/database\/database_url\.ts$|chains\/(families|profiles)\.ts$)/,
    in: "app/config, ledger/money, the lists of chains and ledger/database/database_url.ts",
  },
  {
    // what is made of a chain's folder is made through chains/families.ts
    of: /^(main\.ts$|app\/)/,
    may: /^(?!tests\/|chains\/(evm|solana|tron)\/|devchain\/(?!options\.ts$))/,
    in: "anything but tests and the folders of single chains, and of devchain only options.ts",
  },
  { of: /^client\//, may: /^client\//, in: "client" },
  { of: /^examples\//, may: /^(client|examples)\//, in: "client" },
  { of: /^devchain\//, may: /^(devchain\/|ledger\/money\/)/, in: "devchain and ledger/money" },
  {
    of: /^api\//,
    may: /^(api\/|actors\/|ledger\/|rates\/|webhooks\/|chains\/(?!families)[^/]+\.ts$|deno\.json$)/,
    in:
      "api, actors, ledger, rates, webhooks, the ports in chains/*.ts and deno.json (the version)",
  },
  {
    of: /^rates\//,
    may: /^(rates\/|ledger\/money\/|chains\/profiles\.ts$)/,
    in: "rates, ledger/money and the profiles of chains",
  },
  {
    of: /^actors\//,
    may: /^(actors\/|ledger\/|webhooks\/|chains\/(?!families)[^/]+\.ts$)/,
    in: "actors, ledger, webhooks and the ports in chains/*.ts",
  },
  { of: /^log\//, may: /^log\//, in: "log" },
  { of: /^ledger\//, may: /^ledger\//, in: "ledger" },
  {
    of: /^webhooks\//,
    may: /^(webhooks\/|ledger\/money\/)/,
    in: "webhooks and ledger/money",
  },
  {
    of: /^chains\/signer\//,
    may: /^(chains\/|ledger\/money\/)/,
    in: "chains and ledger/money",
  },
  {
    // The wallet shows addresses of every chain.
    of: /^chains\/wallet\//,
    may: /^(chains\/wallet\/|chains\/[^/]+\.ts$|ledger\/money\/)/,
    in: "the wallet, the ports in chains and ledger/money",
  },
  {
    // The one list of families; every other port is below them.
    of: /^chains\/families\.ts$/,
    may: /^(chains\/(\w+\/(family|development)|[^/]+)\.ts$|ledger\/money\/)/,
    in: "families of chains, the ports in chains and ledger/money",
  },
  {
    of: /^chains\/nodes\//,
    may: /^(chains\/nodes\/|chains\/(?!families)[^/]+\.ts$|ledger\/money\/)/,
    in: "chains/nodes, the ports in chains and ledger/money",
  },
  {
    // a development chain is started through its family, like everything else of a single chain
    of: /^chains\/(family|\w+\/(family|development))\.ts$/,
    may: /^(chains\/(?!families)|devchain\/|ledger\/money\/)/,
    in: "chains, devchain and ledger/money",
  },
  ...["evm", "solana", "tron"].map((folder) => ({
    of: new RegExp(`^chains/${folder}/`),
    may: new RegExp(`^(chains/(${folder}|nodes)/|chains/(?!families)[^/]+\\.ts$|ledger/money/)`),
    in: `chains/${folder}, chains/nodes, the ports in chains and ledger/money`,
  })),
  {
    of: /^chains\//,
    may: /^(chains\/(?!families)[^/]+\.ts$|ledger\/money\/)/,
    in: "the ports in chains/*.ts and ledger/money",
  },
];

/** Subjects of the interface that know others besides their own. */
const SUBJECTS: Readonly<Record<string, readonly string[]>> = {
  callbacks: ["deposits"],
  hosted_page: ["deposits"],
  merchants: ["payouts", "statements"],
  upstream: ["deposits"],
};

const SPECIFIER =
  /^\s*import\s*"([^"]+)"|^\s*(?:import|export)\b[^"'`()=;]*\bfrom\s*"([^"]+)"|\bimport(?:\.meta\.resolve)?\(\s*"([^"]+)"/gm;

/** Imports of a file, with their positions. */
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
    // the ground floor: everything may log
    if (target.startsWith("log/") || part?.may.test(target)) continue;
    found.push({
      at,
      banned: `importing ${target} here`,
      use: part ? `only ${part.in}` : "a part that tests/repo/import_rule.ts knows",
    });
  }
  return found;
}

/**
 * Finds imports of the interface that go the wrong way: `api/http` knows no subject, subjects know
 * `api/http` and a few others, and only `api/openapi` and the files beside it know everything.
 */
export function apiOrderViolations(file: SourceFile): readonly Violation[] {
  const [, folder] = /^api\/(\w+)\//.exec(file.path) ?? [];
  if (folder === undefined || folder === "openapi") return [];
  const own = [folder, ...(folder === "http" ? [] : ["http", ...SUBJECTS[folder] ?? []])];
  return importsOf(file).flatMap(({ at, specifier }) => {
    if (!specifier.startsWith(".")) return [];
    const target = join(dirname(file.path), specifier);
    if (!target.startsWith("api/") || own.includes(target.split("/")[1] ?? "")) return [];
    const use = `only ${own.map((name) => `api/${name}`).join(", ")}`;
    return [{ at, banned: `importing ${target} here`, use }];
  });
}
