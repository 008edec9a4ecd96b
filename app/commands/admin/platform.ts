import { z } from "zod";
import { Refused } from "../command.ts";
import { select, table, type TableRow } from "../table.ts";
import { type AdminVerb, Fields, verb } from "./client.ts";

/** A switch as the interface takes it; undefined where it is not given. */
function isOn(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (text === "on" || text === "off") return text === "on";
  throw new Refused(`Cannot switch as it is neither on nor off: ${text}`);
}

const Chain = z.object({
  network: z.string(),
  solid: z.object({ height: z.number() }).nullable(),
  head: z.object({ height: z.number(), time: z.string() }).nullable(),
  lag: z.number().nullable(),
  reachedSeconds: z.number().nullable(),
  stopped: z.string().nullable(),
  restSeconds: z.number(),
  unread: z.array(z.object({ height: z.number(), view: z.string(), reason: z.string() })),
  scanned: z.array(z.object({ from: z.number(), to: z.number() })),
  nodes: z.array(z.object({
    name: z.string(),
    state: z.string(),
    callsToday: z.number(),
    dailyCalls: z.number().nullable(),
    failure: z.string().nullable(),
  })),
});

const Report = z.object({
  scope: z.string(),
  finishedAt: z.string(),
  differences: z.number(),
  unchecked: z.number(),
  parts: z.array(z.object({
    network: z.string().nullable(),
    rules: z.array(z.object({
      rule: z.string(),
      differences: z.array(z.object({ subject: z.string(), detail: z.string() })),
      unchecked: z.string().nullable(),
    })),
  })),
});

function chainsText(networks: readonly z.infer<typeof Chain>[]): string {
  const scans = networks.map((one) => ({
    network: one.network,
    solid: one.solid?.height,
    head: one.head?.height,
    "blocks behind": one.lag ?? "unknown",
    reached: one.reachedSeconds === null
      ? "not since the start"
      : `${Math.round(one.reachedSeconds)} s ago`,
    ranges: one.scanned.map(({ from, to }) => `${from}-${to}`).join(" "),
    rest: `${one.restSeconds} s`,
  }));
  const nodes = networks.flatMap(({ network, nodes }) =>
    nodes.map((node) => ({ network, ...node }))
  );
  const troubles = networks.flatMap(({ network, stopped, unread, lag, head, nodes }) => [
    ...(lag !== null ? [] : [
      `${network}: no node tells how long the chain is, the newest block seen is ` +
      (head === null ? "none" : `${head.height} of ${head.time}`),
      ...nodes.map(({ name, state, failure }) =>
        `${network}: node ${name} is ${state}${failure === null ? "" : `: ${failure}`}`
      ),
    ]),
    ...(stopped === null ? [] : [`${network} is read no further: ${stopped}`]),
    ...unread.map(({ view, height, reason }) =>
      view === "again"
        ? `${network} block ${height} cannot be read again: ${reason}`
        : `${network} ${view} block ${height} cannot be read: ${reason}`
    ),
  ]);
  return [
    table(scans),
    table(select(nodes, "network name state callsToday dailyCalls failure")),
    ...troubles,
  ].join("\n");
}

function reportText({ scope, finishedAt, differences, unchecked, parts }: z.infer<typeof Report>) {
  return [
    `${scope}, ${finishedAt}: ${differences} differences, ${unchecked} rules not compared`,
    ...parts.flatMap(({ network, rules }) =>
      rules.flatMap(({ rule, differences, unchecked }) => {
        const of = `  ${network ?? "books"}: ${rule}: `;
        return [
          ...differences.map(({ subject, detail }) => `${of}${subject}: ${detail}`),
          ...(unchecked === null ? [] : [`${of}not compared: ${unchecked}`]),
        ];
      })
    ),
  ].join("\n");
}

/** The thresholds of settlements, a currency per line. */
function thresholds({ settlementThresholds }: Fields): TableRow {
  return Fields.parse(settlementThresholds);
}

/** Verbs for what concerns all merchants: pairs, fees, the audit, the scan of chains, comparisons. */
export const PLATFORM_VERBS: readonly AdminVerb[] = [
  verb(
    "pairs list",
    "every pair with its terms",
    async ({ client }) =>
      (await client.rows("/api/admin/pairs", "pairs")).map((pair) => ({
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
  ),
  verb(
    "pairs set <currency/network> [--deposits on|off] [--withdrawals on|off] [--minimum 1] " +
      "[--network-fee 1] [--fee-mode fixed|dynamic]",
    "changes a pair, such as USDT/TRX",
    ({ client }, [pair = ""], options) => {
      const [currency, network] = pair.split("/");
      return client.send("PUT", "/api/admin/pairs", {
        currency,
        network,
        depositsEnabled: isOn(options.deposits),
        withdrawalsEnabled: isOn(options.withdrawals),
        minWithdrawal: options.minimum,
        networkFee: options["network-fee"],
        networkFeeMode: options["fee-mode"],
      });
    },
  ),
  verb(
    "fees show",
    "the fees of withdrawals",
    ({ client }) => client.send("GET", "/api/admin/withdrawal-fees"),
  ),
  verb(
    "fees set [--base 1] [--markup 0.01] [--enabled on|off]",
    "changes them",
    ({ client }, _, { base, markup, enabled }) =>
      client.post("/api/admin/withdrawal-fees", {
        baseFee: base,
        markupRate: markup,
        enabled: isOn(enabled),
      }),
  ),
  verb(
    "settings show",
    "from which amount on settlements wait for approval, per currency",
    async ({ client }) => thresholds(await client.send("GET", "/api/admin/settings")),
  ),
  verb(
    "settings set [--usdt 10000] [--usdc 10000]",
    "changes them",
    async ({ client }, _, { usdt, usdc }) =>
      thresholds(
        await client.send("PUT", "/api/admin/settings", {
          settlementThresholds: { USDT: usdt, USDC: usdc },
        }),
      ),
  ),
  verb(
    "audit [--merchant ID] [--subject ID]",
    "what administrators did, the newest 100",
    async ({ client }, _, { merchant, subject }) => {
      const query = { merchantId: merchant, subject, limit: "100" };
      return (await client.rows("/api/admin/audit", "audit", query)).map((line) => ({
        at: line.createdAt,
        who: line.actorLabel ?? line.actor,
        what: line.action,
        of: line.subject,
        before: line.before,
        after: line.refused === null ? line.after : `refused: ${line.refused}`,
      }));
    },
  ),
  verb(
    "chains list",
    "how far each network is read, what holds it up, and how its nodes fare",
    async ({ client }) =>
      chainsText(z.array(Chain).parse(await client.rows("/api/admin/chains", "networks"))),
  ),
  verb(
    "reports list",
    "what the newest comparisons of the books with themselves and the chains found",
    async ({ client }) => {
      const reports = z.array(Report).parse(await client.rows("/api/admin/reconcile", "reports"));
      return reports.map(reportText).join("\n") || "not compared yet";
    },
  ),
];
