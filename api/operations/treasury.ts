/**
 * The wallets' funds and reservations, and the payouts that wait, with their reasons.
 *
 * @module
 */

import type { HotLevels, TreasuryPolicy } from "../../actors/treasury/treasury_deps.ts";
import { type Amount, formatAmount, subtract, ZERO } from "../../ledger/money/amount.ts";
import type { Currency, Network } from "../../ledger/money/pair.ts";
import { listOutgoing, type WaitingTransfer } from "../../ledger/payouts.ts";
import {
  countSweepAddresses,
  type ListedSweepAddress,
  listSweepAddresses,
  type SweepAddressCount,
} from "../../ledger/sweeps/sweep_health.ts";
import { type Commitment, readCommitments } from "../../ledger/treasury/hot_wallet.ts";
import {
  type QueueHealth,
  readOldestQueued,
  readQueueHealth,
  sumWaiting,
} from "../../ledger/treasury/queue.ts";
import { sumCosts } from "../../ledger/treasury/costs.ts";
import { type Cursor, readCursor } from "../../ledger/watcher/cursor.ts";
import { ok } from "../http/answer.ts";
import type { ApiContext } from "../http/context.ts";
import { isSomethingAway } from "../http/errors.ts";
import { staffRoute } from "../http/route.ts";
import { costSumView } from "./treasury_costs.ts";
import { TREASURY_EXAMPLE, treasurySchema } from "./treasury_schema.ts";

/** Addresses of a network that are shown of each reason. */
const SHOWN_PER_REASON = 20;

/** Amounts of one network that are not swept. */
function sweepsView(
  network: Network,
  counts: readonly SweepAddressCount[],
  targets: readonly ListedSweepAddress[],
) {
  return {
    counts: counts.filter((count) => count.network === network)
      .map(({ reason, addresses }) => ({ reason, addresses })),
    addresses: targets.filter((target) => target.network === network)
      .map(({ network: _network, ...target }) => ({
        ...target,
        amount: target.amount === null ? null : formatAmount(target.amount),
        since: new Date(target.since).toISOString(),
        lookAt: new Date(target.lookAt).toISOString(),
      })),
  };
}

/** Transfers shown per network and state; the sums are over all of them. */
const SHOWN = 100;
/** Bound of asking a node. */
const NODE_MS = 5_000;

type ApiChain = ApiContext["chains"] extends ReadonlyMap<Network, infer C> ? C : never;

/** `GET /api/admin/treasury`. */
export const getTreasury = staffRoute({
  method: "GET",
  path: "/api/admin/treasury",
  summary: "Wallets, promises, and transfers that wait, with the reason",
  access: { scope: "admin", anyOf: ["admin:read", "admin:write"] },
  rateCategory: "none",
  responses: {
    200: {
      description: "One entry per configured network",
      schema: treasurySchema,
      example: TREASURY_EXAMPLE,
    },
  },
  handler: async (_request, context) => {
    const [transfers, sweepCounts, unswept] = await Promise.all([
      listOutgoing(context.sql, SHOWN),
      countSweepAddresses(context.sql),
      listSweepAddresses(context.sql, SHOWN_PER_REASON),
    ]);
    const networks = await Promise.all(
      [...context.chains].map(async ([network, chain]) => ({
        ...await networkView(
          network,
          chain,
          transfers.filter((row) => row.network === network),
          context,
        ),
        sweeps: sweepsView(network, sweepCounts, unswept),
      })),
    );
    return ok({ networks });
  },
});

async function networkView(
  network: Network,
  chain: ApiChain,
  transfers: readonly WaitingTransfer[],
  context: ApiContext,
) {
  const { sql } = context;
  const [
    { assets: commitments },
    cursor,
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
    ...policyView(policy),
    low: status?.low ?? [],
    unproven: status?.withoutExpiryProof ?? 0,
    oldestQueuedSeconds: oldest === null
      ? null
      : Math.max(0, Math.floor((context.clock() - oldest) / 1_000)),
    ...queueView(queue),
    tokens: status?.tokens ?? [],
    native: shown(native),
    nativeFree: balanceView(native, commitments.get("native")).liquidity,
    balances: chain.capabilities.currencies.map((currency, index) => ({
      currency,
      ...balanceView(tokens[index] ?? null, commitments.get(currency)),
      ...levelsView(policy?.cold?.levels.get(currency)),
    })),
    readUntil: cursorView(cursor),
    waiting: waiting.map((group) => ({
      ...group,
      amount: formatAmount(group.amount),
      oldestAt: new Date(group.oldestAt).toISOString(),
    })),
    costs: costs.map(costSumView),
    costsOf30Days: costsOf30Days.map(costSumView),
    queued: transfers.filter((row) => row.status === "queued").map(transferView),
    inFlight: transfers.filter((row) => row.status === "signed").map(transferView),
  };
}

/** Payouts that no turn helps: they wait for a person. */
function queueView({ overCap, quarantined }: QueueHealth) {
  const view = ({ count, oldestAt }: QueueHealth["overCap"]) => ({
    count,
    oldestAt: oldestAt === null ? null : new Date(oldestAt).toISOString(),
  });
  return { overCap: view(overCap), setAside: view(quarantined) };
}

/** The set-up of a network's treasury; what is not configured is null. */
function policyView(policy: TreasuryPolicy | null) {
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

function levelsView(levels: HotLevels | undefined) {
  return { ceiling: shown(levels?.ceiling ?? null), target: shown(levels?.target ?? null) };
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

function shown(amount: Amount | null): string | null {
  return amount === null ? null : formatAmount(amount);
}

function balanceView(balance: Amount | null, commitment?: Commitment) {
  const { queued, signed } = commitment ?? { queued: ZERO, signed: ZERO };
  return {
    balance: shown(balance),
    queued: formatAmount(queued),
    inFlight: formatAmount(signed),
    /** The amount left for new payouts; negative: more is reserved than there is. */
    liquidity: balance === null ? null : formatAmount(subtract(subtract(balance, queued), signed)),
  };
}

function cursorView(cursor: Cursor | null) {
  if (cursor === null) return null;
  return { height: cursor.height, time: new Date(cursor.time).toISOString() };
}

function transferView(row: WaitingTransfer) {
  const { network: _network, status: _status, ...rest } = row;
  return {
    ...rest,
    amount: formatAmount(row.amount),
    expiresAt: row.expiresAt === null ? null : new Date(row.expiresAt).toISOString(),
    createdAt: new Date(row.createdAt).toISOString(),
  };
}
