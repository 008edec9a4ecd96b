import { z } from "zod";
import { Fields } from "./client.ts";
import { table } from "./table.ts";
import type { Verb } from "./verb.ts";

const ChainsAnswer = z.array(z.object({
  network: z.string(),
  solid: z.object({ height: z.number() }).nullable(),
  head: z.object({ height: z.number() }).nullable(),
  lag: z.number().nullable(),
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
}));

const ReportsAnswer = z.array(z.object({
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
}));

/** What can be seen of scanning and of comparing. */
export const SCAN_VERBS: readonly Verb[] = [
  {
    name: "chains list",
    args: [],
    options: {},
    help: "how far each network is read, what holds it up, and how its nodes fare",
    run: async (client) => {
      const answer = await client.send("GET", "/api/admin/chains");
      const networks = ChainsAnswer.parse(answer.networks);
      const lines = [table(networks.map((one) => ({
        network: one.network,
        solid: one.solid?.height ?? "-",
        head: one.head?.height ?? "-",
        lag: one.lag ?? "-",
        ranges: one.scanned.map(({ from, to }) => `${from}-${to}`).join(" "),
        rest: `${one.restSeconds} s`,
      })))];
      const nodes = networks.flatMap(({ network, nodes }) =>
        nodes.map(({ dailyCalls, failure, ...node }): Fields => ({
          network,
          ...node,
          dailyCalls: dailyCalls ?? "-",
          failure: failure ?? "",
        }))
      );
      lines.push(table(nodes));
      for (const { network, stopped, unread } of networks) {
        if (stopped !== null) lines.push(`${network} is read no further: ${stopped}`);
        for (const { view, height, reason } of unread) {
          lines.push(
            view === "again"
              ? `${network} block ${height} cannot be read again: ${reason}`
              : `${network} ${view} block ${height} cannot be read: ${reason}`,
          );
        }
      }
      return lines.join("\n");
    },
  },
  {
    name: "reports list",
    args: [],
    options: {},
    help: "what the newest comparisons of the books with themselves and the chains found",
    run: async (client) => {
      const answer = await client.send("GET", "/api/admin/reconcile");
      const reports = ReportsAnswer.parse(answer.reports);
      const lines = reports.flatMap(({ scope, finishedAt, differences, unchecked, parts }) => [
        `${scope}, ${finishedAt}: ${differences} differences, ${unchecked} rules not compared`,
        ...parts.flatMap(({ network, rules }) =>
          rules.flatMap((one) => [
            ...one.differences.map(({ subject, detail }) =>
              `  ${network ?? "books"}: ${one.rule}: ${subject}: ${detail}`
            ),
            ...(one.unchecked === null
              ? []
              : [`  ${network ?? "books"}: ${one.rule}: not compared: ${one.unchecked}`]),
          ])
        ),
      ]);
      return lines.length === 0 ? "not compared yet" : lines.join("\n");
    },
  },
];
