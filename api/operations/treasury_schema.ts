/**
 * The treasury as administrators see it.
 *
 * @module
 */

import { z } from "zod";
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
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
  reason: eg(z.string().nullable().meta({ description: "What it waits for" }), null),
  attempts: eg(z.int().min(0), 1),
  txid: f.txHash.nullable(),
  expiresAt: f.later.nullable(),
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
    f.signedDecimal.nullable().meta({ description: "What new payouts can count on" }),
    "999990",
  ),
  ceiling: eg(
    f.decimal.nullable().meta({
      description: "Above so much the surplus goes to the cold address; null: it stays",
    }),
    null,
  ),
  target: eg(f.decimal.nullable().meta({ description: "What is left then" }), null),
});

/** The treasury of one network. */
export const treasuryOfNetwork = z.object({
  network: f.network,
  hotWallet: f.address,
  payoutsOpen: eg(z.boolean().meta({ description: "Whether payouts can be signed" }), true),
  low: eg(
    z.array(z.string()).meta({
      description: "What the hot wallet has too little of",
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
      description: "What issuers have switched in their tokens; payouts of a paused one wait",
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
      description: "What of it is promised to nobody, and no transaction under way may take",
    }),
    "99985",
  ),
  balances: z.array(balance),
  readUntil: eg(
    z.object({ height: z.int().min(0), time: f.timestamp }).nullable(),
    { height: 1_200, time: "2026-08-13T09:30:00.000Z" },
  ),
  waiting: z.array(waitingGroup).meta({ description: "All that waits, by what it waits for" }),
  costs: z.array(costSum).meta({ description: "What transactions have cost, all of them" }),
  costsOf30Days: z.array(costSum).meta({ description: "The same in the last 30 days" }),
  queued: eg(z.array(transfer), []),
  inFlight: z.array(transfer),
  sweeps: sweepsSchema,
}).meta({ id: "TreasuryOfNetwork" });
