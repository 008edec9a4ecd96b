import { assert } from "@std/assert";
import { connect, type Sql } from "../../ledger/database/connect.ts";
import { addMerchant, booksFaults, fund, openJournal, reserveCommand } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { privateCluster } from "../support/private_cluster.ts";
import { countIndexEntries, readTableActivity, readWalBytes } from "../support/table_activity.ts";
import { openWireCounter, type WireCounter } from "../support/wire_counter.ts";

const test = testNeeding(DATABASE);

/** Withdrawals come one or {@linkcode TOGETHER} at a time, of one merchant or each of another. */
const CASES = ["hot by 1", "spread by 1", "hot by 200", "spread by 200"] as const;
type Case = (typeof CASES)[number];
type Figures = ReadonlyMap<string, number>;

/**
 * The most that an accepted withdrawal may cost, in the order of {@linkcode CASES}: each figure is divided
 * by the number of withdrawals, statements and round trips by that of batches. A figure that grows by more
 * than {@linkcode GROWTH} fails; where withdrawals became cheaper the lower figures are written down here.
 */
const KEPT: Readonly<Record<string, readonly [number, number, number, number]>> = {
  // to the database and back
  "statements": [1, 1, 1, 1],
  "round trips": [1, 1, 1, 1],
  "bytes sent": [767, 753, 373, 487],
  // what the database keeps
  "bytes of log": [4636, 4923, 3947, 4135],
  "rows": [13.03, 13, 8.049, 10],
  "rows of book.account": [1, 1, 0.005, 1],
  "rows of book.balance": [1, 1, 0.005, 1],
  "rows of book.charge": [2, 2, 2, 2],
  "rows of book.commit_log": [1, 1, 0.005, 0.005],
  "rows of book.entry": [3, 3, 3, 3],
  "rows of book.list_bucket": [0.033, 0, 0.024, 0],
  "rows of book.outgoing": [1, 1, 1, 1],
  "rows of book.system_delta": [2, 2, 0.01, 0.01],
  "rows of book.transaction": [1, 1, 1, 1],
  "rows of book.withdrawal": [1, 1, 1, 1],
  "index entries": [12.03, 12, 11.03, 11],
  "index entries of book.charge": [2, 2, 2, 2],
  "index entries of book.commit_log": [1, 1, 0.005, 0.005],
  "index entries of book.entry": [3, 3, 3, 3],
  "index entries of book.list_bucket": [0.033, 0, 0.024, 0],
  "index entries of book.outgoing": [2, 2, 2, 2],
  "index entries of book.transaction": [1, 1, 1, 1],
  "index entries of book.withdrawal": [3, 3, 3, 3],
};

/** Part of a kept figure by which it may be exceeded: ids and times are not the same in every run. */
const GROWTH = 0.02;
/** Part of a kept figure from which on it has to be written down anew: it would hide what comes next. */
const GAIN = 0.1;
/** Smaller differences are of what happens once in hundreds of withdrawals. */
const NOISE = 0.002;

const TOGETHER = 200;
/** Batches of a case, after those that only warm up. */
const BATCHES: Readonly<Record<number, number>> = { 1: 150, [TOGETHER]: 10 };
/** Figures that are divided by the number of batches. */
const OF_BATCHES: ReadonlySet<string> = new Set(["statements", "round trips"]);

test("an accepted withdrawal sends, writes and logs no more than is written down", async () => {
  await using cluster = await privateCluster({
    // images of whole pages would be counted, and they depend on when the last checkpoint was
    settings: { full_page_writes: "off", checkpoint_timeout: "1h" },
  });
  const measured = new Map<Case, Figures>();
  const merchants = await fundedMerchants(cluster.connect({ max: 4 }));
  await using counter = openWireCounter(cluster.url);
  // the statistics of one connection are known at once
  const sql = connect(counter.url, { max: 1, looksUpOnly: true });
  const journal = openJournal(sql);
  let orders = 0;
  const withdraw = async (which: Case, batches: number) => {
    const together = which.endsWith("by 1") ? 1 : TOGETHER;
    for (let batch = 0; batch < batches; batch++) {
      const outcomes = await Promise.all(
        Array.from({ length: together }, (_, i) => {
          const n = which.startsWith("hot") ? 0 : (batch * together + i) % merchants.length;
          const referenceId = `order-${String(++orders).padStart(9, "0")}`;
          return journal.ask(merchants[n] ?? "", reserveCommand({ referenceId }), 60_000);
        }),
      );
      assert(outcomes.every(({ kind }) => kind === "done"));
    }
    return batches * together;
  };
  for (const which of CASES) {
    // plans, caches and the first row of every list
    await withdraw(which, which.endsWith("by 1") ? TOGETHER : 2);
    const before = await readFigures(sql, counter);
    const batchesBefore = journal.figures.batches;
    const batches = BATCHES[which.endsWith("by 1") ? 1 : TOGETHER] ?? 0;
    const withdrawals = await withdraw(which, batches);
    const wire = counter.counts();
    assert(
      journal.figures.batches - batchesBefore === batches,
      "other batches than were asked for",
    );
    const after = await readFigures(sql, counter, wire);
    measured.set(
      which,
      new Map([...after].map(([name, n]) => {
        const of = OF_BATCHES.has(name) ? batches : withdrawals;
        return [name, (n - (before.get(name) ?? 0)) / of];
      })),
    );
  }
  await journal.stop(1_000);
  await sql.end({ timeout: 5 });
  assert((await booksFaults(cluster.connect({ max: 2 }))).length === 0);
  const faults = [...faultsOf(measured)];
  assert(
    faults.length === 0,
    `${faults.join("\n")}\n\nAs measured:\n${lines(measured).join("\n")}`,
  );
});

