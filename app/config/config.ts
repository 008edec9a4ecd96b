/**
 * The service's settings, read from environment variables once, at start.
 *
 * @module
 */

import ipaddr from "ipaddr.js";
import { z } from "zod";
import { familyOf, SERVED_NETWORKS } from "../../chains/families.ts";
import { type Currency, type Network, NETWORKS } from "../../ledger/money/pair.ts";
import { DEV_CHAIN, type DevChainConfig, devChainOf } from "./dev_chain.ts";
import { DUTIES, dutiesOf } from "./duties.ts";
import type { Duties } from "../../ledger/money/duties.ts";
import { DEFAULT_OPS_PORT } from "./ops_port.ts";
import { Secret } from "./secret.ts";
import {
  CAPS,
  capsOf,
  type NetworkCaps,
  SIGNER,
  type SignerConfig,
  signerFaults,
} from "./signer.ts";
import { mayBeDevelopment, NODES, type NodesConfig, nodesOf } from "./nodes.ts";
import { familyFaults, type SweepConfig, SWEEPS, sweepsOf } from "./sweeps.ts";
import { traceFaults, TRACES } from "./traces.ts";
import { unknownFaults } from "./unknown.ts";
import { TREASURY, type TreasuryConfig, treasuryFaults, treasuryOf } from "./treasury.ts";
import {
  databaseUrl,
  type Given,
  listOf,
  oneOf,
  secret,
  secrets,
  trimmed,
  urlOf,
  wholeNumber,
} from "./variables.ts";

/**
 * A cold address in the spelling that every part compares. One that is none stays as it is: the start and
 * the doctor say so by its name.
 */
function coldAddressOf(network: Network, given: string | undefined): string | null {
  return given === undefined ? null : familyOf(network).address(given) ?? given;
}

/** An environment that the service runs in. */
export type Environment = "development" | "staging" | "production";

/** Settings of one network. */
export interface NetworkConfig extends NodesConfig {
  /** Token contracts that differ from the chain's well-known ones. */
  readonly contracts: { readonly [currency in Currency]: string | null };
  /** The treasury sends there what the hot wallet need not hold. */
  readonly coldAddress: string | null;
  readonly treasury: TreasuryConfig;
  readonly sweeps: SweepConfig;
  readonly caps: NetworkCaps;
}

/** The service's settings. */
export interface Config {
  readonly environment: Environment;
  /** True in staging where the test network may be a development chain. */
  readonly isRehearsal: boolean;
  readonly host: string;
  /** 0: chosen by the system. */
  readonly port: number;
  /** `{base_url}` without a slash at its end; null: the address that is served (development). */
  readonly publicUrl: string | null;
  /** Addresses and ranges (CIDR) whose forwarded client addresses count. */
  readonly trustedProxies: readonly string[];
  /** Connections from outside at most, in all and of one client address. */
  readonly connections: { readonly total: number; readonly perAddress: number };
  /** True if the API reference is served. */
  readonly apiDocs: boolean;
  /** Address of health and metrics; null: beside the API. */
  readonly ops: { readonly host: string; readonly port: number } | null;
  readonly logLevel: "trace" | "debug" | "info" | "warning" | "error" | "fatal";
  /** True if traces are exported. */
  readonly isTraced: boolean;
  /** Milliseconds between being told to stop and closing the listeners: not ready, still serving. */
  readonly drainMs: number;
  readonly dataDir: string;
  /** null: the embedded PostgreSQL (development). */
  readonly databaseUrl: Secret | null;
  readonly databasePool: number;
  /** Address numbers of each network that another history of the database jumps over. */
  readonly addressGap: number;
  /** Time for which a hold lasts at least on networks whose wallets number their transactions, milliseconds. */
  readonly failoverTellingMs: number;
  /** Days that consumed inbox rows and ended events are kept; 0: for ever. */
  readonly keepDays: { readonly inbox: number; readonly events: number };
  /** null: made on first start and kept in the data folder (development). */
  readonly sessionSecret: Secret | null;
  /** null: made on first start and kept in the data folder (development). */
  readonly ingestSecret: Secret | null;
  /** Keys of the callback secrets in the database; null: made on first start (development). */
  readonly callbackSecrets: {
    readonly current: Secret | null;
    readonly earlier: readonly Secret[];
  };
  /** Files of the encrypted mnemonic and of its passphrase; null: made on first start (development). */
  readonly walletFile: string | null;
  readonly walletPassphraseFile: string | null;
  /** Rules of who may approve what. */
  readonly duties: Duties;
  readonly signer: SignerConfig;
  readonly networks: { readonly [network in Network]: NetworkConfig };
  /** Minutes between bounded comparisons of the books, 0: none; hour (UTC) of the daily full one. */
  readonly reconcile: { readonly minutes: number; readonly fullHour: number };
  readonly devChain: DevChainConfig;
}

