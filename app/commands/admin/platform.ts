import { z } from "zod";
import { Fields, Refused } from "./client.ts";
import { record, table } from "./table.ts";
import { given, type Options, type Verb } from "./verb.ts";

const SWITCH: Readonly<Record<string, boolean>> = { on: true, off: false };

/** The switches that were given, as the interface takes them. */
function switches(options: Options, fields: Readonly<Record<string, string>>): Fields {
  return Object.fromEntries(
    Object.entries(given(options, fields)).map(([field, text]) => {
      const value = SWITCH[text];
      if (value === undefined) {
        throw new Refused(`Cannot switch as it is neither on nor off: ${text}`);
      }
      return [field, value];
    }),
  );
}

/** What concerns all merchants. */
export const PLATFORM_VERBS: readonly Verb[] = [
  {
    name: "pairs list",
    args: [],
    options: {},
    help: "every pair with its terms",
    run: async (client) => {
      const answer = await client.send("GET", "/api/admin/pairs");
      return table(
        z.array(Fields).parse(answer.pairs).map((pair) => ({
          pair: `${pair.currency}/${pair.network}`,
          deposits: pair.depositsEnabled === true ? "on" : "off",
          withdrawals: pair.withdrawalsEnabled === true ? "on" : "off",
          minimum: pair.minWithdrawal,
          fee: pair.networkFeeMode === "dynamic"
            ? `dynamic ${pair.quotedNetworkFee}`
            : pair.networkFee,
          node: pair.connected === true ? "yes" : "no",
          unclaimed: pair.unclaimed,
        })),
      );
    },
  },
  {
    name: "pairs set",
    args: ["currency/network"],
    options: {
      "deposits": { type: "string" },
      "withdrawals": { type: "string" },
      "minimum": { type: "string" },
      "network-fee": { type: "string" },
      "fee-mode": { type: "string" },
    },
    help: "USDT/TRX [--deposits on|off] [--withdrawals on|off] [--minimum 1] [--network-fee 1] " +
      "[--fee-mode fixed|dynamic]",
    run: async (client, [pair = ""], options) => {
      const [currency, network] = pair.split("/");
      return record(
        await client.send("PUT", "/api/admin/pairs", {
          currency,
          network,
          ...switches(options, { depositsEnabled: "deposits", withdrawalsEnabled: "withdrawals" }),
          ...given(options, {
            minWithdrawal: "minimum",
            networkFee: "network-fee",
            networkFeeMode: "fee-mode",
          }),
        }),
      );
    },
  },
  {
    name: "fees show",
    args: [],
    options: {},
    help: "the fees of withdrawals",
    run: async (client) => record(await client.send("GET", "/api/admin/withdrawal-fees")),
  },
  {
    name: "fees set",
    args: [],
    options: {
      base: { type: "string" },
      markup: { type: "string" },
      enabled: { type: "string" },
    },
    help: "[--base 1] [--markup 0.01] [--enabled on|off]",
    run: async (client, _args, options) =>
      record(
        await client.send("POST", "/api/admin/withdrawal-fees", {
          ...given(options, { baseFee: "base", markupRate: "markup" }),
          ...switches(options, { enabled: "enabled" }),
        }),
      ),
  },
  {
    name: "audit",
    args: [],
    options: { merchant: { type: "string" }, subject: { type: "string" } },
    help: "what administrators did, the newest 100; --merchant ID, --subject ID",
    run: async (client, _args, options) => {
      const fields = given(options, { merchantId: "merchant", subject: "subject" });
      const query = new URLSearchParams({ ...fields, limit: "100" });
      const answer = await client.send("GET", `/api/admin/audit?${query}`);
      return table(
        z.array(Fields).parse(answer.audit).map((line) => ({
          at: line.createdAt,
          who: line.actorLabel ?? line.actor,
          what: line.action,
          of: line.subject,
          before: line.before,
          after: line.refused === null ? line.after : `refused: ${line.refused}`,
        })),
      );
    },
  },
];
