import type { SweepPace, SweepTerms } from "../../actors/sweeper/sweep_terms.ts";
import type { FeeTerms } from "../../actors/treasury/fee_board.ts";
import type { ColdPolicy, HotLevels, TreasuryPolicy } from "../../actors/treasury/treasury_deps.ts";
import type { SecondNode } from "../../actors/watcher/second_node.ts";
import type { Chain } from "../../chains/chain.ts";
import { familyOf } from "../../chains/families.ts";
import type { SignerNetwork } from "../../chains/family.ts";
import { labelOf } from "../../chains/nodes/node.ts";
import { PROFILES } from "../../chains/profiles.ts";
import { storeColdWallet } from "../../ledger/addresses/wallets.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { findAddressOwners } from "../../ledger/deposit_addresses.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import { CURRENCIES, type Currency, type Network } from "../../ledger/money/pair.ts";
import { setDepositProofRule } from "../../ledger/watcher/deposit_proof_rule.ts";
import type { Config } from "../config/config.ts";

/** Settings and facts that policies are made from. */
export interface PolicySources {
  readonly config: Config;
  readonly sql: Sql;
  readonly chains: ReadonlyMap<Network, Chain>;
  readonly signerNetworks: readonly SignerNetwork[];
}

/** Terms by which a network's dynamic fee follows its costs, as configured. */
export function feeTerms(config: Config, network: Network): FeeTerms {
  const { fee, feeCap } = config.networks[network].treasury;
  const { receiver, margin, floor } = fee;
  return { receiver, margin, floor: amountOf(floor), cap: amountOf(feeCap) };
}

/**
 * Policies of the treasury of every open network, as configured. Its cold wallet
 * and the bound of deposits that need a proof are stored in the database.
 *
 * @throws {Error} when a cold address is none of its network, or one of the service's own
 */
export async function treasuryPolicies(
  sources: PolicySources,
): Promise<ReadonlyMap<Network, TreasuryPolicy>> {
  const policies = new Map<Network, TreasuryPolicy>();
  for (const [network, chain] of sources.chains) {
    policies.set(network, await makePolicy(sources, network, chain));
  }
  return policies;
}

/** @throws {Error} when the network is not open */
export function policyOf(
  policies: ReadonlyMap<Network, TreasuryPolicy>,
  network: Network,
): TreasuryPolicy {
  const policy = policies.get(network);
  if (policy === undefined) throw new Error(`Cannot keep a treasury as it is not open: ${network}`);
  return policy;
}

async function makePolicy(
  sources: PolicySources,
  network: Network,
  chain: Chain,
): Promise<TreasuryPolicy> {
  const { low, proof, depositProofAbove, feesPerDay } = sources.config.networks[network].treasury;
  const cold = await coldPolicy(sources, chain);
  await storeColdWallet(sources.sql, network, cold?.address ?? null);
  const depositsAbove = depositProofAbove === null ? null : amountOf(depositProofAbove);
  await setDepositProofRule(sources.sql, network, depositsAbove);
  return {
    depositProofAbove: depositsAbove,
    second: proof === null ? null : {
      above: amountOf(proof.above),
      nodes: await Promise.all(proof.nodeUrls.map((url) => secondNode(sources, chain, url))),
    },
    feesPerDay: feesPerDay === null ? null : amountOf(feesPerDay),
    tellingMs: sources.config.failoverTellingMs,
    low: { native: amountOf(low.coin), USDT: amountOf(low.USDT), USDC: amountOf(low.USDC) },
    cold,
  };
}

/** A node that is asked by itself: no other node's answer may stand in for it. */
async function secondNode(
  { signerNetworks }: PolicySources,
  { network, hotWallet, deriveAddress: address }: Chain,
  url: string,
): Promise<SecondNode> {
  const known = signerNetworks.find((one) => one.network === network);
  if (known === undefined) {
    throw new Error(`Cannot ask a second node as the network is not open: ${network}`);
  }
  const { contracts, isDevelopment, isRehearsal = false } = known;
  const chain = await familyOf(network).open({
    network,
    nodeUrls: [url],
    contracts,
    deposits: { address },
    hotWallet,
    isDevelopment,
    isRehearsal,
  });
  return { name: labelOf(new URL(url)), chain };
}

async function coldPolicy(
  { config, sql }: PolicySources,
  { network, hotWallet, address }: Chain,
): Promise<ColdPolicy | null> {
  const { coldAddress: given, treasury } = config.networks[network];
  if (given === null) return null;
  const coldAddress = address(given);
  if (coldAddress === null) {
    throw new Error(
      `Cannot use the cold address as it is none of the network: ${network}_COLD_ADDRESS`,
    );
  }
  const own = await findAddressOwners(sql, [coldAddress]);
  if (coldAddress === hotWallet || own.has(coldAddress)) {
    throw new Error(
      `Cannot use the cold address as it is one of the service's own: ${network}_COLD_ADDRESS`,
    );
  }
  const levels = new Map<Currency, HotLevels>();
  for (const currency of CURRENCIES) {
    const found = treasury.levels[currency];
    if (found === null) continue;
    levels.set(currency, { ceiling: amountOf(found.ceiling), target: amountOf(found.target) });
  }
  return { address: coldAddress, levels };
}

const MINUTE_MS = 60_000;

/** Pace of a network's sweeps. */
export function sweepPace(network: Network): SweepPace {
  return {
    staleMs: PROFILES[network].pace.sweepStaleMs,
    retryMs: MINUTE_MS,
    failureLimit: 3,
    coolDownMs: 15 * MINUTE_MS,
    pollMs: MINUTE_MS,
  };
}

/** On a development chain, where everything is ten times as fast. */
export const DEV_SWEEP_PACE: SweepPace = {
  staleMs: MINUTE_MS,
  retryMs: 5_000,
  failureLimit: 3,
  coolDownMs: MINUTE_MS,
  pollMs: 5_000,
};

/** Terms by which a network's addresses are swept, as configured. */
export function sweepTerms(config: Config, network: Network): SweepTerms {
  const { enabled, gas, factor, topUpHours } = config.networks[network].sweeps;
  return { enabled, gas, factor, topUpWaitMs: topUpHours * 60 * MINUTE_MS };
}
