/**
 * The variables of a network's treasury: what proves a payout dead, what a dynamic network fee
 * follows, when wallets are too low or too full.
 *
 * @module
 */

import ipaddr from "ipaddr.js";
import { z } from "zod";
import { PROFILES } from "../../chains/profiles.ts";
import { isExactIn, parseAmount } from "../../ledger/money/amount.ts";
import { CURRENCIES, type Currency, type Network } from "../../ledger/money/pair.ts";
import { type Given, listOf, nodeUrl, oneOf, partsOf, trimmed } from "./variables.ts";

/** An amount as a decimal string. */
type Decimal = string;

/** Between which amounts a hot wallet is kept. */
interface HotLevels {
  /** Above this the surplus goes to the cold wallet. */
  readonly ceiling: Decimal;
  /** The rest that is left then. */
  readonly target: Decimal;
}

/** Settings of the treasury of one network. */
export interface TreasuryConfig {
  /** The second opinion on dead payouts; null: the own scan alone decides. */
  readonly proof: { readonly nodeUrls: readonly string[]; readonly above: Decimal } | null;
  /** Above this a second node has to prove an incoming transfer; null: one node's word is enough. */
  readonly depositProofAbove: Decimal | null;
  /** Terms of a dynamic network fee; see `FeeTerms`. */
  readonly fee: {
    readonly receiver: "new" | "holder";
    readonly margin: string;
    readonly floor: Decimal;
  };
  /** The most that one transaction may cost, in coin. */
  readonly feeCap: Decimal;
  /** Above so much coin for all transactions of a day (UTC) an alarm is given; null: none is. */
  readonly feesPerDay: Decimal | null;
  /** Below this the wallet counts as low; `coin` is the chain's own. */
  readonly low: Readonly<Record<Currency | "coin", Decimal>>;
  /** Null: nothing is moved to the cold wallet. */
  readonly levels: Readonly<Record<Currency, HotLevels | null>>;
}

const amount = z.string().regex(/^\d{1,15}(\.\d{1,6})?$/, "is not an amount with up to 6 decimals");
/** An amount of a network's own coin; how many decimals that has differs, see {@linkcode treasuryFaults}. */
const coinAmount = z.string().regex(/^\d{1,15}(\.\d{1,18})?$/, "is not an amount");
/** The variables; each name follows the network's symbol and an underscore. */
export const TREASURY = {
  PROOF_NODE_URLS: listOf(nodeUrl).default([]).describe(
    "nodes of another operator, separated by commas: a large payout is given up as expired only when they know nothing of it either, and as failed only when it failed for one of them too, and a large deposit is credited only when they have it",
  ),
  PROOF_ABOVE: amount.optional().describe(
    "above this amount they are asked; without it for every payout, once there are any",
  ),
  DEPOSIT_PROOF_ABOVE: amount.optional().describe(
    "a transfer to a deposit address above this amount stays pending until one of them has the same block and the very transfer, and none another; without it the answering node's word is enough",
  ),
  FEE_CAP: coinAmount.refine(
    (text) => parseAmount(text) !== 0n,
    "is zero, so that nothing could be sent",
  )
    .optional().describe(
      "the most that one transaction may cost, in the network's own coin: no more is offered to the chain, and the signer signs for no more",
    ),
  FEE_RECEIVER: oneOf("new", "holder").default("new")
    .describe("whose transfer a dynamic network fee covers: new (holds no token yet) or holder"),
  FEE_MARGIN: z.string().regex(/^\d(\.\d{1,6})?$/, "is not a fraction from 0 to 9").default("0.1")
    .describe("what a dynamic network fee adds to the cost, as a fraction"),
  FEE_FLOOR: z.string().regex(/^\d{1,9}(\.\d{1,2})?$/, "is not an amount with up to 2 decimals")
    .default("0.1").describe("the least dynamic network fee, in the currency"),
  FEES_PER_DAY: coinAmount.optional().describe(
    "above so much of its own coin for all transactions of a day (UTC), sweeps and replacements too, `/readyz` says so; nothing waits for it",
  ),
  LOW_COIN: coinAmount.optional().describe("the hot wallet is low below so much of its own coin"),
  LOW_USDT: amount.default("1000").describe("the hot wallet is low below so much free USDT"),
  LOW_USDC: amount.default("0").describe("the hot wallet is low below so much free USDC"),
  USDT_CEILING: amount.optional().describe(
    "above so much free USDT the hot wallet sends the rest to the cold address, down to the target",
  ),
  USDT_TARGET: amount.optional().describe("what is left of it then"),
  USDC_CEILING: amount.optional().describe("the same for USDC"),
  USDC_TARGET: amount.optional().describe("the same for USDC"),
};

type Values = z.infer<z.ZodObject<typeof TREASURY>>;

/**
 * Rules over several variables of one network.
 *
 * @param live true if this is staging or production, where nothing may be half configured
 */