/** Tables that each batch of payouts begins an INSERT for, with the bytes of their stored CHECK constraints. */
const CHECKS: Readonly<Record<string, number>> = {
  "book.charge": 2_712,
  "book.entry": 2_860,
  "book.outgoing": 12_304,
  "book.transaction": 3_090,
  "book.withdrawal": 8_157,
};

test("a batch of payouts prepares no longer CHECK constraints than are written down", async () => {
  await using database = await testDatabase();
  const rows = await database.sql<{ name: string; bytes: number }[]>`
    SELECT conrelid::regclass::text AS name, sum(length(conbin::text))::int AS bytes FROM pg_constraint
    WHERE contype = 'c' AND conrelid = ANY (${Object.keys(CHECKS)}::regclass[]) GROUP BY 1`;
  const dearer = rows.filter(({ name, bytes }) => bytes > (CHECKS[name] ?? 0) * (1 + GROWTH));
  assert(rows.length === Object.keys(CHECKS).length);
  // PostgreSQL reads and plans each of them anew for every INSERT: a list is one array, an amount is numeric
  assert(dearer.length === 0, `Longer than is written down: ${JSON.stringify(dearer)}`);
});

test("a figure that grew, one that fell far and one that is new are each named", () => {
  const figures = (n: number) => new Map(CASES.map((which) => [which, new Map([["bytes", n]])]));
  const kept = { bytes: [100, 100, 100, 100] } as const;
  assert([...faultsOf(figures(101), kept)].length === 0);
  assert([...faultsOf(figures(103), kept)].length === 4);
  assert(
    [...faultsOf(figures(80), kept)].every((fault) => fault.includes("write the lower figure")),
  );
  assert([...faultsOf(figures(1), {})].length === 4);
});

async function fundedMerchants(sql: Sql): Promise<readonly string[]> {
  const journal = openJournal(sql);
  const merchants = await Promise.all(Array.from({ length: TOGETHER }, () => addMerchant(sql)));
  await Promise.all(merchants.map((merchantId) => fund(sql, journal, merchantId, "1000000000")));
  await journal.stop(1_000);
  // what its backends have written is counted when they end
  await sql.end({ timeout: 5 });
  return merchants;
}

/** Everything that is counted, by name. */
async function readFigures(
  sql: Sql,
  counter: WireCounter,
  wire?: ReturnType<WireCounter["counts"]>,
): Promise<Figures> {
  const wal = await readWalBytes(sql);
  const figures = new Map<string, number>();
  for (const { table, rows, movedRows } of await readTableActivity(sql)) {
    figures.set(`rows of ${table}`, rows);
    figures.set("rows", (figures.get("rows") ?? 0) + rows);
    figures.set(
      "changes that left their page",
      (figures.get("changes that left their page") ?? 0) + movedRows,
    );
  }
  for (const [table, entries] of await countIndexEntries(sql)) {
    figures.set(`index entries of ${table}`, entries);
    figures.set("index entries", (figures.get("index entries") ?? 0) + entries);
  }
  const { statements, roundTrips, bytesSent } = wire ?? counter.counts();
  return figures.set("bytes of log", wal).set("statements", statements)
    .set("round trips", roundTrips).set("bytes sent", bytesSent);
}

/** One sentence for each figure that is not as it is written down. */
function* faultsOf(
  measured: ReadonlyMap<Case, Figures>,
  kept: Readonly<Record<string, readonly number[]>> = KEPT,
): Iterable<string> {
  for (const [n, which] of CASES.entries()) {
    const figures = measured.get(which) ?? new Map();
    for (const name of new Set([...Object.keys(kept), ...figures.keys()])) {
      const now = figures.get(name) ?? 0;
      const was = kept[name]?.[n] ?? 0;
      const told = `${name}, ${which}: ${short(now)}, and ${short(was)} is written down`;
      if (now > was * (1 + GROWTH) + NOISE) yield `DEARER  ${told}`;
      if (now < was * (1 - GAIN) - NOISE) yield `CHEAPER ${told}: write the lower figure down`;
    }
  }
}

/** The measured figures as they are written down. */
function lines(measured: ReadonlyMap<Case, Figures>): readonly string[] {
  const names = [...new Set([...measured.values()].flatMap((figures) => [...figures.keys()]))];
  return names.flatMap((name) => {
    const values = CASES.map((which) => measured.get(which)?.get(name) ?? 0);
    return values.every((value) => value < NOISE)
      ? []
      : [`  "${name}": [${values.map(short).join(", ")}],`];
  });
}

function short(value: number): string {
  return String(Number(value.toFixed(value < 10 ? 3 : value < 100 ? 1 : 0)));
}
