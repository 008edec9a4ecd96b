/**
 * Answers of `deno task admin doctor`: one line for each point of the checklist "Before the first real
 * money" in docs/operations.md.
 *
 * @module
 */

/** The points, in the order of the page. */
export const POINTS = [
  "environment",
  "settings",
  "secrets",
  "data folder",
  "tls",
  "proxies",
  "listening",
  "operators",
  "reference",
  "descriptors",
  "database",
  "database tls",
  "connections",
  "schema",
  "database environment",
  "clock",
  "callback secrets",
  "wallet",
  "wallet of the database",
  "users",
  "signer",
  "caps",
  "nodes",
  "contracts",
  "proof nodes",
  "cold wallet",
  "exchange rates",
  "books",
  "administrators",
  "readiness",
  "backups",
  "signer's machine",
  "alarms",
  "audit",
  "rehearsal",
] as const;

/** One of {@linkcode POINTS}. */
export type Point = (typeof POINTS)[number];

/**
 * One result at a point. `missing` has to be mended first; `unknown` could not be checked now;
 * `by hand` is confirmed by a person, as no program sees it.
 */
export interface Finding {
  readonly point: Point;
  readonly state: "ok" | "missing" | "unknown" | "by hand";
  /** One line. */
  readonly text: string;
  /** The command or the setting that mends it. */
  readonly mend: string | null;
}

/** A point that is as it has to be. */
export function ok(point: Point, text: string): Finding {
  return { point, state: "ok", text, mend: null };
}

/** A point that is not, with the way to mend it. */
export function missing(point: Point, text: string, mend: string): Finding {
  return { point, state: "missing", text, mend };
}

/** A point that cannot be checked before something else is mended. */
export function unknown(point: Point, reason: string): Finding {
  return { point, state: "unknown", text: reason, mend: null };
}

/** A point that a person confirms. */
export function byHand(point: Point, text: string, mend: string | null = null): Finding {
  return { point, state: "by hand", text, mend };
}

/** Names faults of a point, each with the way to mend it; `false` stands for one that is not there. */
export function faultsOf(
  point: Point,
  faults: readonly (false | readonly [text: string, mend: string])[],
): readonly Finding[] {
  return faults.flatMap((fault) => fault === false ? [] : [missing(point, ...fault)]);
}

/** The findings where there are any, otherwise that all is well. */
export function orWell(found: readonly Finding[], point: Point, text: string): readonly Finding[] {
  return found.length > 0 ? found : [ok(point, text)];
}

/** A finding as one line. */
export function lineOf({ point, state, text, mend }: Finding): string {
  const line = mend === null ? text : `${text} -> ${mend}`;
  return `${state.padEnd(8)} ${point.padEnd(22)} ${line.replaceAll(/\s+/g, " ").trim()}`;
}

/** True where real money can come: nothing is missing, and everything could be checked. */
export function isReady(findings: readonly Finding[]): boolean {
  return findings.every(({ state }) => state === "ok" || state === "by hand");
}