/** Reader of the settings: the service, or the signer as a process of its own. */
export type Reader = "service" | "signer";

/** Answer of {@linkcode loadConfig}. */
export type ConfigAnswer =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly faults: readonly string[] };

const address = z.string().refine(
  (text) => ipaddr.isValid(text) || ipaddr.isValidCIDR(text),
  "is not a list of addresses or ranges (10.0.0.0/8)",
);
const publicUrl = urlOf("http:", "https:").refine((text) => {
  const url = URL.parse(text);
  return !url || !(url.search || url.hash || url.username || url.password);
}, "has more than scheme, host and path").transform(trimmed);

/** The variables of every network; each name follows the network's symbol and an underscore. */
export const NETWORK = z.object({
  ...NODES,
  USDT_CONTRACT: z.string().optional().describe("USDT contract; without it the well-known one"),
  USDC_CONTRACT: z.string().optional().describe("USDC contract; without it the well-known one"),
  COLD_ADDRESS: z.string().optional().describe(
    "address of the cold wallet; the signer needs it as well",
  ),
  ...TREASURY,
  ...SWEEPS,
  ...CAPS,
});

type NetworkSettings = z.infer<typeof NETWORK>;

/** Twice the pause between two looks of a usual load balancer. */
const DEFAULT_DRAIN_SECONDS = 5;

/** The variables of the service as a whole. */
export const GENERAL = z.object({
  ENVIRONMENT: oneOf("development", "staging", "production").default("development").describe(
    "development, staging or production; the latter two bring nothing of their own and refuse to start without what is marked *",
  ),
  HOST: z.string().optional().describe(
    "address to listen on; 127.0.0.1 in development, otherwise 0.0.0.0",
  ),
  PORT: wholeNumber(0, 65_535).default(8_000).describe("port to listen on; 0 = any free one"),
  PUBLIC_URL: publicUrl.optional().describe("* base URL that merchants and customers use (https)"),
  TRUSTED_PROXIES: listOf(address).optional().describe(
    "addresses or ranges of proxies whose X-Forwarded-For counts, separated by commas",
  ),
  MAX_CONNECTIONS: wholeNumber(8, 100_000).default(4_096).describe(
    "connections from outside at most, and at most half of the descriptors that the process may have (LimitNOFILE)",
  ),
  MAX_CONNECTIONS_PER_ADDRESS: wholeNumber(4, 100_000).default(256).describe(
    "of one client address at most; TRUSTED_PROXIES are exempt",
  ),
  API_DOCS: oneOf("on", "off").default("on").describe(
    "on or off: whether the API reference (/api/docs, /api/openapi.json) is served",
  ),
  OPS_HOST: z.string().optional().describe("operators' address, for health and metrics; 127.0.0.1"),
  OPS_PORT: wholeNumber(0, 65_535).optional().describe(
    `port for health and metrics; ${DEFAULT_OPS_PORT}, but in development they are served beside the API`,
  ),
  LOG_LEVEL: oneOf("trace", "debug", "info", "warning", "error", "fatal").default("info").describe(
    "trace, debug, info, warning, error or fatal",
  ),
  ...TRACES,
  DRAIN_SECONDS: wholeNumber(0, 30).optional().describe(
    "seconds after SIGTERM for which requests are still served while /readyz answers 503, so that a load balancer looks elsewhere first; 0 in development, otherwise 5",
  ),
  DATA_DIR: z.string().default("./.data").describe(
    "folder of what the service keeps itself: credentials, wallet and database in development",
  ),
  DATABASE_URL: databaseUrl.optional().describe(
    "* PostgreSQL 14 or later; of several hosts (h1:5432,h2:5432) the primary is used; without it an embedded one runs in DATA_DIR",
  ),
  DATABASE_POOL: wholeNumber(8, 500).default(24).describe(
    "most connections to PostgreSQL, shared out among actors, requests, lists, hosted pages and operators; the journal, readiness, the comparison of the books and the signer have 13 of their own, and each half as many again for transactions",
  ),
  FAILOVER_ADDRESS_GAP: wholeNumber(1, 1_000_000).default(1_000).describe(
    "address numbers of each network that are jumped over and watched when the database continues another history; at least as many as a standby may lack. About a second of the next start or look for every 1,000",
  ),
  FAILOVER_TELLING_MINUTES: wholeNumber(1, 10_080).default(1).describe(
    "minutes for which payouts on networks whose wallets number their transactions wait at least when the database continues another history; where nodes have signers of their own, as long as one of these nodes may be away: what only its signer knows may be paid twice after that",
  ),
  KEEP_INBOX_DAYS: wholeNumber(0, 36_500).default(30).describe(
    "days that consumed inbox rows are kept which nothing needs any more; 0 = for ever",
  ),
  KEEP_EVENTS_DAYS: wholeNumber(0, 36_500).default(365).describe(
    "days that events and the log of their delivery are kept, once they wait for nothing; 0 = for ever",
  ),
  SESSION_SECRET: secret.optional().describe(
    "* key of the hosted payment pages' tokens, 32 characters or more",
  ),
  INGEST_SECRET: secret.optional().describe(
    "* key of the signature on POST /api/webhook/event, 32 characters or more",
  ),
  CALLBACK_SECRETS_KEY: secret.optional().describe(
    "* key that merchants' callback secrets are encrypted with in the database, 32 characters or more; to be backed up apart from it",
  ),
  CALLBACK_SECRETS_EARLIER_KEYS: secrets.optional().describe(
    "other keys that open them, separated by commas: the next one before any node uses it, then the one it replaced (docs/incidents.md)",
  ),
  WALLET_FILE: z.string().optional().describe(
    "* file with the wallet's public keys (deno task wallet show-public); the signer's has the encrypted mnemonic",
  ),
  WALLET_PASSPHRASE_FILE: z.string().optional().describe(
    "file with the wallet's passphrase; only the signer and deno task wallet read it",
  ),
  ...DUTIES,
  ...SIGNER,
  RECONCILE_MINUTES: wholeNumber(0, 1_440).default(15).describe(
    "minutes between bounded comparisons of the books with themselves and the chains; 0 = none",
  ),
  RECONCILE_HOUR: wholeNumber(0, 23).default(3).describe(
    "quiet hour of the day (UTC) at which everything is compared",
  ),
  REHEARSAL: oneOf("on", "off").default("off").describe(
    "on: in staging test networks are served by development chains (docs/operations.md, Rehearse), TRX_SHASTA also by its own nodes; refused elsewhere",
  ),
  ...DEV_CHAIN,
});

