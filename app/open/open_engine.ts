import { Engine } from "../../actors/engine.ts";
import type { Pace } from "../../actors/engine_deps.ts";
import { FeeBoard } from "../../actors/treasury/fee_board.ts";
import type { Webhooks } from "../../actors/webhook/webhooks.ts";
import type { ApiDeps } from "../../api/http/context.ts";
import { transactionIdOn } from "../../chains/families.ts";
import { PROFILES } from "../../chains/profiles.ts";
import type { Signer } from "../../chains/signer.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { coinRate } from "../../rates/coin_rate.ts";
import { coinsOf } from "../../rates/coins.ts";
import { publicSources } from "../../rates/public_sources.ts";
import { fixedRates } from "../../rates/fixed_rates.ts";
import { RateBoard } from "../../rates/rate_board.ts";
import { type Rates, usdRate } from "../../rates/rates.ts";
import type { Config } from "../config/config.ts";
import type { Chains } from "./open_chains.ts";
import type { Database } from "./open_database.ts";
import {
  DEV_SWEEP_PACE,
  feeTerms,
  policyOf,
  sweepPace,
  sweepTerms,
  treasuryPolicies,
} from "./treasury_policy.ts";

/** Time that another node waits for one that died while it was signing. */
const LEASE_MS = 30_000;
/** Paces on a development chain, which is ten times as fast as any other. */
const DEV_PACE = {
  // as often as blocks come, each of which wakes the same actors; a poll is for what was missed
  pollMs: 1_000,
  leaseMs: 5_000,
  resendMs: 3_000,
  recheckMs: 1_000,
};
/** Attempts where a transaction never expires: a bound that is not met. */
const UNBOUNDED_ATTEMPTS = 2 ** 31 - 1;

/** Pace of the work on a network: its profile's, but in development. */
function paceOf(network: Network, isDevelopment: boolean): Pace {
  const { pace: { headMs, solidMs, resendMs, recheckMs }, defaults } = PROFILES[network];
  const attemptLimit = defaults.attempts ?? UNBOUNDED_ATTEMPTS;
  if (isDevelopment) return { ...DEV_PACE, attemptLimit };
  const pollMs = Math.min(headMs ?? solidMs, solidMs);
  const views = { headMs, solidMs };
  return { pollMs, views, leaseMs: LEASE_MS, resendMs, recheckMs, attemptLimit };
}

/** Opened parts that the actors work with. */
interface EngineParts {
  readonly database: Database;
  readonly chains: Chains;
  readonly signer: Signer;
  readonly webhooks: Webhooks;
  readonly node: string;
  readonly now: () => number;
}

/** The actors, not started yet, with the rates and fees that they go by. */
export interface OpenEngine {
  readonly engine: Engine;
  readonly rates: Rates;
  readonly fees: FeeBoard;
  /** The part of the actors that the API uses. */
  readonly forApi: Pick<
    ApiDeps,
    | "merchants"
    | "chains"
    | "transactionIdOn"
    | "addressBook"
    | "fees"
    | "rates"
    | "treasury"
    | "payoutsOpen"
    | "scanOf"
  >;
  /** Ends reading rates and fees. */
  close(): Promise<void>;
}

/** Makes the actors as they are configured. */
export async function openEngine(config: Config, parts: EngineParts): Promise<OpenEngine> {
  const { database: { sql, journalSql }, chains, now, ...others } = parts;
  const isDevelopment = config.environment === "development";
  const { rates, close: closeRates } = openRates(config, chains.chains.keys(), now);
  const policies = await treasuryPolicies({ ...chains, config, sql });
  const coinPrice = (network: Network, currency: Parameters<typeof coinRate>[2]) =>
    coinRate(rates, network, currency);
  const engine = new Engine({
    ...others,
    sql,
    journalSql,
    chains: chains.chains,
    nodes: (network) => chains.nodes.get(network)?.states ?? [],
    pace: (network) => paceOf(network, isDevelopment),
    addressGap: config.addressGap,
    keepDays: config.keepDays,
    now,
    usdRate: (currency) => usdRate(rates, currency),
    sweeps: {
      terms: (network) => sweepTerms(config, network),
      pace: (network) => isDevelopment ? DEV_SWEEP_PACE : sweepPace(network),
      coinRate: (network, currency) => coinPrice(network, currency)?.rate ?? null,
    },
    treasuryPolicy: (network) => policyOf(policies, network),
    coinRate: (network, currency) => coinPrice(network, currency)?.rate ?? null,
  });
  const fees = new FeeBoard({
    chains: chains.chains,
    coinRate: coinPrice,
    terms: (network) => feeTerms(config, network),
    now,
  });
  fees.start();
  const close = async () => {
    await fees.stop();
    await closeRates();
  };
  const forApi: OpenEngine["forApi"] = {
    merchants: engine.merchants,
    chains: chains.chains,
    transactionIdOn,
    addressBook: engine.addressBook,
    fees,
    rates,
    treasury: (network) => ({
      policy: policies.get(network) ?? null,
      status: engine.treasuries.get(network) ?? null,
    }),
    payoutsOpen: (network) => engine.signerOpen(network),
    scanOf: (network) => {
      const status = engine.watched.get(network) ?? null;
      return { status, nodes: engine.nodes(network) };
    },
  };
  return { engine, rates, fees, forApi, close };
}

/** Rates of public sources; in development a fixed table, which needs no network. */
function openRates(
  config: Config,
  networks: Iterable<Network>,
  now: () => number,
): { readonly rates: Rates; readonly close: () => Promise<void> } {
  if (config.environment === "development") {
    return { rates: fixedRates(now), close: () => Promise.resolve() };
  }
  const board = new RateBoard({ sources: publicSources(coinsOf(networks)), now });
  board.start();
  return { rates: board, close: () => board.stop() };
}
