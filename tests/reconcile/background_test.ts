import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { heldOf } from "../../actors/reconcile/check_chain.ts";
import { compareAll } from "../../actors/reconcile/compare_all.ts";
import { nextHour, Reconciler } from "../../actors/reconcile/reconciler.ts";
import { rescanBlocks } from "../../actors/watcher/rescan_blocks.ts";
import { ChainUnavailable } from "../../chains/chain.ts";
import { type Amount, formatAmount } from "../../ledger/money/amount.ts";
import { checkBooks } from "../../ledger/reconcile/check_books.ts";
import { ensureJob, takeJob } from "../../ledger/reconcile/reports.ts";
import { moveCursor, readScannedRanges } from "../../ledger/watcher/cursor.ts";
import { reconcileReasons } from "../../app/health/books.ts";
import { testApi } from "../support/api.ts";
import { addMerchant, amount, fund, openJournal, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { moved, movingChain, passed } from "./support/moving_chain.ts";
import { historyOf } from "../support/scan_cursor.ts";

const test = testNeeding(DATABASE);
const pause = () => Promise.resolve();

test("what is on its way between wallets of ours is in one of them, and nothing is missing meanwhile", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "60");
  await journal.stop(1_000);
  const [row] = await sql`SELECT data ->> 'to' AS address FROM book.inbox`;
  const address = row?.["address"] as string;
  await sql`
    INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
    VALUES (${address}, 'TRX', ${merchantId}, 'adr_test', 5)`;
  const held: Record<string, Amount> = { [address]: amount("60") };
  const { at, chain } = movingChain(held);
  const compare = async (height: number) => {
    at.height = height;
    await passed(sql, height);
    return await compareAll({
      sql,
      chains: new Map([["TRX", chain]]),
      coldAddressOf: () => "cold-wallet",
      pause,
    }, { scope: "full", sparesNodes: true });
  };
  assertEquals((await compare(10)).differences, 0, "at the address");
  // swept, and from there to the cold wallet: the sum stays
  await moved(sql, { kind: "sweep", amount: "60", height: 11, destination: "hot-wallet" });
  Object.assign(held, { [address]: amount("0"), "hot-wallet": amount("60") });
  assertEquals((await compare(11)).differences, 0, "in the hot wallet");
  await moved(sql, { kind: "cold", amount: "55", height: 12, destination: "cold-wallet" });
  Object.assign(held, { "hot-wallet": amount("5"), "cold-wallet": amount("55") });
  const { differences, body } = await compare(12);
  assertEquals(differences, 0, "in the cold wallet");
  const [holding] = body.parts.find(({ network }) => network === "TRX")?.holdings ?? [];
  assertEquals([holding?.hotWallet, holding?.cold, holding?.owed, holding?.house], [
    "5",
    "55",
    "60",
    "0",
  ]);
  held["cold-wallet"] = amount("54");
  const short = await compare(12);
  assertEquals(short.differences, 1);
  const rules = short.body.parts.flatMap(({ rules }) => rules);
  assertEquals(
    rules.filter((one) => one.differences.length > 0).map(({ rule }) => rule),
    ["the wallets hold what merchants are owed"],
  );
  const nothing = amount("0");
  const one = { currency: "USDT", inFlight: nothing, owed: nothing } as const;
  const sum = heldOf({ ...one, hotWallet: amount("1"), addresses: amount("2"), cold: amount("4") });
  assertEquals(formatAmount(sum), "7");
});

