import { z } from "zod";
import { type Options, Refused, shown as lines } from "../command.ts";
import { table } from "../table.ts";
import { type AdminVerb, verb } from "./client.ts";

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
  // the service does not ask the signer for this answer, so it cannot promise signatures
  if (stops.length === 0) {
    lines.push("Nothing here stops payouts. Does the signer answer? deno task signer status");
  }
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
          waitOf(state, expiresAt)
        }`
      ),
    }))));
  }
  if (lostRecords.length > 0) {
    lines.push("\nAcknowledged and lost (tell the merchants):");
    lines.push(table(lostRecords));
  }
  return lines.join("\n");
}

/** The thing that a withdrawal waits for until it can be matched, as the list shows it. */
function waitOf(state: string, expiresAt: string | null): string {
  if (state === "approval") return ", waits for approval";
  if (state !== "signed") return "";
  return expiresAt === null
    ? ", is signed for good: take it out of use (admin treasury cancel)"
    : `, waits for its expiry at ${expiresAt}`;
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

/** Declares a verb that sends its arguments and options as the fields of a command. */
function post(usage: string, fields: readonly string[], help: string): AdminVerb {
  const [path = ""] = usage.split(" ");
  return verb(`failover ${usage}`, help, ({ client }, args, { reason, anyway }) => {
    if (usage.includes("--reason") && reason === undefined) {
      throw new Refused("Cannot go on without --reason");
    }
    return client.post(`/api/admin/failover/${path}`, {
      ...Object.fromEntries(fields.map((field, index) => [field, args[index]])),
      reason,
      anyway: anyway === undefined ? undefined : true,
    });
  });
}

const REPEATED = "a repeat of it is a new withdrawal, and is paid as well";

/**
 * The reference that a lost payout is booked with; null: the merchant gave it none.
 *
 * @throws {Refused} where the line does not say which: without its reference the merchant's repeat is paid a second time
 */
function referenceOf({ reference, "without-reference": without }: Options): string | null {
  if (reference !== undefined && without !== undefined) {
    throw new Refused(
      "Cannot book with --reference and with --without-reference: it is one of them",
      2,
    );
  }
  const told = reference?.trim() ?? "";
  if (told !== "") return told;
  if (without !== undefined) return null;
  throw new Refused(
    "Cannot book without --reference TEXT, the merchant's own referenceId of that payout: ask the merchant. " +
      `--without-reference is for a payout that had none: ${REPEATED}`,
    2,
  );
}

/** Verbs for the time after a failover, and after the restore of an older copy. */
export const FAILOVER_VERBS: readonly AdminVerb[] = [
  verb(
    "failover list",
    "why payouts are held, what left wallets unknown to the books, what was lost",
    async ({ client }) =>
      shown(FailoverAnswer.parse(await client.send("GET", "/api/admin/failover"))),
  ),
  post(
    "match <txid> <withdrawal-id>",
    ["txid", "withdrawalId"],
    "an unknown transfer has paid this withdrawal: it is CONFIRMED, and not paid again",
  ),
  verb(
    "failover book <txid> <merchant-id> [--reference TEXT] [--without-reference] [--anyway]",
    "an unknown transfer was a withdrawal of this merchant that is lost, by the merchant's own referenceId " +
      `(--without-reference: it had none, and ${REPEATED}; --anyway: beside a candidate)`,
    async ({ client }, [txid, merchantId], options) => {
      const referenceId = referenceOf(options);
      const booked = await client.post("/api/admin/failover/book", {
        txid,
        merchantId,
        referenceId,
        anyway: options.anyway === undefined ? undefined : true,
      });
      return referenceId === null ? `${lines(booked)}\nTell the merchant: ${REPEATED}` : booked;
    },
  ),
  post(
    "write-off <txid> [--reason TEXT] [--anyway]",
    ["txid"],
    "an unknown transfer debits no merchant (--reason is needed; --anyway: beside a candidate)",
  ),
  post(
    "declare [--reason TEXT]",
    [],
    "an older copy was restored where nothing shows it (--reason is needed)",
  ),
  post(
    "end [--reason TEXT]",
    [],
    "end a hold of networks that are served no longer (--reason is needed)",
  ),
];
