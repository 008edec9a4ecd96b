import { assert, assertEquals } from "@std/assert";
import { testNeedingDebianPostgres } from "../support/debian_postgres.ts";

const test = testNeedingDebianPostgres();

test("migrations apply to Debian's PostgreSQL with its default settings, and a withdrawal goes its whole way", async () => {
  const { privateCluster } = await import("../support/private_cluster.ts");
  const { addMerchant, amount, booksFaults, fund, openJournal, reserveCommand, until } =
    await import("../support/books.ts");
  const { commitSigned } = await import("../support/commit_signed.ts");
  const { findOwnTransactions, recordOutcomes } = await import(
    "../../ledger/watcher/record_outcomes.ts"
  );
  await using cluster = await privateCluster({ binaries: "debian" });
  const admin = cluster.connect({ max: 1 });
  const differing = await admin<{ name: string }[]>`
    SELECT name FROM pg_settings WHERE sourcefile LIKE '%/engine.conf' ORDER BY name`;
  assertEquals(differing.map(({ name }) => name), [
    "listen_addresses",
    "port",
    "unix_socket_directories",
  ]);

  const sql = cluster.connect({ max: 4, looksUpOnly: true });
  const journal = openJournal(sql);
  const merchantId = await addMerchant(admin);
  await fund(admin, journal, merchantId, "100");
  const command = reserveCommand();
  const { withdrawalId, outgoingId } = command;
  assertEquals((await journal.ask(merchantId, command, 60_000)).kind, "done");
  const txid = "a".repeat(64);
  const expiresAt = Date.now() + 60_000;
  await commitSigned(sql, [
    { outgoingId, merchantId, network: "TRX", txid, bytes: "{}", expiresAt },
  ]);
  const [own] = await findOwnTransactions(sql, "TRX", [txid]);
  assert(own !== undefined);
  await recordOutcomes(sql, "TRX", [
    { own, result: "paid", reason: null, height: 9, fee: amount("6") },
  ]);
  journal.wake(merchantId);
  await until(async () => {
    const [row] = await sql`
      SELECT FROM book.withdrawal WHERE id = ${withdrawalId} AND status = 'CONFIRMED'`;
    return row !== undefined;
  });
  const [row] = await sql`
    SELECT b.available::text, b.reserved::text FROM book.withdrawal w
    JOIN book.balance b USING (merchant_id) WHERE w.id = ${withdrawalId}`;
  assertEquals(row, {
    available: "88.000000000000000000",
    reserved: "0.000000000000000000",
  });
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});
