import { z } from "zod";
import { select, table } from "../table.ts";
import { type AdminVerb, Fields, segment, verb } from "./client.ts";

const Rows = z.array(Fields);
const Sweeps = z.object({ counts: Rows, addresses: Rows });
const Stuck = z.object({ count: z.int(), oldestAt: z.string().nullable() });

function stuck(group: unknown, what: string): string[] {
  const { count, oldestAt } = Stuck.parse(group);
  return count === 0 ? [] : [`${count} ${what}, THE OLDEST SINCE ${oldestAt}`];
}

/** The wallets of a network, with a line for each alarm. */
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
  const lines = [headline(network), table(Rows.parse(network.balances))];
  const add = (title: string, rows: unknown, columns?: string) => {
    const found = Rows.parse(rows);
    if (found.length === 0) return;
    lines.push(title, table(columns === undefined ? found : select(found, columns)));
  };
  add("what waits:", network.waiting, "status kind count amount currency since=oldestAt reason");
  const payment = "id payment=paymentId amount currency attempts";
  add("queued, oldest first:", network.queued, `${payment} reason`);
  add("in flight, oldest first:", network.inFlight, `${payment} nonce seen=seenHeight txid reason`);
  const { counts, addresses } = Sweeps.parse(network.sweeps);
  if (counts.length > 0) lines.push("not swept:", table(counts), table(addresses));
  add("network costs of the last 30 days:", network.costsOf30Days);
  return lines.join("\n");
}

/** Verbs for wallets, and for sweeps. */
export const TREASURY_VERBS: readonly AdminVerb[] = [
  verb(
    "treasury",
    "what the wallets hold and have reserved, what waits for which reason, what it cost",
    async ({ client }) =>
      (await client.rows("/api/admin/treasury", "networks")).map(treasuryText).join("\n\n"),
  ),
  verb(
    "treasury costs [--network TRX] [--limit 20]",
    "what single transactions cost and what was charged",
    async ({ client }, _, { network, limit }) =>
      select(
        await client.rows("/api/admin/treasury/costs", "costs", { network, limit }),
        "at=countedAt id=outgoingId kind amount currency outcome charged coin cost result",
      ),
  ),
  verb(
    "treasury adopt <network> <txid> [--nonce N] [--reason TEXT]",
    "says that a transaction of the hot wallet which the service did not sign is in order; signing goes on. " +
      "Without --nonce it shows what would be adopted and changes nothing",
    ({ client }, [network, txid], { nonce, reason }) =>
      nonce === undefined
        ? client.post("/api/admin/treasury/sender", { network, txid })
        : client.post("/api/admin/treasury/adopt", { network, txid, nonce: Number(nonce), reason }),
  ),
  verb(
    "treasury not-ours <network> <txid> [--reason TEXT]",
    "takes a transaction off the list that the hot wallet has not sent, as its signature or its block shows",
    ({ client }, [network, txid], { reason }) =>
      client.post("/api/admin/treasury/not-ours", { network, txid, reason }),
  ),
  verb(
    "treasury cancel <withdrawal-id> [--reason TEXT]",
    "replaces a signed transfer by one that moves nothing, before a block shows it",
    ({ client }, [id], { reason }) => client.post("/api/admin/treasury/cancel", { id, reason }),
  ),
  verb(
    "sweeps settle <sweep-id> <moved|nothing_moved|lost> [--reason TEXT]",
    "settles a sweep that ended unexpected, as the chain shows it",
    ({ client }, [id, verdict], { reason }) =>
      client.post(`/api/admin/sweeps/${segment(id)}/settle`, { verdict, reason }),
  ),
  verb(
    "sweeps write-off <network> <address> <currency> <amount> [--reason TEXT]",
    "takes what is gone from an address off the list of what is swept",
    ({ client }, [network, address, currency, amount], { reason }) =>
      client.post("/api/admin/sweeps/write-off", { network, address, currency, amount, reason }),
  ),
];
