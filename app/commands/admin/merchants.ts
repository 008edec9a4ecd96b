import { Fields, Refused } from "./client.ts";
import { record, table } from "./table.ts";
import { given, type Verb } from "./verb.ts";

const PROFILE = {
  name: "name",
  status: "status",
  depositCommissionRate: "deposit-commission-rate",
  directDepositFee: "direct-deposit-fee",
};

const OPTIONS = {
  "name": { type: "string" },
  "status": { type: "string" },
  "deposit-commission-rate": { type: "string" },
  "direct-deposit-fee": { type: "string" },
  "limit": { type: "string", multiple: false },
} as const;

/** `balance=0,withdrawals=500` as the interface takes it. */
function limits(text: string | boolean | undefined): Fields {
  if (typeof text !== "string") return {};
  const pairs = text.split(",").map((pair) => {
    const [name = "", most = ""] = pair.split("=");
    if (!/^(\d+|default)$/.test(most)) {
      throw new Refused(`Cannot read a limit as it is not <category>=<number>: ${pair}`);
    }
    return [name.trim(), most === "default" ? null : parseInt(most, 10)];
  });
  return { rateLimits: Object.fromEntries(pairs) };
}

/** What can be done with merchants. */
export const MERCHANT_VERBS: readonly Verb[] = [
  {
    name: "merchants list",
    args: [],
    options: { status: { type: "string" }, name: { type: "string" } },
    help: "every merchant; --status ACTIVE|SUSPENDED|INACTIVE, --name PART",
    run: async (client, _args, options) => {
      const query = new URLSearchParams(given(options, { status: "status", name: "name" }));
      const rows = await client.list(`/api/admin/merchants?${query}`, "merchants");
      return table(
        rows.map(({ id, name, status, depositCommissionRate, resellerId, createdAt }) => ({
          id,
          name,
          status,
          commission: depositCommissionRate,
          reseller: resellerId,
          created: createdAt,
        })),
      );
    },
  },
  {
    name: "merchants show",
    args: ["id"],
    options: {},
    help: "a merchant's profile",
    run: async (client, [id]) => record(await client.send("GET", `/api/merchants/${id}`)),
  },
  {
    name: "merchants create",
    args: [],
    options: OPTIONS,
    help: "a new merchant: --name NAME [--deposit-commission-rate 0.01] [--direct-deposit-fee 1]",
    run: async (client, _args, options) =>
      record(
        await client.send("POST", "/api/admin/merchants", {
          ...given(options, PROFILE),
          ...limits(options.limit),
        }),
      ) + "\n\nThe webhook secret is shown this once.",
  },
  {
    name: "merchants rotate-secret",
    args: ["id"],
    options: { overlap: { type: "string" } },
    help: "a new webhook secret; the old one signs beside it for --overlap HOURS (0 to 168), 24 " +
      "where it is not said, and not at all where it cannot be read any more",
    run: async (client, [id], { overlap }) => {
      if (overlap !== undefined && !/^\d{1,3}$/.test(String(overlap))) {
        throw new Refused(`Cannot read --overlap as it is no number of hours: ${overlap}`);
      }
      const body = overlap === undefined ? {} : { overlapHours: Number(overlap) };
      const path = `/api/merchants/${id}/webhook/rotate-secret`;
      return record(await client.send("POST", path, body)) +
        "\n\nThe webhook secret is shown this once.";
    },
  },
  {
    name: "merchants set",
    args: ["id"],
    options: OPTIONS,
    help: "--name, --status, --deposit-commission-rate, --direct-deposit-fee, " +
      "--limit withdrawals=500,balance=0 (per minute; 0: unlimited)",
    run: async (client, [id], options) =>
      record(
        await client.send("PATCH", `/api/merchants/${id}`, {
          ...given(options, PROFILE),
          ...limits(options.limit),
        }),
      ),
  },
];
