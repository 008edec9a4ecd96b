/**
 * The variables of the signer: where it is reached, what it alone knows, and its caps.
 *
 * @module
 */

import { z } from "zod";
import { databaseUrl } from "./variables.ts";
import { type Amount, parseAmount } from "../../ledger/money/amount.ts";
import { CURRENCIES, type Currency } from "../../ledger/money/pair.ts";
import type { Secret } from "./secret.ts";

/** An asset with a cap: a token, or the chain's own coin. */
export type CappedAsset = Currency | "native";
/** The most that is signed for, by asset; an absent one is not bound. */
export type Caps = Readonly<Partial<Record<CappedAsset, Amount>>>;

export interface NetworkCaps {
  readonly perTransaction: Caps;
  readonly perDay: Caps;
}

/** Address of the signer, and the settings that only it has. */
export interface SignerConfig {
  /** Socket of a signer that is a process of its own; null: a worker (development). */
  readonly socket: string | null;
  /** Group whose members may reach the socket, a name or a number; null: the signer's user alone. */
  readonly socketGroup: string | null;
  /** Folder of the signer's counts and of its pause. */
  readonly stateDir: string | null;
  /** The signer's own role; null in the service, which must not have it. */
  readonly databaseUrl: Secret | null;
}

/** Variables that the signer as a process of its own needs, in every environment. */
export const NEEDED: readonly string[] = [
  "WALLET_FILE",
  "WALLET_PASSPHRASE_FILE",
  "SIGNER_SOCKET",
  "SIGNER_STATE_DIR",
  "SIGNER_DATABASE_URL",
];

/** Bytes that fit into a socket's address (108 on Linux), with room to spare. */
const LONGEST_SOCKET_PATH = 100;

const path = z.string().refine(
  (text) => text.startsWith("/") && !text.includes(","),
  "is not an absolute path without commas",
);

/** Variables of the service as a whole. */
export const SIGNER = {
  SIGNER_SOCKET: path.refine(
    (text) => new TextEncoder().encode(text).length <= LONGEST_SOCKET_PATH,
    `is longer than ${LONGEST_SOCKET_PATH} bytes`,
  ).optional().describe("* unix socket of the signer; without it the signer is a worker"),
  SIGNER_SOCKET_GROUP: z.string().regex(/^([a-z_][a-z0-9_-]{0,31}|\d{1,9})$/, "is no group")
    .optional()
    .describe(
      "group that reaches the signer's socket, by name or number: the service's user is a member, the signer's too; only the signer reads it",
    ),
  SIGNER_STATE_DIR: path.optional().describe(
    "folder of the signer alone: what it spent in the last day, and its pause",
  ),
  SIGNER_DATABASE_URL: databaseUrl.optional().describe(
    "PostgreSQL as the signer's own role (deno task signer role)",
  ),
};

/** `USDT:10000,coin:500`: amounts by asset. */
const caps = z.string().transform((text, context): Caps => {
  const found: Partial<Record<CappedAsset, Amount>> = {};
  for (const part of text.split(",")) {
    const [name, digits, ...more] = part.trim().split(":");
    const asset = name === "coin" ? "native" : CURRENCIES.find((known) => known === name);
    const amount = parseAmount(digits ?? "");
    if (asset === undefined || amount === null || more.length > 0 || asset in found) {
      const message = "is not a list of caps (USDT:10000,coin:500)";
      context.issues.push({ code: "custom", message, input: text });
      return z.NEVER;
    }
    found[asset] = amount;
  }
  return found;
});

/** Variables of each network. */
export const CAPS = {
  SIGNER_PER_TRANSACTION: caps.optional().describe(
    "most that the signer signs for at once, for example USDT:10000,coin:500",
  ),
  SIGNER_PER_DAY: caps.optional().describe(
    "most that it signs for in 24 hours: what leaves us, not sweeps and cold transfers",
  ),
};

/** Names each variable that is missing for a signer as a process of its own. */
export function signerFaults(given: Readonly<Record<string, string | undefined>>): string[] {
  return NEEDED.filter((name) => !given[name]).map((name) =>
    `${name} is missing, which the signer needs`
  );
}

/** The settings that a network's variables stand for. */
export function capsOf(values: {
  readonly SIGNER_PER_TRANSACTION?: Caps | undefined;
  readonly SIGNER_PER_DAY?: Caps | undefined;
}): NetworkCaps {
  return {
    perTransaction: values.SIGNER_PER_TRANSACTION ?? {},
    perDay: values.SIGNER_PER_DAY ?? {},
  };
}