test("a block that was passed unread is told, and reading it again closes the gap", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await moveCursor(sql, "TRX", "solid", null, {
    height: 9,
    hash: "h9",
    time: 0,
    previousTime: 0,
    tick: 0,
    previousTick: 0,
  });
  const to = { height: 29, hash: "h29", time: 0, previousTime: 0, tick: 0, previousTick: 0 };
  assert(
    await moveCursor(
      sql,
      "TRX",
      "solid",
      { height: 9, hash: "h9", history: await historyOf(sql) },
      to,
      20,
    ),
  );
  const gapRules = async () => {
    const found = await Promise.all([checkBooks(sql, "quick"), checkBooks(sql)]);
    return found.map((results) =>
      results.filter(({ rule }) => rule === "every solid block was read")
        .flatMap(({ differences }) => differences.map(({ subject }) => subject))
    );
  };
  assertEquals(await gapRules(), [[], []]);
  await sql`UPDATE hub.scanned_range SET last_height = 20`;
  assertEquals(await gapRules(), [["TRX blocks 21 to 29"], ["TRX blocks 21 to 29"]]);
  const chain = paperChain("TRX", {
    async *blocks(from, until) {
      for (let height = from; height <= until; height++) {
        yield {
          kind: "block",
          block: {
            height,
            parentHeight: height - 1,
            hash: `h${height}`,
            parentHash: `h${height - 1}`,
            time: 0,
            tick: 0,
            transactions: [],
            transfers: [],
          },
        };
      }
    },
  });
  const signal = AbortSignal.timeout(5_000);
  const deps = { sql, chain, network: "TRX" as const, stopped: null, wake: () => {} };
  await rescanBlocks(deps, 19, 29, signal);
  assertEquals(await gapRules(), [[], []]);
  assertEquals(await readScannedRanges(sql, "TRX"), [{ first: 10, last: 29 }]);
  // long before the scanned range: no gap, as the blocks between were never recorded as read
  await rescanBlocks(deps, 1, 3, signal);
  assertEquals(await gapRules(), [[], []]);
  await rescanBlocks(deps, 4, 9, signal);
  assertEquals(await readScannedRanges(sql, "TRX"), [{ first: 4, last: 29 }]);
});

test("the cursor cannot pass a block that was not read, nor one of another chain", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const history = await historyOf(sql);
  const at = (height: number) => ({
    height,
    hash: `h${height}`,
    time: 0,
    previousTime: 0,
    tick: 0,
    previousTick: 0,
    history,
  });
  await moveCursor(sql, "TRX", "solid", null, at(9));
  const skipped = await moveCursor(sql, "TRX", "solid", at(9), at(12), 2).catch((error: unknown) =>
    error instanceof Error ? error.message : ""
  );
  assertStringIncludes(
    String(skipped),
    "Cannot mark blocks as read as some were not: 2 of 10 to 12",
  );
  const other = { ...at(9), hash: "another" };
  assertEquals(await moveCursor(sql, "TRX", "solid", other, at(12), 3), false);
  assertEquals(await moveCursor(sql, "TRX", "solid", at(9), at(12), 3), true);
});

