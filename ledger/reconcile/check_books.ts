import { logEvent } from "../../log/log_event.ts";
import { classifyDatabaseError } from "../database/database_errors.ts";
import type { Sql } from "../database/connect.ts";
import { BALANCE_CHECKS } from "./compare_balances.ts";
import { LIST_CHECKS } from "./compare_lists.ts";
import { PAYMENT_CHECKS } from "./compare_payments.ts";
import type { BookCheck, Difference, ReconcileScope } from "./difference.ts";
import { cutBooks, nameSlices, type Slice, type SlicedBy, WHOLE } from "./slices.ts";

/** PostgreSQL's code of a statement that was given up, for its bound on time among others. */
const QUERY_CANCELED = "57014";

/** Differences shown per check; more of them say nothing new. */
const MOST_DIFFERENCES = 100;

/** Rows of a list in one part of a rule. */
const SLICE_ROWS = 250_000;
/**
 * Bound of the statement that compares a part (a part that is one large merchant has as many times of
 * it), and of one that compares a whole rule.
 */
const SLICE_MS = 60_000;
const WHOLE_MS = 10 * 60_000;
/** Time after which no further part of a rule is begun. */
const RULE_MS = 60 * 60_000;
/** Memory of one sort or sum, so that a part needs no temporary files; one statement runs at a time. */
const WORK_MEM = "64MB";

const CHECKS = [...BALANCE_CHECKS, ...PAYMENT_CHECKS, ...LIST_CHECKS];

/** One comparison of the books with themselves. */
export interface BookResult {
  /** The rule, as a sentence. */
  readonly rule: string;
  /** Empty: it holds. */
  readonly differences: readonly Difference[];
  /** Reason why it, or a part of it, could not be compared; null: all of it was. */
  readonly unchecked: string | null;
}

/** Progress of a comparison. */
export interface CheckProgress {
  readonly rule: string;
  /** Parts of the rule that were compared, and all of them. */
  readonly done: number;
  readonly parts: number;
}

/** Options of {@linkcode checkBooks}. */
export interface CheckOptions {
  /** Called before each part of a rule. */
  readonly onProgress?: (progress: CheckProgress) => void;
  /** Rows of a part, about; a multiple of 250. Default 250,000. */
  readonly sliceRows?: number;
  /** Bound of a part's statement, milliseconds; default a minute. */
  readonly sliceMs?: number;
  /** Time after which no further part of a rule is begun, milliseconds; default an hour. */
  readonly ruleMs?: number;
  /** Part with which a rule begins, as a share of them from 0 to below 1; default random. */
  readonly firstPart?: number;
}

/**
 * Compares the books with themselves; may run beside a working service. A rule that relates rows of
 * one merchant or of one payment is compared part by part. Each part is one statement and so true of one
 * instant; no snapshot is kept for longer than that, as nothing that was changed since it was taken
 * can be vacuumed.
 *
 * @param sql a pool without a short limit on the time of a statement: sums are made of whole tables
 */
export async function checkBooks(
  sql: Sql,
  scope: ReconcileScope = "full",
  options: CheckOptions = {},
): Promise<readonly BookResult[]> {
  const cuts = new Map<SlicedBy, readonly Slice[]>();
  const slicesOf = async ({ by }: BookCheck): Promise<readonly Slice[]> => {
    if (by === undefined) return [WHOLE];
    const known = cuts.get(by);
    if (known !== undefined) return known;
    const found = await sql.begin(
      "READ ONLY",
      (tx) => cutBooks(tx, by, options.sliceRows ?? SLICE_ROWS),
    );
    cuts.set(by, found);
    return found;
  };
  const results: BookResult[] = [];
  for (const check of CHECKS.filter(({ scopes }) => scopes.includes(scope))) {
    results.push(await compareParts(sql, check, () => slicesOf(check), options));
  }
  return results;
}