/**
 * Reads the settings.
 *
 * @param env environment variables; an empty one counts as absent
 * @param reader whose settings they are; outside development the service is given no passphrase
 * @returns the frozen settings, or every fault, each naming its variable and never its value
 */
export function loadConfig(env: Given, reader: Reader = "service"): ConfigAnswer {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ""),
  );
  const faults = unknownFaults(given, [
    ...Object.keys(GENERAL.shape),
    ...NETWORKS.flatMap((network) => Object.keys(NETWORK.shape).map((key) => `${network}_${key}`)),
  ]);
  const general = parse(GENERAL, given, "", faults);
  const networks = NETWORKS.map((network) =>
    SERVED_NETWORKS.some((served) => served === network)
      ? parse(NETWORK, given, `${network}_`, faults)
      : refuseSettings(network, given, faults)
  );
  faults.push(...(reader === "signer" ? signerFaults(given) : crossFaults(given)));
  if (given.REHEARSAL === "on" && given.ENVIRONMENT !== "staging") {
    faults.push(`REHEARSAL is for staging alone, not for ${given.ENVIRONMENT ?? "development"}`);
  }
  faults.push(...traceFaults(given, reader));
  faults.push(...SERVED_NETWORKS.flatMap((network) => familyFaults(given, network)));
  if (general === null || !networks.every((network) => network !== null) || faults.length > 0) {
    return { ok: false, faults: [...new Set(faults)] };
  }
  return { ok: true, config: deepFreeze(assemble(general, networks, reader)) };
}

/** Reads the variables of one schema; what is wrong goes to `faults`, by name and not by value. */
function parse<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  given: Given,
  prefix: string,
  faults: string[],
): z.infer<z.ZodObject<Shape>> | null {
  const values = Object.keys(schema.shape).map((name) => [name, given[prefix + name]]);
  const answer = schema.safeParse(Object.fromEntries(values));
  if (answer.success) return answer.data;
  faults.push(
    ...answer.error.issues.map((issue) => `${prefix}${String(issue.path[0])} ${issue.message}`),
  );
  return null;
}

/** Reports every setting of a network that cannot be served; its settings are those of one that is off. */
function refuseSettings(network: Network, given: Given, faults: string[]): NetworkSettings {
  const names = Object.keys(NETWORK.shape).map((key) => `${network}_${key}`);
  faults.push(
    ...names.filter((name) => given[name] !== undefined)
      .map((name) =>
        `${name} is set although ${network} cannot be served yet: take it out, served are ${
          SERVED_NETWORKS.join(", ")
        }`
      ),
  );
  return NETWORK.parse({});
}

