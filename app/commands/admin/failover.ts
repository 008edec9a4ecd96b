import { z } from "zod";
import { Refused } from "./client.ts";
import { record, table } from "./table.ts";
import { given, type Verb } from "./verb.ts";

const FailoverAnswer = z.object({
  stops: z.array(z.object({ network: z.string(), reason: z.string() })),
  holds: z.array(z.object({
    id: z.string(),
    cause: z.string(),
    before: z.string().nullable(),
    after: z.string().nullable(),
    reason: z.string(),
    foundAt: z.string(),
    endedAt: z.string().nullable(),
    networks: z.array(z.object({
      network: z.string(),
      readHeight: z.number().nullable(),
      readTime: z.string().nullable(),
      headHeight: z.number().nullable(),
      untilTime: z.string().nullable(),
      comparedAt: z.string().nullable(),
    })),
  })),
  unknownSpends: z.array(z.object({
    network: z.string(),
    txid: z.string(),
    height: z.number(),
    wallet: z.string(),
    to: z.string(),
    currency: z.string(),
    amount: z.string(),
    status: z.string(),
    candidates: z.array(z.object({
      withdrawalId: z.string(),
      merchantId: z.string(),
      referenceId: z.string().nullable(),
      state: z.string(),
      expiresAt: z.string().nullable(),
    })),
  })),
  lostRecords: z.array(z.object({
    merchantId: z.string(),
    kind: z.string(),
    recordId: z.string(),
    referenceId: z.string().nullable(),
    network: z.string().nullable(),
    currency: z.string().nullable(),
    amount: z.string().nullable(),
    destination: z.string().nullable(),
    acknowledgedAt: z.string(),
  })),
});
type Failover = z.infer<typeof FailoverAnswer>;

function shown({ stops, holds, unknownSpends, lostRecords }: Failover): string {
  const lines: string[] = [];
  if (stops.length === 0) lines.push("Payouts are signed.");
  for (const { network, reason } of stops) lines.push(`${network}: nothing is signed: ${reason}`);
  for (const hold of holds.filter(({ endedAt }) => endedAt === null)) {
    lines.push(`\n${hold.id} since ${hold.foundAt}: ${hold.reason}`);
    if (hold.before !== null) lines.push(`  history ${hold.before}, now ${hold.after}`);
    for (const one of hold.networks) lines.push(`  ${one.network}: ${progressOf(one)}`);
  }
  if (unknownSpends.length > 0) {
    lines.push(
      "\nLeft wallets unknown to the books (open ones are matched, booked or written off):",
    );
    lines.push(table(unknownSpends.map(({ candidates, ...spend }) => ({
      ...spend,
      candidates: candidates.map(({ withdrawalId, merchantId, referenceId, state, expiresAt }) =>
        `${withdrawalId} of ${merchantId}${referenceId === null ? "" : ` (${referenceId})`}${
          state === "signed" ? `, waits for its expiry at ${expiresAt ?? "?"}` : ""
        }${state === "approval" ? ", waits for approval" : ""}`
      ),
    }))));
  }
  if (lostRecords.length > 0) {
    lines.push("\nAcknowledged and lost (tell the merchants):");
    lines.push(table(lostRecords));
  }
  return lines.join("\n");
}

function progressOf(one: Failover["holds"][number]["networks"][number]): string {
  if (one.comparedAt !== null) return `compared at ${one.comparedAt}`;
  if (one.untilTime === null) {
    return "the chain was not reached yet, or its newest block does not fit the database's clock";
  }
  return `block ${one.readHeight ?? "none"} of ${one.readTime ?? "never"} is read; block ${
    one.headHeight ?? "-"
  } and ${one.untilTime} have to be passed`;
}

function post(
  verb: string,
  args: readonly string[],
  fields: readonly string[],
  help: string,
): Verb {
  const required = fields.includes("reason") ? ["reason"] : [];
  return {
    name: `failover ${verb}`,
    args,
    options: Object.fromEntries(
      fields.map((field) => [field, { type: field === "anyway" ? "boolean" : "string" }]),
    ),
    help,
    run: async (client, values, options) => {
      for (const name of required) {
        if (typeof options[name] !== "string") throw new Refused(`Cannot go on without --${name}`);
      }
      const names: Readonly<Record<string, string>> = {
        "txid": "txid",
        "withdrawal-id": "withdrawalId",
        "merchant-id": "merchantId",
      };
      const body = Object.fromEntries(args.map((arg, at) => [names[arg] ?? arg, values[at]]));
      return record(
        await client.send("POST", `/api/admin/failover/${verb}`, {
          ...body,
          ...given(options, { reason: "reason", referenceId: "reference" }),
          ...(options.anyway === true ? { anyway: true } : {}),
        }),
      );
    },
  };
}

/** Commands for the time after a failover, and after the restore of an older copy. */
export const FAILOVER_VERBS: readonly Verb[] = [
  {
    name: "failover list",
    args: [],
    options: {},
    help: "why payouts are held, what left wallets unknown to the books, what was lost",
    run: async (client) =>
      shown(FailoverAnswer.parse(await client.send("GET", "/api/admin/failover"))),
  },
  post(
    "match",
    ["txid", "withdrawal-id"],
    [],
    "an unknown transfer has paid this withdrawal: it is CONFIRMED, and not paid again",
  ),
  post(
    "book",
    ["txid", "merchant-id"],
    ["reference", "anyway"],
    "an unknown transfer was a withdrawal of this merchant that is lost (--anyway: beside a candidate)",
  ),
  post(
    "write-off",
    ["txid"],
    ["reason", "anyway"],
    "an unknown transfer debits nobody (--reason; --anyway: beside a candidate)",
  ),
  post("declare", [], ["reason"], "an older copy was restored where nothing shows it (--reason)"),
  post("end", [], ["reason"], "end a hold of networks that are served no longer (--reason)"),
];
