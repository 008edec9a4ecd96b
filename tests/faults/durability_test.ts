import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Sql } from "../../ledger/database/connect.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** Names a standby that is away, so that commits wait; or no standby any more. */
async function awaitStandby(admin: Sql, name: string): Promise<void> {
  await admin.unsafe(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
  await admin`SELECT pg_reload_conf()`;
  await eventually(async () => {
    const [row] = await admin<{ names: string }[]>`
      SELECT current_setting('synchronous_standby_names') AS names`;
    return row?.names === name;
  });
}

/** Cancels the wait of every commit whose statement is like this. @returns how many */
async function cancelWaits(admin: Sql, like: string): Promise<number> {
  let count = 0;
  await eventually(async () => {
    const rows = await admin`
      SELECT pg_cancel_backend(pid) FROM pg_stat_activity
      WHERE wait_event = 'SyncRep' AND query LIKE ${like}`;
    return (count = rows.length) > 0;
  });
  return count;
}

async function eventually(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 120_000;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error("Cannot wait any longer");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("a commit that only this server has is acknowledged when the standby has it, not before", async () => {
  const { privateCluster } = await import("../support/private_cluster.ts");
  const { addMerchant, booksFaults, fund, openJournal, reserveCommand } = await import(
    "../support/books.ts"
  );
  const { confirmDurable } = await import("../../ledger/database/confirm_durable.ts");
  const { classifyDatabaseError } = await import(
    "../../ledger/database/database_errors.ts"
  );
  await using cluster = await privateCluster();
  const sql = cluster.connect({ max: 4, looksUpOnly: true });
  const admin = cluster.connect({ max: 1 });
  const journal = openJournal(sql);
  const merchantId = await addMerchant(admin);
  await fund(admin, journal, merchantId, "100");
  await awaitStandby(admin, "away");
  const answer = journal.ask(merchantId, reserveCommand(), 60_000);
  let kind: string | null = null;
  answer.then((outcome) => kind = outcome.kind);
  await cancelWaits(admin, "%commit_batch%");
  // what finds out about it waits for the standby as well, and is cancelled, too
  await cancelWaits(admin, "%resolve_commit%");
  await cancelWaits(admin, "%resolve_commit%");
  assertEquals(kind, null, "nothing is told while only this server has it");

  // outside the journal: unknown, and confirmed by nothing but the standby
  const write = sql`UPDATE book.merchant SET name = 'Renamed' WHERE merchant_id = ${merchantId}`;
  const refused = assertRejects(() => write, Error, "synchronous standby");
  await cancelWaits(admin, "%Renamed%");
  assertEquals(classifyDatabaseError(await refused), "connection");
  let confirmed = false;
  const confirming = confirmDurable(sql).then(() => confirmed = true);
  await eventually(async () => {
    const rows = await admin`
      SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%emit_message%'`;
    return rows.length > 0;
  });
  assertEquals(confirmed, false);

  await awaitStandby(admin, "");
  assertEquals((await answer).kind, "done");
  await confirming;
  assertEquals(await booksFaults(admin), []);
  await journal.stop(1_000);
});

test("what was acknowledged is there after a power cut, whatever the server's default", async () => {
  const { privateCluster } = await import("../support/private_cluster.ts");
  const { addMerchant, fund, openJournal, reserveCommand } = await import("../support/books.ts");
  await using cluster = await privateCluster({
    settings: { synchronous_commit: "off", wal_writer_delay: "10s" },
  });
  const sql = cluster.connect({ max: 4, looksUpOnly: true });
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "1000");
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) {
    const command = reserveCommand();
    const outcome = await journal.ask(merchantId, command, 60_000);
    assertEquals(outcome.kind, "done");
    ids.push(command.withdrawalId);
  }
  await cluster.kill9();
  await cluster.restart();
  const again = cluster.connect({ max: 1 });
  const rows = await again`SELECT id FROM book.withdrawal WHERE id = ANY (${ids}::text[])`;
  assertEquals(rows.length, ids.length);
  await journal.stop(1_000);
});

test("outside development a server that may lose what it acknowledged is refused", async () => {
  const { privateCluster } = await import("../support/private_cluster.ts");
  const { openDatabase } = await import("../../app/open/open_database.ts");
  const { Secret } = await import("../../app/config/secret.ts");
  await using cluster = await privateCluster({
    migrated: false,
    settings: { fsync: "off", full_page_writes: "off" },
  });
  const settings = { dataDir: "", databaseUrl: new Secret(cluster.url), databasePool: 8 };
  const error = await assertRejects(
    () => openDatabase({ ...settings, environment: "production" }),
    Error,
  );
  assert(error.message.includes("fsync is not on, full_page_writes is not on"), error.message);
  assert(!error.message.includes("\n"));
  const database = await openDatabase({ ...settings, environment: "development" });
  await database.close();
});
