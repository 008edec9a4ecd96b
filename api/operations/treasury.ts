/**
 * The wallets' funds and reservations, and the payouts that wait, with their reasons.
 *
 * @module
 */

import type { TreasuryPolicy } from "../../actors/treasury/treasury_deps.ts";
import { type Amount, formatAmount, subtract, ZERO } from "../../ledger/money/amount.ts";
import type { Currency, Network } from "../../ledger/money/pair.ts";
import { listOutgoing, type WaitingTransfer } from "../../ledger/payouts.ts";
import { countSweepAddresses, listSweepAddresses } from "../../ledger/sweeps/sweep_health.ts";
import { type Commitment, readCommitments } from "../../ledger/treasury/hot_wallet.ts";
import { readOldestQueued, readQueueHealth, sumWaiting } from "../../ledger/treasury/queue.ts";
import { sumCosts } from "../../ledger/treasury/costs.ts";
import { readCursor } from "../../ledger/watcher/cursor.ts";
import { z } from "zod";
import { ok } from "../http/answer.ts";
import type { ApiContext } from "../http/context.ts";
import { isSomethingAway } from "../http/errors.ts";
import { adminRoute, READERS } from "../http/route.ts";
import { shown } from "../http/shown.ts";
import { treasuryOfNetwork } from "./treasury_schema.ts";

/** Addresses of a network that are shown of each reason. */
const SHOWN_PER_REASON = 20;

/** Transfers shown per network and state; the sums are over all of them. */
const SHOWN = 100;
/** Bound of asking a node. */
const NODE_MS = 5_000;

type ApiChain = ApiContext["chains"] extends ReadonlyMap<Network, infer C> ? C : never;

export const getTreasury = adminRoute({
  at: "GET /api/admin/treasury",
  summary: "Wallets, promises, and transfers that wait, with the reason",
  anyOf: READERS,
  responses: {
    200: {
      description: "One entry per configured network",
      schema: z.object({ networks: z.array(treasuryOfNetwork) }),
    },
  },
  handler: async (_request, context) => {
    const [transfers, sweepCounts, unswept] = await Promise.all([
      listOutgoing(context.sql, SHOWN),
      countSweepAddresses(context.sql),
      listSweepAddresses(context.sql, SHOWN_PER_REASON),
    ]);
    const networks = await Promise.all(
      [...context.chains].map(async ([network, chain]) => {
        const isOfNetwork = (row: { readonly network: Network }) => row.network === network;
        const of = transfers.filter(isOfNetwork);
        return shown(treasuryOfNetwork, {
          ...await stateOf(network, chain, of, context),
          sweeps: {
            counts: sweepCounts.filter(isOfNetwork),
            addresses: unswept.filter(isOfNetwork),
          },
        });
      }),
    );
    return ok({ networks });
  },
});

async function stateOf(
  network: Network,
  chain: ApiChain,
  transfers: readonly WaitingTransfer[],
  context: ApiContext,
) {
  const { sql } = context;
  const [
    { assets: commitments },
    readUntil,
    waiting,
    costs,
    costsOf30Days,
    oldest,
    queue,
    native,
    ...tokens
  ] = await Promise.all([
    readCommitments(sql, network),
    readCursor(sql, network, "solid"),
    sumWaiting(sql, network),
    sumCosts(sql, network, null),
    sumCosts(sql, network, 30),
    readOldestQueued(sql, network),
    readQueueHealth(sql, network),
    balanceOf(chain, "native"),
    ...chain.capabilities.currencies.map((currency) => balanceOf(chain, currency)),
  ]);
  const { policy, status } = context.treasury(network);
  return {
    network,
    hotWallet: chain.hotWallet,
    payoutsOpen: context.payoutsOpen(network),
    ...policyOf(policy),
    low: status?.low ?? [],
    unproven: status?.withoutExpiryProof ?? 0,
    oldestQueuedSeconds: oldest === null
      ? null
      : Math.max(0, Math.floor((context.clock() - oldest) / 1_000)),
    // payouts that no turn helps: they wait for a person
    overCap: queue.overCap,
    setAside: queue.quarantined,
    tokens: status?.tokens ?? [],
    native,
    nativeFree: balanceAfter(native, commitments.get("native")).liquidity,
    balances: chain.capabilities.currencies.map((currency, index) => {
      const { ceiling = null, target = null } = policy?.cold?.levels.get(currency) ?? {};
      const balance = balanceAfter(tokens[index] ?? null, commitments.get(currency));
      return { currency, ...balance, ceiling, target };
    }),
    readUntil,
    waiting,
    costs,
    costsOf30Days,
    queued: transfers.filter((row) => row.status === "queued"),
    inFlight: transfers.filter((row) => row.status === "signed"),
  };
}

/** The set-up of a network's treasury; what is not configured is null. */
function policyOf(policy: TreasuryPolicy | null) {
  const second = policy?.second ?? null;
  return {
    lowBelow: policy === null ? null : Object.fromEntries(
      Object.entries(policy.low).map(([asset, amount]) => [asset, formatAmount(amount)]),
    ),
    coldAddress: policy?.cold?.address ?? null,
    secondNodes: second === null
      ? null
      : { above: formatAmount(second.above), nodes: second.nodes.map(({ name }) => name) },
  };
}

/** A balance in solid blocks; `null` while the node does not say. */
async function balanceOf(chain: ApiChain, asset: Currency | "native"): Promise<Amount | null> {
  try {
    return await chain.balanceOf(chain.hotWallet, asset, AbortSignal.timeout(NODE_MS));
  } catch (error) {
    if (!isSomethingAway(error)) throw error;
    return null;
  }
}

/** A balance, and what of it is left for new payouts; below zero: more is reserved than there is. */
function balanceAfter(balance: Amount | null, commitment?: Commitment) {
  const { queued, signed } = commitment ?? { queued: ZERO, signed: ZERO };
  const liquidity = balance === null ? null : subtract(subtract(balance, queued), signed);
  return { balance, queued, inFlight: signed, liquidity };
}
