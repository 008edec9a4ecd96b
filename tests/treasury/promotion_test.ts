import { assertEquals, assertMatch } from "@std/assert";
import { connect } from "../../ledger/database/connect.ts";
import { compareHistory } from "../../ledger/failover/history.ts";
import { readSigningStop } from "../../ledger/failover/holds.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { addWallet } from "../support/wallet_row.ts";

const test = testNeeding(DATABASE);

test("a copy of the database beside it in the same cluster is another history", async () => {
  await using database = await testDatabase();
  await addWallet(database.sql, "TRX", "hot");
  assertEquals(await readSigningStop(database.sql, "TRX"), null);
  await database.sql.end({ timeout: 2 });
  const name = new URL(database.url).pathname.slice(1);
  const copyName = `${name}_copy`;
  const urlOf = (pathname: string) => Object.assign(new URL(database.url), { pathname }).href;
  const server = connect(urlOf("/postgres"), { max: 1 });
  try {
    // what a dump leaves that is restored: the same rows, in a database that is another one
    await server`CREATE DATABASE ${server(copyName)} TEMPLATE ${server(name)}`;
    const copy = connect(urlOf(`/${copyName}`), { max: 1 });
    try {
      assertMatch(await readSigningStop(copy, "TRX") ?? "", /another history/);
      assertEquals((await compareHistory(copy, "fov_1", 10)).opened, true);
    } finally {
      await copy.end({ timeout: 2 });
    }
    await server`DROP DATABASE ${server(copyName)} WITH (FORCE)`;
  } finally {
    await server.end({ timeout: 2 });
  }
});

test("a promotion is found at once, opens one hold, and nothing else does", async () => {
  const { privateCluster } = await import("../support/private_cluster.ts");
  const { startStandby } = await import("../support/standby.ts");
  await using primary = await privateCluster();
  const sql = primary.connect({ max: 2 });
  await addWallet(sql, "TRX", "hot");
  const before = await compareHistory(sql, "fov_none", 10);
  assertEquals([before.opened, before.isTold, before.newest], [false, true, null]);
  assertEquals(await readSigningStop(sql, "TRX"), null);
  await using standby = await startStandby(primary);
  await standby.catchUp();
  await primary.kill9();
  await standby.promote();
  const promoted = standby.connect({ max: 2 });
  // the control file tells the new timeline with the next checkpoint only
  assertMatch(await readSigningStop(promoted, "TRX") ?? "", /another history/);
  const notes = await Promise.all(
    ["fov_1", "fov_2"].map((id) => compareHistory(promoted, id, 10)),
  );
  assertEquals(notes.filter(({ opened }) => opened).length, 1);
  const [row] = await promoted<{ holds: number; next: number }[]>`
    SELECT (SELECT count(*)::int FROM hub.failover) AS holds, next_index AS next FROM hub.wallet`;
  assertEquals({ ...row }, { holds: 1, next: 10 });
  assertMatch(await readSigningStop(promoted, "TRX") ?? "", /not compared/);
});