export function treasuryFaults(given: Given, network: Network, live: boolean): readonly string[] {
  const faults: string[] = [];
  const name = (key: string) => `${network}_${key}`;
  const has = (key: string) => Boolean(given[name(key)]);
  const proofNodes = hostsOf(given[name("PROOF_NODE_URLS")]);
  for (const bound of ["PROOF_ABOVE", "DEPOSIT_PROOF_ABOVE"]) {
    if (!has(bound) || proofNodes.length > 0) continue;
    faults.push(`${name("PROOF_NODE_URLS")} is missing although ${name(bound)} is set`);
  }
  const own = hostsOf(given[name("NODE_URLS")]);
  if (live && proofNodes.some((host) => own.includes(host))) {
    faults.push(`${name("PROOF_NODE_URLS")} names a node of ${name("NODE_URLS")}`);
  }
  if (given.ENVIRONMENT === "production") {
    for (const list of [name("NODE_URLS"), name("PROOF_NODE_URLS")]) {
      faults.push(...plainHttpFaults(list, given[list]));
    }
  }
  const { symbol, decimals } = PROFILES[network].coin;
  for (const key of ["LOW_COIN", "FEE_CAP", "FEES_PER_DAY"]) {
    const value = parseAmount(given[name(key)] ?? "");
    if (value === null || isExactIn(value, decimals)) continue;
    faults.push(`${name(key)} has more than the ${decimals} decimals of ${symbol}`);
  }
  for (const currency of CURRENCIES) {
    const [ceiling, target] = [`${currency}_CEILING`, `${currency}_TARGET`];
    if (!has(ceiling) && !has(target)) continue;
    for (const key of [ceiling, target, "COLD_ADDRESS"]) {
      if (!has(key)) faults.push(`${name(key)} is missing, which a cold wallet's levels need`);
    }
    const high = parseAmount(given[name(ceiling)] ?? "");
    const low = parseAmount(given[name(target)] ?? "");
    if (high !== null && low !== null && low >= high) {
      faults.push(`${name(target)} is not below ${name(ceiling)}`);
    }
  }
  return faults;
}

/**
 * Faults of a list of node URLs where money is real: nothing between a node and the service may change
 * what is believed about money, so that plain http is for nodes on this machine.
 *
 * @param name of the variable
 * @param list URLs separated by commas, as given; malformed ones are reported elsewhere
 */
function plainHttpFaults(name: string, list: string | undefined): readonly string[] {
  const urls = partsOf(list ?? "").map((part) => URL.parse(part));
  const isPlain = urls.some((url) => url?.protocol === "http:" && !isThisMachine(url.hostname));
  if (!isPlain) return [];
  return [
    `${name} names a node on another machine by http, which production refuses as anybody on the ` +
    "way could change its answers: use https, or a tunnel that ends on this machine",
  ];
}

/** True if a host of a URL is this machine. */
export function isThisMachine(hostname: string): boolean {
  if (hostname === "localhost") return true;
  const host = hostname.replace(/^\[|\]$/g, "");
  return ipaddr.isValid(host) && ipaddr.process(host).range() === "loopback";
}

/** Hosts of URLs that are well-formed; the others are reported elsewhere. */
function hostsOf(list: string | undefined): readonly string[] {
  return partsOf(list ?? "").flatMap((part) => URL.parse(part)?.host ?? []);
}

/** Settings whose default differs from network to network. */
export function networkDefaults(network: Network): Readonly<Record<string, string>> {
  const { lowCoin, feeCap, sweepBy } = PROFILES[network].defaults;
  return {
    LOW_COIN: lowCoin,
    FEE_CAP: feeCap,
    ...(sweepBy === undefined ? {} : { SWEEP_BY: sweepBy }),
  };
}

/** The settings that the variables stand for. */
export function treasuryOf(values: Values, network: Network): TreasuryConfig {
  const levels = (ceiling: string | undefined, target: string | undefined): HotLevels | null =>
    ceiling === undefined || target === undefined ? null : { ceiling, target };
  const { defaults } = PROFILES[network];
  return {
    proof: values.PROOF_NODE_URLS.length === 0 ? null : {
      nodeUrls: values.PROOF_NODE_URLS.map(trimmed),
      above: values.PROOF_ABOVE ?? "0",
    },
    depositProofAbove: values.DEPOSIT_PROOF_ABOVE ?? null,
    fee: {
      receiver: values.FEE_RECEIVER,
      margin: values.FEE_MARGIN,
      floor: values.FEE_FLOOR,
    },
    feeCap: values.FEE_CAP ?? defaults.feeCap,
    feesPerDay: values.FEES_PER_DAY ?? null,
    low: {
      coin: values.LOW_COIN ?? defaults.lowCoin,
      USDT: values.LOW_USDT,
      USDC: values.LOW_USDC,
    },
    levels: {
      USDT: levels(values.USDT_CEILING, values.USDT_TARGET),
      USDC: levels(values.USDC_CEILING, values.USDC_TARGET),
    },
  };
}