test("comparisons are kept, told to operators and seen in readiness; a silent node is no difference", async () => {
  await using api = await testApi();
  const { sql } = api;
  const admin = await api.addKey(null, { permissions: ["admin:read"] });
  const empty = await api.call("GET", "/api/admin/reconcile", { key: admin });
  assertEquals(empty.body, { reports: [] });
  await api.addMerchant("100");
  let now = Date.now();
  let isSilent = true;
  const { chain } = movingChain({ "hot-wallet": amount("1000") });
  const silent = {
    ...chain,
    solid: () =>
      isSilent
        ? Promise.reject(new ChainUnavailable("timeout", "Cannot ask as it is silent"))
        : chain.solid(),
  };
  const reconciler = new Reconciler({
    sql,
    chains: new Map([["TRX", silent]]),
    coldAddressOf: () => null,
    pause,
  }, { everyMs: 60_000, fullHour: 3 });
  const first = await reconciler.run("quick");
  assertEquals([first.differences, first.unchecked], [0, 1]);
  assertEquals(reconcileReasons(reconciler, now), []);
  isSilent = false;
  await passed(sql, 10);
  await sql`UPDATE book.balance SET available = available + 1`;
  const second = await reconciler.run("full");
  assert(second.differences > 0);
  const [reason] = reconcileReasons(reconciler, now);
  assertStringIncludes(reason ?? "", `found ${second.differences} differences`);
  const { body } = await api.call("GET", "/api/admin/reconcile", { key: admin });
  assertEquals(body.reports.map(({ scope }: { scope: string }) => scope), ["quick", "full"]);
  assertEquals(body.reports[1].differences, second.differences);
  await sql`UPDATE book.balance SET available = available - 1`;
  await sql`DELETE FROM book.inbox`;
  isSilent = true;
  const partial = await reconciler.run("full");
  assertEquals(partial.differences, 0);
  const [leftOut] = reconcileReasons(reconciler, now);
  assertMatch(leftOut ?? "", /^the full comparison of the books of .* left \d rules out$/);
  isSilent = false;
  await reconciler.run("full");
  assertEquals(reconcileReasons(reconciler, now), []);
  // what a bounded one has found is over when everything was compared after it, by hand too
  const report = (
    scope: "quick" | "full",
    startedAt: number,
    differences: number,
    unchecked = 0,
  ) => ({
    id: scope,
    scope,
    startedAt,
    finishedAt: startedAt + 1,
    differences,
    unchecked,
    body: { parts: [] },
  });
  const told = (...newest: ReturnType<typeof report>[]) =>
    reconcileReasons({ newest, overdueMs: 60_000, lookingMs: 0 }, now).length;
  assertEquals(told(report("quick", now - 9, 1), report("full", now - 5, 0)), 0);
  assertEquals(told(report("quick", now - 5, 1), report("full", now - 9, 0)), 1);
  assertEquals(told(report("quick", now - 9, 1), report("full", now - 5, 0, 1)), 2, "and left out");
  assertEquals(told(report("quick", now - 5, 0), report("full", now - 9, 1)), 1);
  assertStringIncludes(
    reconcileReasons(reconciler, now + 49 * 3_600_000).join(),
    "were last compared in full at",
  );
  now += 24 * 3_600_000;
  assertStringIncludes(reconcileReasons(reconciler, now).join(), "were last compared at");
  const chains = await api.call("GET", "/api/admin/chains", { key: admin });
  assertEquals(chains.body.networks[0].solid.height, 10);
});

test("a full comparison that is held up keeps no quick one waiting", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const reconciler = new Reconciler({
    sql: database.connect({ max: 4 }),
    chains: new Map(),
    coldAddressOf: () => null,
    pause,
  }, { everyMs: 1, fullHour: 3, pollMs: 20 });
  // only full comparisons read it
  const held = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const holding = sql.begin(async (tx) => {
    await tx`LOCK TABLE book.margin_day`;
    locked.resolve();
    await held.promise;
  });
  await locked.promise;
  await ensureJob(sql, "reconcile-full", 1_000);
  await reconciler.start();
  const newestOf = (scope: string) => reconciler.newest.find((one) => one.scope === scope);
  await until(() => newestOf("quick") !== undefined);
  const first = newestOf("quick")?.id;
  await until(() => newestOf("quick")?.id !== first);
  assertEquals(newestOf("full"), undefined, "it waits for what is held");
  held.resolve();
  await holding;
  await until(() => newestOf("full") !== undefined);
  reconciler.stop();
});

test("one service takes a job that is due, and it is due again later", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await ensureJob(sql, "compare", 1_000);
  await ensureJob(sql, "compare", 9_000);
  assertEquals(await takeJob(sql, "compare", 999, 5_000, 4_000), false);
  const both = await Promise.all([1, 2].map(() => takeJob(sql, "compare", 1_000, 5_000, 4_000)));
  assertEquals(both.toSorted(), [false, true]);
  assertEquals(await takeJob(sql, "compare", 5_000, 9_000, 4_000), true);
});

Deno.test("the quiet hour is the next one of the day, UTC", () => {
  const at = (text: string) => Date.parse(`2026-03-01T${text}Z`);
  assertEquals(nextHour(at("01:30:00"), 3), at("03:00:00"));
  assertEquals(nextHour(at("03:00:00"), 3), at("03:00:00") + 86_400_000);
  assertEquals(nextHour(at("23:59:59"), 0), at("00:00:00") + 86_400_000);
});
