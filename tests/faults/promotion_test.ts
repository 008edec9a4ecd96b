import { assertEquals, assertLess } from "@std/assert";
import type { Sql } from "../../ledger/database/connect.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** Within this a withdrawal must be acknowledged after a promotion; 5 s are wanted, and printed. */
const BOUND_MS = 120_000;

/** Connection string of several servers, in this order. */
function urlOf(...urls: readonly string[]): string {
  const [first = ""] = urls;
  const hosts = urls.map((url) => new URL(url).host).join(",");
  return `${first.replace(new URL(first).host, hosts)}?target_session_attrs=read-write`;
}

/** Withdraws from one account without a pause, until it is stopped. */
async function startWithdrawing(admin: Sql, sql: Sql) {
  const { addMerchant, fund, openJournal, reserveCommand } = await import("../support/books.ts");
  const journal = openJournal(sql);
  const merchantId = await addMerchant(admin);
  await fund(admin, journal, merchantId, "1000000");
  const acknowledged: { readonly id: string; readonly at: number }[] = [];
  const others = new Map<string, number>();
  let isStopped = false;
  const withdraw = async () => {
    while (!isStopped) {
      const command = reserveCommand();
      const { kind } = await journal.ask(merchantId, command, 3_000);
      if (kind === "done") acknowledged.push({ id: command.withdrawalId, at: performance.now() });
      else others.set(kind, (others.get(kind) ?? 0) + 1);
    }
  };
  const clients = [withdraw(), withdraw()];
  return {
    acknowledged,
    others,
    /** Milliseconds from a moment until the first acknowledgement after it. */
    firstAfter: async (since: number): Promise<number> => {
      for (;;) {
        const first = acknowledged.find(({ at }) => at > since);
        if (first !== undefined) return first.at - since;
        assertLess(performance.now() - since, BOUND_MS, "nothing is acknowledged");
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    stop: async () => {
      isStopped = true;
      await Promise.all(clients);
      await journal.stop(1_000);
    },
  };
}

/** Acknowledged withdrawals that a server does not have. */
async function absentIn(sql: Sql, ids: readonly string[]): Promise<number> {
  const rows = await sql`SELECT id FROM book.withdrawal WHERE id = ANY (${[...ids]}::text[])`;
  return ids.length - rows.length;
}

test("a promotion is followed without a proxy, and nothing acknowledged is absent", async () => {
  const { connect } = await import("../../ledger/database/connect.ts");
  const { privateCluster } = await import("../support/private_cluster.ts");
  const { startStandby } = await import("../support/standby.ts");
  const { booksFaults } = await import("../support/books.ts");
  await using primary = await privateCluster();
  await using standby = await startStandby(primary, { synchronous: true });
  // the standby is named first: it answers, and is not taken
  const sql = connect(urlOf(standby.url, primary.url), { max: 4, looksUpOnly: true });
  const load = await startWithdrawing(primary.connect({ max: 1 }), sql);
  await load.firstAfter(performance.now());
  await primary.kill9();
  await standby.promote();
  const promotedAt = performance.now();
  const served = await load.firstAfter(promotedAt);
  await load.stop();
  const promoted = standby.connect({ max: 1 });
  // deno-lint-ignore no-console -- measured figures
  console.log("first 201 after the promotion, ms:", Math.round(served), [...load.others]);
  assertEquals(await absentIn(promoted, load.acknowledged.map(({ id }) => id)), 0);
  assertEquals(await booksFaults(promoted), []);
  await sql.end({ timeout: 1 });
});

test("a primary that only vanishes from the network is left for the promoted one, for good", async () => {
  const { connect } = await import("../../ledger/database/connect.ts");
  const { privateCluster } = await import("../support/private_cluster.ts");
  const { startStandby } = await import("../support/standby.ts");
  const { openSwallowingProxy } = await import("../support/swallowing_proxy.ts");
  await using primary = await privateCluster();
  await using standby = await startStandby(primary, { synchronous: true });
  await using proxy = openSwallowingProxy(primary.url);
  // no silence is long enough here: what counts is that another one became the primary
  const sql = connect(urlOf(proxy.url, standby.url), {
    max: 4,
    looksUpOnly: true,
    silenceMs: 10 * BOUND_MS,
  });
  const load = await startWithdrawing(primary.connect({ max: 1 }), sql);
  await load.firstAfter(performance.now());
  proxy.swallow();
  await standby.promote();
  const promotedAt = performance.now();
  const served = await load.firstAfter(promotedAt);
  // deno-lint-ignore no-console -- measured figures
  console.log("first 201 after the promotion, ms:", Math.round(served), [...load.others]);
  // the former primary can be reached again, and still takes writes
  proxy.restore();
  const promoted = standby.connect({ max: 1 });
  await promoted`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND application_name = 'engine'`;
  await load.firstAfter(performance.now());
  await load.stop();
  assertEquals(await absentIn(promoted, load.acknowledged.map(({ id }) => id)), 0);
  await sql.end({ timeout: 1 });
});
