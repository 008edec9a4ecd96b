import { assert, assertEquals } from "@std/assert";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

const ROWS = 60;
/** All rows together are more than the buffers of both ends of a connection hold. */
const NOTE = "x".repeat(250_000);
/** Bytes that a socket and the driver hold at most beyond what may be read: a chunk each. */
const ON_THE_WAY = 4 * 65_536;

test("a large list is read at a pace beside others, whole or not at all", async () => {
  const { testApi } = await import("../support/api.ts");
  const { connect } = await import("../../ledger/database/connect.ts");
  const { ReadPace, UNPACED_BYTES } = await import("../../ledger/database/read_pace.ts");
  const { ReadSlots } = await import("../../api/http/read_slots.ts");
  await using api = await testApi();
  let go = Promise.withResolvers<void>();
  let readOn = Promise.withResolvers<void>();
  const pace = new ReadPace(() => {
    readOn.resolve();
    return go.promise;
  });
  const reads = connect(api.databaseUrl, { max: 2, pace, applicationName: "paced" });
  const pools = {
    requests: api.sql,
    pages: api.sql,
    reads,
    operators: api.sql,
    slots: new ReadSlots({ slots: 2, perMerchant: 1, waitMs: 60_000 }),
  };
  await using front = await testApi({ sql: api.sql, merchants: api.journal, pools });
  const merchant = await api.addMerchant("100");
  const well = await api.addMerchant("100");
  const body = { amount: "1", currency: "USDT", network: "TRX", source: "by hand" };
  for (let i = 0; i < ROWS; i++) {
    const made = await front.call("POST", "/api/deposits", { key: merchant.key, body });
    assertEquals(made.status, 201, JSON.stringify(made.body));
  }
  await api.sql`
    UPDATE book.deposit SET metadata = ${api.sql.json({ note: NOTE })}
    WHERE merchant_id = ${merchant.id} AND source = 'by hand'`;

  // no more is read than a bound while it is not this connection's turn
  let read = 0;
  const reading = reads`SELECT metadata::text AS note FROM book.deposit
    WHERE merchant_id = ${merchant.id}`.forEach(({ note }) => read += note.length);
  await readOn.promise;
  for (let i = 0; i < 20; i++) await api.sql`SELECT`;
  assert(read <= UNPACED_BYTES + ON_THE_WAY, `${read} bytes were read`);
  go.resolve();
  await reading;
  assert(read >= ROWS * NOTE.length);
  assert(pace.turns >= (read - UNPACED_BYTES - ON_THE_WAY) / 65_536, `${pace.turns} turns`);
  const { turns } = pace;

  // others read beside it, and an answer whose reading fails halfway is an error, nothing else
  [go, readOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const list = () => front.call("GET", "/api/deposits?limit=100", { key: merchant.key });
  const broken = list();
  await readOn.promise;
  for (const path of ["/api/deposits", "/api/transactions", "/api/balance"]) {
    assertEquals((await front.call("GET", path, { key: well.key })).status, 200, path);
  }
  await api.sql`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'paced'`;
  go.resolve();
  const failed = await broken;
  assertEquals(failed.status, 503);
  assertEquals([failed.body.error, failed.body.deposits], ["Service unavailable", undefined]);
  assert(pace.turns > turns);

  const whole = await list();
  assertEquals(whole.status, 200);
  assertEquals(whole.body.pagination.total, whole.body.deposits.length);
  const notes = whole.body.deposits.filter(({ metadata }: { metadata: { note?: string } }) =>
    metadata.note === NOTE
  );
  assertEquals(notes.length, ROWS);
  await reads.end({ timeout: 1 });
});