/**
 * Compares one rule; where the server gives parts up for their length, or it breaks, others go on. It
 * begins anywhere among its parts: where time ends it early, again and again, no part is always left out.
 */
async function compareParts(
  sql: Sql,
  check: BookCheck,
  slicesOf: () => Promise<readonly Slice[]>,
  { onProgress, sliceMs, ruleMs = RULE_MS, firstPart = Math.random() }: CheckOptions,
): Promise<BookResult> {
  const { rule } = check;
  const differences: Difference[] = [];
  let unchecked: string | null = null;
  try {
    const slices = await slicesOf();
    const first = Math.floor(firstPart * slices.length);
    const order = [...slices.slice(first), ...slices.slice(0, first)];
    const end = performance.now() + ruleMs;
    const givenUp = new Set<Slice>();
    const untried = new Set<Slice>();
    for (const [done, slice] of order.entries()) {
      if (done > 0 && performance.now() > end) {
        untried.add(slice);
        continue;
      }
      onProgress?.({ rule, done, parts: slices.length });
      const found = await compareSlice(sql, check, slice, sliceMs);
      differences.push(...found ?? []);
      if (found === null) givenUp.add(slice);
      if (differences.length >= MOST_DIFFERENCES) break;
    }
    unchecked = tellUncompared(slices, givenUp, untried);
  } catch (error) {
    // without its connection nothing can be read
    if (classifyDatabaseError(error) === "connection") throw error;
    logEvent("reconcile.books_rule_broke", { rule, error });
    unchecked = `comparing broke: ${error instanceof Error ? error.message : String(error)}`;
  }
  return { rule, differences: differences.slice(0, MOST_DIFFERENCES), unchecked };
}

/** Tells which parts were not compared, those that follow each other as one; null: none. */
function tellUncompared(
  slices: readonly Slice[],
  givenUp: ReadonlySet<Slice>,
  untried: ReadonlySet<Slice>,
): string | null {
  if (givenUp.size + untried.size === 0) return null;
  if (slices.length === 1) return "it takes longer than a statement may";
  const runs: { first: Slice; last: Slice; index: number }[] = [];
  for (const [index, slice] of slices.entries()) {
    if (!givenUp.has(slice) && !untried.has(slice)) continue;
    const run = runs.at(-1);
    if (run?.index === index - 1) Object.assign(run, { last: slice, index });
    else runs.push({ first: slice, last: slice, index });
  }
  const reasons = [
    ...givenUp.size > 0 ? [`${givenUp.size} took longer than a statement may`] : [],
    ...untried.size > 0 ? [`${untried.size} were not tried for want of time`] : [],
  ];
  const names = runs.map(({ first, last }) => nameSlices(first, last));
  return `of its ${slices.length} parts ${reasons.join(" and ")}: ${names.join("; ")}`;
}

/** Compares a part in a snapshot of its own; null: the server gave up for its length. */
async function compareSlice(
  sql: Sql,
  { by, query }: BookCheck,
  slice: Slice,
  sliceMs = SLICE_MS,
): Promise<readonly Difference[] | null> {
  const longest = Math.min(sliceMs * slice.weight, WHOLE_MS);
  const timeout = String(by === undefined ? WHOLE_MS : longest);
  // a part finds its rows by key: read with the whole tables each time, many parts would take days
  const scans = by === undefined ? "on" : "off";
  try {
    return await sql.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY", async (tx) => {
      await tx`
        SELECT set_config('statement_timeout', ${timeout}, true), set_config('work_mem', ${WORK_MEM}, true),
          set_config('plan_cache_mode', 'force_custom_plan', true), set_config('enable_seqscan', ${scans}, true)`;
      return await tx<Difference[]>`
        SELECT * FROM (${query(tx, slice)}) difference ORDER BY 1 LIMIT ${MOST_DIFFERENCES}`;
    });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === QUERY_CANCELED) return null;
    throw error;
  }
}
