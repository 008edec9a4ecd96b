import { assertEquals, assertLess, assertRejects } from "@std/assert";
import type { Sql } from "../../ledger/database/connect.ts";
import type { PrivateCluster } from "../support/private_cluster.ts";
import type { SwallowingProxy } from "../support/swallowing_proxy.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** Bound of silence in these tests, milliseconds. */
const SILENCE_MS = 400;
/** Nothing may wait for longer, whatever else the machine does; without a bound it is for ever. */
const GIVEN_UP_MS = 120_000;

type Transport = "plain" | "TLS" | "Unix socket";

/** Runs a body for each transport against one server. */
async function overEach(
  body: (
    transport: Transport,
    proxy: SwallowingProxy,
    open: (options?: { max?: number }) => Sql,
  ) => Promise<void>,
): Promise<void> {
  const { connect } = await import("../../ledger/database/connect.ts");
  const { privateCluster } = await import("../support/private_cluster.ts");
  const { openSwallowingProxy } = await import("../support/swallowing_proxy.ts");
  const { hasOpenssl, serveTls } = await import("../support/server_certificate.ts");
  await using cluster: PrivateCluster = await privateCluster({ migrated: false });
  const transports: Transport[] = ["plain", "Unix socket"];
  if (await hasOpenssl()) {
    await serveTls(cluster);
    transports.push("TLS");
  }
  const outcomes = await Promise.allSettled(transports.map(async (transport) => {
    const folder = await Deno.makeTempDir({ prefix: "engine-socket-" });
    try {
      await using proxy = openSwallowingProxy(
        cluster.url,
        transport === "Unix socket" ? folder : undefined,
      );
      const url = transport === "TLS" ? `${proxy.url}?sslmode=require` : proxy.url;
      const pools: Sql[] = [];
      await body(transport, proxy, (options = {}) => {
        const pool = connect(url, {
          max: 1,
          silenceMs: SILENCE_MS,
          connectTimeoutMs: SILENCE_MS,
          ...options,
        });
        pools.push(pool);
        return pool;
      });
      await Promise.all(pools.map((pool) => pool.end({ timeout: 0 })));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  }));
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}

/** Asserts that something fails as with a lost connection, and in time. */
async function assertGivenUp(what: string, ask: () => Promise<unknown>): Promise<void> {
  const { classifyDatabaseError } = await import(
    "../../ledger/database/database_errors.ts"
  );
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new RangeError(`still waiting: ${what}`)), GIVEN_UP_MS);
  });
  const error = await assertRejects(() => Promise.race([ask(), late]), Error);
  clearTimeout(timer);
  assertEquals([what, classifyDatabaseError(error)], [what, "connection"], String(error));
}

/** Asserts that the pool is of use again, and soon. */
async function assertRecovers(what: string, sql: Sql): Promise<void> {
  const began = performance.now();
  for (;;) {
    try {
      const [row] = await sql<{ one: number }[]>`SELECT 1 AS one`;
      assertEquals(row?.one, 1);
      break;
    } catch (error) {
      assertLess(performance.now() - began, GIVEN_UP_MS, `${what}: ${error}`);
    }
  }
}

test("a database that falls silent costs a bounded time, whatever the transport and the phase", async () => {
  await overEach(async (transport, proxy, open) => {
    for (const phase of ["idle", "query", "transaction"] as const) {
      await fallSilent(phase, transport, proxy, open());
    }
    // 0: nothing is answered; then the greeting, TLS and the password, one answer further each time
    for (const answers of [0, 1, 2, 4]) {
      proxy.swallowAfter(answers);
      const sql = open();
      const what = `${transport}, after ${answers} answers`;
      // where the greeting took fewer answers, the silence is met by what follows
      await assertGivenUp(what, async () => {
        for (;;) await sql`SELECT 1`;
      });
      proxy.restore();
      await assertRecovers(what, sql);
    }
  });
});

async function fallSilent(
  phase: "idle" | "query" | "transaction",
  transport: Transport,
  proxy: SwallowingProxy,
  sql: Sql,
): Promise<void> {
  const what = `${transport}, ${phase}`;
  // a machine that others use may take longer than the bounds to connect
  await assertRecovers(what, sql);
  await assertGivenUp(what, async () => {
    if (phase === "transaction") {
      await sql.begin(async (tx) => {
        await tx`SELECT 1`;
        proxy.swallow();
        await tx`SELECT 2`;
      });
      return;
    }
    if (phase === "query") setTimeout(() => proxy.swallow(), 200);
    else proxy.swallow();
    await sql`SELECT pg_sleep(${phase === "query" ? 600 : 0})`;
  });
  proxy.restore();
  await assertRecovers(what, sql);
}

test("half an answer that nothing follows is no answer", async () => {
  const { connect } = await import("../../ledger/database/connect.ts");
  const { testDatabase } = await import("../support/database.ts");
  const { openSwallowingProxy } = await import("../support/swallowing_proxy.ts");
  await using database = await testDatabase({ migrated: false });
  await using proxy = openSwallowingProxy(database.url);
  const sql = connect(proxy.url, { max: 1, silenceMs: SILENCE_MS });
  await assertRecovers("half an answer", sql);
  // rows come slowly and without end, so that some of them are passed before the silence
  const rows = sql`SELECT n, repeat('x', 10000), pg_sleep(0.01) FROM generate_series(1, 1000000) n`;
  setTimeout(() => proxy.swallow(), 500);
  await assertGivenUp("half an answer", () => rows);
  await sql.end({ timeout: 0 });
});
