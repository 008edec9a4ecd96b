/**
 * The variables as documentation: what `.env.example` and docs/configuration.md are made of.
 *
 * @module
 */

import { z } from "zod";
import { SERVED_NETWORKS } from "../../chains/families.ts";
import { type FamilyName, PROFILES } from "../../chains/profiles.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { GENERAL, NETWORK } from "./config.ts";
import { OF_FAMILY } from "./sweeps.ts";
import { networkDefaults } from "./treasury.ts";
import { NEEDED as SIGNER_NEEDS } from "./signer.ts";

/** One variable, for documentation. */
export interface VariableDoc {
  readonly name: string;
  /** The network it belongs to, null for the others. */
  readonly network: Network | null;
  /** The family whose networks alone have it; null: all have it, or it is none of a network. */
  readonly family: FamilyName | null;
  readonly text: string;
  /** Value when it is not set, as it would be written; null: none. */
  readonly default: string | null;
  /** The shape of its text. */
  readonly kind: string;
  /** The processes that read it. */
  readonly readers: "service" | "signer" | "both";
  /** True if one of them does not start without it outside development. */
  readonly needed: boolean;
}

/** Every variable the service takes, in the order of documentation. */
export function variableDocs(): readonly VariableDoc[] {
  return [
    ...docsOf(GENERAL.shape, null),
    ...SERVED_NETWORKS.flatMap((network) =>
      docsOf(NETWORK.shape, network)
        .filter(({ family }) => family === null || family === PROFILES[network].family)
    ),
  ];
}

/**
 * The defaults that a variable of a network has on others, for documentation that shows one network of all.
 *
 * @returns for example `ETH, SEP 0.02; BNB, tBNB 0.005`; empty where all have the same
 */
export function defaultsElsewhere(docs: readonly VariableDoc[], doc: VariableDoc): string {
  if (doc.network === null) return "";
  const key = doc.name.slice(doc.network.length);
  const others = docs.filter(({ name, network, default: value }) =>
    network !== null && name === network + key && value !== doc.default
  );
  return [...Map.groupBy(others, (other) => other.default ?? "none")]
    .map(([value, of]) => `${of.map(({ network }) => network).join(", ")} ${value}`).join("; ");
}

/** Variables that networks of one family alone have, shown for the first of them. */
export interface FamilyDocs {
  readonly networks: readonly Network[];
  readonly docs: readonly VariableDoc[];
}

/** The variables that not all networks have, by the families that have some. */
export function familyDocs(docs: readonly VariableDoc[]): readonly FamilyDocs[] {
  const families = Map.groupBy(SERVED_NETWORKS, (network) => PROFILES[network].family);
  return [...families.values()].map((networks) => ({
    networks,
    docs: docs.filter(({ network, family }) => family !== null && network === networks[0]),
  })).filter((one) => one.docs.length > 0);
}

/** Variables that the signer reads and the service does not. */
const OF_SIGNER =
  /^(WALLET_PASSPHRASE_FILE|SIGNER_(STATE_DIR|SOCKET_GROUP|DATABASE_URL)|.*_SIGNER_PER_\w+)$/;
/** Variables that both read; those of files differ in their value, all others have to be the same. */
const OF_BOTH =
  /^(ENVIRONMENT|REHEARSAL|LOG_LEVEL|WALLET_FILE|SIGNER_SOCKET|.*_(USDT|USDC)_CONTRACT|.*_COLD_ADDRESS|.*_FEE_CAP|.*_SWEEP_BY)$/;

function docsOf(shape: z.ZodRawShape, network: Network | null): VariableDoc[] {
  return Object.entries(shape).map(([key, schema]) => {
    const { data } = z.safeParse(schema, undefined);
    const ofNetwork = network === null ? undefined : networkDefaults(network)[key];
    const fallback = ofNetwork ?? (data === undefined ? "" : String(data));
    const name = network === null ? key : `${network}_${key}`;
    const text = z.globalRegistry.get(schema)?.description ?? "";
    const readers = OF_SIGNER.test(name) ? "signer" : OF_BOTH.test(name) ? "both" : "service";
    return {
      name,
      network,
      family: network === null ? null : OF_FAMILY[key] ?? null,
      text,
      default: fallback === "" ? null : fallback,
      kind: kindOf(name, schema),
      readers,
      needed: text.startsWith("*") || (readers === "signer" && SIGNER_NEEDS.includes(name)),
    };
  });
}

/** Names whose texts are paths, secrets, addresses or lists, which their schemas do not tell. */
const KINDS: readonly (readonly [RegExp, string])[] = [
  [/_(SECRET|KEY|KEYS)$|_API_KEY$/, "secret"],
  [/DATABASE_URL$/, "postgres URL"],
  [/_(FILE|DIR|SOCKET)$/, "path"],
  [/_URLS$/, "URLs"],
  [/_URL$/, "URL"],
  [/PROXIES$/, "addresses"],
  [/_HOST$|^HOST$/, "address"],
  [/_SIGNER_PER_/, "caps"],
  [/_GROUP$/, "group"],
  [/_(CONTRACT|COLD_ADDRESS)$/, "address on the chain"],
  [/_(FACTOR|MARGIN)$/, "decimal"],
  [/_(ABOVE|FLOOR|CEILING|TARGET)$|_LOW_\w+$|_FEE_CAP$/, "amount"],
  [/^DEV_CHAINS$/, "networks"],
  [/_RECEIPT_TYPES$/, "whole numbers"],
];

function kindOf(name: string, schema: unknown): string {
  const named = KINDS.find(([pattern]) => pattern.test(name))?.[1];
  if (named !== undefined) return named;
  // words are kept where they are declared
  const words = wordsOf(schema);
  return words === null ? "whole number" : words.join(", ");
}

/** The words of a choice, whatever is wrapped around it; null: it is none. */
function wordsOf(schema: unknown): readonly string[] | null {
  if (schema instanceof z.ZodEnum) return schema.options.map(String);
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) {
    return wordsOf(schema.unwrap());
  }
  return null;
}
