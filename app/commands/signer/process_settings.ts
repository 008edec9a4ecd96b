/**
 * Settings that the signer's process gets from the command that starts it: one line of JSON on its
 * standard input, because arguments and environment of a process can be read from outside.
 *
 * @module
 */

import { dirname } from "node:path";
import { z } from "zod";
import { SWEEPS_BY } from "../../../chains/profiles.ts";
import type { SignerSettings } from "../../../chains/signer/signer_settings.ts";
import { databaseAccess } from "../../../ledger/database/database_url.ts";
import { type Amount, amountOf, formatAmount } from "../../../ledger/money/amount.ts";
import { NETWORKS } from "../../../ledger/money/pair.ts";

/** A signer's settings, and those of its process. */
export interface ProcessSettings extends SignerSettings {
  readonly socket: string;
  /** Number of the group that may reach it; null: its owner alone. */
  readonly socketGroup: number | null;
  readonly stateDir: string;
  readonly environment: "development" | "staging" | "production";
  readonly logLevel: "trace" | "debug" | "info" | "warning" | "error" | "fatal";
}

const amount = z.string().transform((text): Amount => amountOf(text));
const contract = z.string().exactOptional();

const schema = z.strictObject({
  databaseUrl: z.string(),
  walletFile: z.string(),
  passphraseFile: z.string(),
  networks: z.array(z.strictObject({
    network: z.enum(NETWORKS),
    contracts: z.strictObject({ USDT: contract, USDC: contract }),
    feeCap: amount,
    isDevelopment: z.boolean(),
    isRehearsal: z.boolean().exactOptional(),
    sweepBy: z.enum(SWEEPS_BY).exactOptional(),
  })),
  limits: z.record(
    z.templateLiteral([z.enum(["USDT", "USDC", "native"]), "/", z.enum(NETWORKS)]),
    z.strictObject({ perTransaction: amount.exactOptional(), perDay: amount.exactOptional() }),
  ),
  coldAddresses: z.partialRecord(z.enum(NETWORKS), z.string()),
  socket: z.string(),
  socketGroup: z.int().min(0).nullable(),
  stateDir: z.string(),
  environment: z.enum(["development", "staging", "production"]),
  logLevel: z.enum(["trace", "debug", "info", "warning", "error", "fatal"]),
});

/** The settings as a line. */
export function printSettings(settings: ProcessSettings): string {
  const print = (_key: string, value: unknown) =>
    typeof value === "bigint" ? formatAmount(value as Amount) : value;
  return JSON.stringify(settings, print);
}

/** Reads the line; a malformed one is a bug of the command. */
export function readSettings(line: string): ProcessSettings {
  return schema.parse(JSON.parse(line));
}

/** Variables that Deno itself needs in the signer's process; nothing else reaches it. */
export const PASSED_ON = ["PATH", "HOME", "DENO_DIR", "DENO_CERT", "DENO_TLS_CA_STORE", "NO_COLOR"];

/**
 * The least the signer's process can run with: its two files, the folders of its state and of its
 * socket, its database with the certificates that it trusts there, and what the PostgreSQL client reads
 * from the environment.
 *
 * @throws {TypeError} where the database's URL is malformed; the value is withheld, it holds a password
 */
export function processFlags(settings: ProcessSettings): readonly string[] {
  const { walletFile, passphraseFile, stateDir, socket } = settings;
  const database = databaseAccess(settings.databaseUrl);
  if (database === null) {
    throw new TypeError("Cannot restrict the signer as its database URL is malformed");
  }
  const folders = [stateDir, dirname(socket)];
  const sockets = [socket, ...database.sockets];
  const read = [walletFile, passphraseFile, ...folders, ...database.files, ...database.sockets];
  return [
    "--no-prompt",
    "--cached-only",
    "--quiet",
    `--allow-read=${read.join(",")}`,
    `--allow-write=${[...folders, ...database.sockets].join(",")}`,
    `--allow-net=${[...database.hosts, ...sockets.map((path) => `unix:${path}`)].join(",")}`,
    "--allow-env=PG*",
  ];
}