/** Rules over several variables; on the text, so that they are reported beside malformed values. */
function crossFaults(given: Given): string[] {
  const faults: string[] = [];
  const environment = given.ENVIRONMENT ?? "development";
  const live = environment === "staging" || environment === "production";
  if (given.OPS_HOST && !given.OPS_PORT && !live) {
    faults.push("OPS_PORT is missing although OPS_HOST is set");
  }
  faults.push(...SERVED_NETWORKS.flatMap((network) => treasuryFaults(given, network, live)));
  if (!live) return faults;
  for (const [name, schema] of Object.entries(GENERAL.shape)) {
    if (schema.description?.startsWith("*") && !given[name]) {
      faults.push(`${name} is missing, which ${environment} needs`);
    }
  }
  if (given.PUBLIC_URL && URL.parse(given.PUBLIC_URL)?.protocol !== "https:") {
    faults.push(`PUBLIC_URL is not https, which ${environment} needs`);
  }
  if (!SERVED_NETWORKS.some((network) => given[`${network}_NODE_URLS`])) {
    faults.push(
      `${
        SERVED_NETWORKS[0]
      }_NODE_URLS is missing, and so are the nodes of every other network; ${environment} has no development chain`,
    );
  }
  return faults;
}

function assemble(
  general: z.infer<typeof GENERAL>,
  networks: readonly NetworkSettings[],
  reader: Reader,
): Config {
  const holdsKeys = reader === "signer" || general.ENVIRONMENT === "development";
  const entries = networks.map((network, index): [Network, NetworkConfig] => [
    NETWORKS[index] as Network,
    {
      ...nodesOf(network),
      contracts: { USDT: network.USDT_CONTRACT ?? null, USDC: network.USDC_CONTRACT ?? null },
      coldAddress: coldAddressOf(NETWORKS[index] as Network, network.COLD_ADDRESS),
      treasury: treasuryOf(network, NETWORKS[index] as Network),
      sweeps: sweepsOf(
        network,
        NETWORKS[index] as Network,
        mayBeDevelopment(general.ENVIRONMENT, network.NODE_URLS),
      ),
      caps: capsOf(network),
    },
  ]);
  return {
    environment: general.ENVIRONMENT,
    isRehearsal: general.REHEARSAL === "on",
    host: general.HOST ?? (general.ENVIRONMENT === "development" ? "127.0.0.1" : "0.0.0.0"),
    port: general.PORT,
    publicUrl: general.PUBLIC_URL ?? null,
    trustedProxies: general.TRUSTED_PROXIES ?? [],
    connections: {
      total: general.MAX_CONNECTIONS,
      perAddress: general.MAX_CONNECTIONS_PER_ADDRESS,
    },
    apiDocs: general.API_DOCS === "on",
    // balances and reasons are for operators alone
    ops: general.OPS_PORT === undefined && general.ENVIRONMENT === "development"
      ? null
      : { host: general.OPS_HOST ?? "127.0.0.1", port: general.OPS_PORT ?? DEFAULT_OPS_PORT },
    logLevel: general.LOG_LEVEL,
    isTraced: general.OTEL_DENO === "true",
    drainMs: 1_000 *
      (general.DRAIN_SECONDS ??
        (general.ENVIRONMENT === "development" ? 0 : DEFAULT_DRAIN_SECONDS)),
    dataDir: general.DATA_DIR,
    databaseUrl: general.DATABASE_URL ?? null,
    databasePool: general.DATABASE_POOL,
    addressGap: general.FAILOVER_ADDRESS_GAP,
    failoverTellingMs: general.FAILOVER_TELLING_MINUTES * 60_000,
    keepDays: { inbox: general.KEEP_INBOX_DAYS, events: general.KEEP_EVENTS_DAYS },
    sessionSecret: general.SESSION_SECRET ?? null,
    ingestSecret: general.INGEST_SECRET ?? null,
    callbackSecrets: {
      current: general.CALLBACK_SECRETS_KEY ?? null,
      earlier: general.CALLBACK_SECRETS_EARLIER_KEYS ?? [],
    },
    walletFile: general.WALLET_FILE ?? null,
    walletPassphraseFile: holdsKeys ? general.WALLET_PASSPHRASE_FILE ?? null : null,
    duties: dutiesOf(general, general.ENVIRONMENT),
    signer: {
      socket: general.SIGNER_SOCKET ?? null,
      socketGroup: general.SIGNER_SOCKET_GROUP ?? null,
      stateDir: general.SIGNER_STATE_DIR ?? null,
      databaseUrl: reader === "signer" ? general.SIGNER_DATABASE_URL ?? null : null,
    },
    networks: Object.fromEntries(entries) as Record<Network, NetworkConfig>,
    reconcile: { minutes: general.RECONCILE_MINUTES, fullHour: general.RECONCILE_HOUR },
    devChain: devChainOf(general),
  };
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}
