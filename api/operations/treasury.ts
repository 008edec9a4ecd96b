/**
 * The treasury as administrators see it: funds and reservations of the wallets, and the payouts that wait,
 * with their reasons.
 *
 * @module
 */
import { z } from "zod";
import type { TreasuryPolicy } from "../../actors/treasury/treasury_deps.ts";
import { type Amount, formatAmount, subtract, ZERO } from "../../ledger/money/amount.ts";
import type { Currency, Network } from "../../ledger/money/pair.ts";
import { listOutgoing, type WaitingTransfer } from "../../ledger/payouts.ts";
import { countSweepAddresses, listSweepAddresses } from "../../ledger/sweeps/sweep_health.ts";
import { sumCosts } from "../../ledger/treasury/costs.ts";
import { type Commitment, readCommitments } from "../../ledger/treasury/hot_wallet.ts";
import { readOldestQueued, readQueueHealth, sumWaiting } from "../../ledger/treasury/queue.ts";
import { readCursor } from "../../ledger/watcher/cursor.ts";
import { ok } from "../http/answer.ts";
import type { ApiContext } from "../http/context.ts";
import { isSomethingAway } from "../http/errors.ts";
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { adminRoute, READERS } from "../http/route.ts";
import { shown } from "../http/shown.ts";
import { sweepsSchema } from "./sweeps.ts";
import { costSum, transferAsset, transferKind } from "./treasury_costs.ts";

const transfer = z.object({
  id: eg(z.string(), f.exampleId("out")),
  merchantId: eg(z.string(), f.exampleId("mer")),
  kind: transferKind,
  paymentId: eg(z.string().nullable(), f.exampleId("wd")),
  currency: transferAsset,
  amount: eg(f.decimal, "10"),
  destination: f.address,
  reason: eg(z.string().nullable().meta({ description: "Reason for which it waits" }), null),
  attempts: eg(z.int().min(0), 1),
  txid: f.txHash.nullable(),
  expiresAt: f.later.nullable(),
  nonce: eg(
    z.int().min(0).nullable().meta({
      description: "Its number among its wallet's transactions; null: it has none",
    }),
    null,
  ),
  seenHeight: eg(
    z.int().min(0).nullable().meta({
      description: "The newest block that shows it, not final yet",
    }),
    null,
  ),
  txids: eg(
    z.array(z.string()).meta({
      description: "All of its transactions that may still be in a block, oldest first",
    }),
    [],
  ),
  createdAt: f.timestamp,
}).meta({ id: "WaitingTransfer" });

const waitingGroup = z.object({
  kind: transferKind,
  currency: transferAsset,
  status: eg(z.enum(["queued", "signed"]), "signed"),
  reason: eg(
    z.string().nullable().meta({ description: "Null: for its turn, or for its block" }),
    null,
  ),
  count: eg(z.int().min(1), 1),
  amount: eg(f.decimal, "10"),
  oldestAt: f.timestamp.meta({ description: "Since when the oldest of them exists" }),
}).meta({ id: "WaitingTransfers" });

const stuck = z.object({
  count: eg(z.int().min(0), 0),
  oldestAt: eg(f.timestamp.nullable(), null),
});

const balance = z.object({
  currency: f.currency,
  balance: eg(
    f.decimal.nullable().meta({ description: "In solid blocks; null: node silent" }),
    "1000000",
  ),
  queued: eg(f.decimal.meta({ description: "Promised and not signed" }), "0"),
  inFlight: eg(f.decimal.meta({ description: "Signed and not final" }), "10"),
  liquidity: eg(
    f.signedDecimal.nullable().meta({ description: "Amount that new payouts can count on" }),
    "999990",
  ),
  ceiling: eg(
    f.decimal.nullable().meta({
      description: "Above so much the surplus goes to the cold address; null: it stays",
    }),
    null,
  ),
  target: eg(f.decimal.nullable().meta({ description: "Amount that is left then" }), null),
});

const treasuryOfNetwork = z.object({
  network: f.network,
  hotWallet: f.address,
  payoutsOpen: eg(z.boolean().meta({ description: "Whether payouts can be signed" }), true),
  low: eg(
    z.array(z.string()).meta({
      description: "Coins and tokens of which the hot wallet has too little",
      examples: [["USDT: 90 of at least 1000"]],
    }),
    [],
  ),
  lowBelow: eg(
    z.record(z.string(), f.decimal).nullable().meta({
      description: "By asset, where that begins; `native` is the network's own coin",
    }),
    { native: "200", USDT: "1000", USDC: "0" },
  ),
  coldAddress: eg(f.address.nullable(), null),
  secondNodes: eg(
    z.object({ above: f.decimal, nodes: z.array(z.string()) }).nullable().meta({
      description: "Who has to agree before a payout above an amount counts as expired; null: " +
        "the service's own scan decides alone",
    }),
    { above: "5000", nodes: ["tron.example"] },
  ),
  unproven: eg(
    z.int().min(0).meta({ description: "Expired payouts they have not agreed on" }),
    0,
  ),
  oldestQueuedSeconds: eg(
    z.int().min(0).nullable().meta({
      description: "Age of the oldest transfer without a signature; null: none waits",
    }),
    null,
  ),
  overCap: stuck.meta({
    description: "Payouts above the signer's cap per transaction: they wait for a person",
  }),
  setAside: stuck.meta({
    description: "Payouts that something about themselves keeps from being signed",
  }),
  tokens: eg(
    z.array(z.string()).meta({
      description: "Switches that issuers have set in their tokens; payouts of a paused one wait",
      examples: [["USDT: its issuer has paused all transfers"]],
    }),
    [],
  ),
  native: eg(
    f.decimal.nullable().meta({ description: "The network's own coin; null: node silent" }),
    "100000",
  ),
  nativeFree: eg(
    f.signedDecimal.nullable().meta({
      description: "The part of it that is neither reserved nor needed by a transaction under way",
    }),
    "99985",
  ),
  balances: z.array(balance),
  readUntil: eg(
    z.object({ height: z.int().min(0), time: f.timestamp }).nullable(),
    { height: 1_200, time: "2026-08-13T09:30:00.000Z" },
  ),
  waiting: z.array(waitingGroup).meta({ description: "All that waits, by what it waits for" }),
  costs: z.array(costSum).meta({ description: "Cost of all transactions so far" }),
  costsOf30Days: z.array(costSum).meta({ description: "The same in the last 30 days" }),
  queued: eg(z.array(transfer), []),
  inFlight: z.array(transfer),
  sweeps: sweepsSchema,
}).meta({ id: "TreasuryOfNetwork" });

/** Addresses of a network that are shown of each reason. */
const SHOWN_PER_REASON = 20;

/** Transfers shown per network and state; the sums are over all of them. */
const SHOWN = 100;
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
