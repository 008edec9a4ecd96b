import { z } from "zod";
import { Fields } from "./client.ts";
import { record, table } from "./table.ts";
import { given, type Verb } from "./verb.ts";

const Sweeps = z.object({ counts: z.array(Fields), addresses: z.array(Fields) });

const Stuck = z.object({ count: z.int(), oldestAt: z.string().nullable() });

function stuck(group: unknown, what: string): string[] {
  const { count, oldestAt } = Stuck.parse(group);
  return count === 0 ? [] : [`${count} ${what}, THE OLDEST SINCE ${oldestAt}`];
}

/** What a treasury says of itself in one line or two. */
function headline(network: Fields): string {
  const alarms = [
    ...(network.payoutsOpen === true ? [] : ["PAYOUTS CANNOT BE SIGNED"]),
    ...z.array(z.string()).parse(network.low).map((text) => `LOW ON ${text}`),
    ...(network.unproven === 0
      ? []
      : [`${network.unproven} EXPIRED PAYOUTS WAIT FOR A SECOND NODE`]),
    ...stuck(network.overCap, "PAYOUTS ABOVE THE SIGNER'S CAP PER TRANSACTION WAIT FOR A PERSON"),
    ...stuck(network.setAside, "PAYOUTS CANNOT BE SIGNED AS THEY ARE"),
    ...z.array(z.string()).parse(network.tokens),
  ];
  return [
    `${network.network}  hot wallet ${network.hotWallet}  coin ${network.native ?? "node silent"}` +
    (network.coldAddress === null ? "" : `  cold wallet ${network.coldAddress}`),
    ...alarms.map((alarm) => `  ${alarm}`),
  ].join("\n");
}

function treasuryText(network: Fields): string {
  const lines = [headline(network), table(z.array(Fields).parse(network.balances))];
  const waiting = z.array(Fields).parse(network.waiting);
  if (waiting.length > 0) {
    lines.push(
      "what waits:",
      table(waiting.map((group) => ({
        status: group.status,
        kind: group.kind,
        count: group.count,
        amount: group.amount,
        currency: group.currency,
        since: group.oldestAt,
        reason: group.reason,
      }))),
    );
  }
  for (const state of ["queued", "inFlight"] as const) {
    const rows = z.array(Fields).parse(network[state]);
    if (rows.length === 0) continue;
    lines.push(
      state === "queued" ? "queued, oldest first:" : "in flight, oldest first:",
      table(rows.map((row) => ({
        id: row.id,
        payment: row.paymentId,
        amount: row.amount,
        currency: row.currency,
        attempts: row.attempts,
        ...(state === "queued" ? {} : { txid: row.txid }),
        reason: row.reason,
      }))),
    );
  }
  const { counts, addresses } = Sweeps.parse(network.sweeps);
  if (counts.length > 0) lines.push("not swept:", table(counts), table(addresses));
  const costs = z.array(Fields).parse(network.costsOf30Days);
  if (costs.length > 0) lines.push("network costs of the last 30 days:", table(costs));
  return lines.join("\n");
}

/** What can be asked of the treasury. The longer name comes first: the first that fits counts. */
export const TREASURY_VERBS: readonly Verb[] = [
  {
    name: "treasury costs",
    args: [],
    options: { network: { type: "string" }, limit: { type: "string" } },
    help: "what single transactions cost and what was charged; --network TRX, --limit 20",
    run: async (client, _args, options) => {
      const query = new URLSearchParams(given(options, { network: "network", limit: "limit" }));
      const answer = await client.send("GET", `/api/admin/treasury/costs?${query}`);
      return table(
        z.array(Fields).parse(answer.costs).map((line) => ({
          at: line.countedAt,
          id: line.outgoingId,
          kind: line.kind,
          amount: line.amount,
          currency: line.currency,
          outcome: line.outcome,
          charged: line.charged,
          coin: line.coin,
          cost: line.cost,
          result: line.result,
        })),
      );
    },
  },
  {
    name: "treasury",
    args: [],
    options: {},
    help: "what the wallets hold and have promised, what waits for which reason, what it cost",
    run: async (client) => {
      const answer = await client.send("GET", "/api/admin/treasury");
      return z.array(Fields).parse(answer.networks).map(treasuryText).join("\n\n");
    },
  },
  {
    name: "withdrawals settle",
    args: ["withdrawal-id", "paid|not_paid"],
    options: { reason: { type: "string" }, txid: { type: "string" } },
    help: "settles a payout that ended unexpected, as the chain shows it; --reason TEXT, --txid " +
      "TXID of another transaction that has brought what it lacked",
    run: async (client, [id, verdict], options) =>
      record(
        await client.send("POST", `/api/admin/withdrawals/${id}/settle`, {
          verdict,
          ...given(options, { reason: "reason", txid: "txid" }),
        }),
      ),
  },
  {
    name: "sweeps settle",
    args: ["sweep-id", "moved|nothing_moved|lost"],
    options: { reason: { type: "string" } },
    help: "settles a sweep that ended unexpected, as the chain shows it; --reason TEXT",
    run: async (client, [id, verdict], options) =>
      record(
        await client.send("POST", `/api/admin/sweeps/${id}/settle`, {
          verdict,
          ...given(options, { reason: "reason" }),
        }),
      ),
  },
  {
    name: "sweeps write-off",
    args: ["network", "address", "currency", "amount"],
    options: { reason: { type: "string" } },
    help: "takes what is gone from an address off the list of what is swept; --reason TEXT",
    run: async (client, [network, address, currency, amount], options) =>
      record(
        await client.send("POST", "/api/admin/sweeps/write-off", {
          network,
          address,
          currency,
          amount,
          ...given(options, { reason: "reason" }),
        }),
      ),
  },
];
