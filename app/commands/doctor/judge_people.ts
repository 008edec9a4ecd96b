import { holds } from "../../../api/http/permission.ts";
import type { Config } from "../../config/config.ts";
import type { ComparisonFacts, DatabaseFacts } from "./facts.ts";
import { byHand, type Finding, missing, ok, orWell, unknown } from "./finding.ts";

const HOUR_MS = 3_600_000;
/** The full comparison is daily; it may take a while. */
const FULL_MS = 26 * HOUR_MS;
/** A bounded comparison may be late by so many of its intervals. */
const LATE = 4;

/** Judges who can approve what others make. */
export function judgePeople(
  { administrators }: Pick<DatabaseFacts, "administrators">,
  { duties }: Pick<Config, "duties">,
): Finding {
  const point = "administrators";
  if (!administrators.ok) return unknown(point, administrators.reason);
  const approving = administrators.value.filter(({ permissions }) =>
    holds(permissions, "admin:payments")
  );
  const another = "deno task admin bootstrap another, by the second person";
  if (approving.length === 0) {
    return missing(
      point,
      "no usable key may approve (admin:payments)",
      "deno task admin bootstrap",
    );
  }
  const isByPerson = duties.fourEyes === "persons";
  const hands = new Set(approving.map((key) => isByPerson ? key.administrator : key.id)).size;
  switch (duties.fourEyes) {
    case "off":
      return byHand(
        point,
        "FOUR_EYES=off: one administrator approves what he made himself",
        "FOUR_EYES=persons, and " + another,
      );
    case "keys":
      return byHand(
        point,
        "FOUR_EYES=keys: one administrator with two keys approves what he made himself",
        "FOUR_EYES=persons, and " + another,
      );
    case "persons":
      return hands > 1 ? ok(point, `${hands} administrators may approve`) : missing(
        point,
        "one administrator alone may approve: what he makes himself waits for ever",
        another,
      );
    default:
      return duties.fourEyes satisfies never;
  }
}

/** Judges what the newest comparisons of the books say. */
export function judgeBooks(
  { comparisons }: Pick<DatabaseFacts, "comparisons">,
  { reconcile }: Pick<Config, "reconcile">,
  now: number,
): readonly Finding[] {
  const point = "books";
  const mend = "deno task reconcile";
  if (!comparisons.ok) return [unknown(point, comparisons.reason)];
  const { minutes } = reconcile;
  const found: Finding[] = minutes === 0
    ? [missing(point, "RECONCILE_MINUTES is 0: nothing compares them", "RECONCILE_MINUTES=15")]
    : [];
  const newest = comparisons.value.toSorted((a, b) => b.finishedAt - a.finishedAt);
  const [latest] = newest;
  if (latest === undefined) return [...found, missing(point, "never compared", mend)];
  found.push(...newest.flatMap(resultOf));
  const full = newest.find(({ scope }) => scope === "full");
  if (full === undefined || now - full.finishedAt > FULL_MS) {
    const since = full === undefined ? "never" : `last at ${timeOf(full)}`;
    found.push(missing(point, `compared in full: ${since}`, mend));
  }
  if (minutes > 0 && now - latest.finishedAt > Math.max(HOUR_MS, LATE * minutes * 60_000)) {
    found.push(
      missing(point, `last compared at ${timeOf(latest)}`, `start the service, or ${mend}`),
    );
  }
  return orWell(found, point, `no difference, last compared at ${timeOf(latest)}`);
}

function resultOf(report: ComparisonFacts): readonly Finding[] {
  const what = `the ${report.scope} comparison of ${timeOf(report)}`;
  if (report.differences > 0) {
    return [
      missing(
        "books",
        `${what} found ${report.differences} differences`,
        "deno task admin reports",
      ),
    ];
  }
  if (report.unchecked > 0) {
    return [
      missing(
        "books",
        `${what} left ${report.unchecked} rules out`,
        "deno task admin reports has the reasons",
      ),
    ];
  }
  return [];
}

function timeOf({ finishedAt }: ComparisonFacts): string {
  return new Date(finishedAt).toISOString();
}
