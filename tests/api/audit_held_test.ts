import { assertEquals } from "@std/assert";
import { type TestApi, testApi } from "../support/api.ts";
import { booksFaults, SOMEWHERE } from "../support/books.ts";
import { book, confirm } from "../support/duties.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const ADMIN = { permissions: ["read", "write", "payout", "admin:read", "admin:write"] };

/** Holds rows in a session that was left open. @returns lets go of them */
async function hold({ sql }: TestApi, lock: string): Promise<() => Promise<void>> {
  const connection = await sql.reserve();
  await connection`BEGIN`;
  await connection`SET LOCAL idle_in_transaction_session_timeout = 0`;
  await connection.unsafe(lock);
  return async () => {
    await connection`ROLLBACK`;
    connection.release();
  };
}

async function pay(api: TestApi, key: string): Promise<number> {
  const { status } = await api.call("POST", "/api/withdrawals", {
    key,
    body: { amount: "5", currency: "USDT", network: "TRX", destination: SOMEWHERE },
  });
  return status;
}

for (
  const { row, lock } of [
    { row: "the head of the audit", lock: "SELECT FROM hub.audit_head FOR UPDATE" },
    { row: "the duties", lock: "SELECT FROM book.duty FOR UPDATE" },
  ]
) {
  test(`a session that holds ${row} stops audited commands, each with 503, and nobody's payouts`, async () => {
    await using api = await testApi();
    const admin = await api.addKey(null, ADMIN);
    const merchants = [];
    for (let i = 0; i < 4; i++) merchants.push(await api.addMerchant("1000"));
    const keys = merchants.map(({ key }) => key);
    const deposit = await book(api, keys[0] ?? "", "5");
    const letGo = await hold(api, lock);
    // the merchant whose deposit it is pays as well
    const [confirmed, ...paid] = await Promise.all([
      confirm(api, admin, deposit),
      ...keys.map((key) => pay(api, key)),
    ]);
    assertEquals(confirmed, [503, "Service unavailable"]);
    assertEquals(paid, keys.map(() => 201));
    assertEquals(api.journal.auditLockedMs < 60_000, true);
    assertEquals([api.journal.figures.paused, api.journal.figures.quarantined], [0, 0]);
    assertEquals(await confirm(api, admin, deposit), [503, "Service unavailable"]);
    await letGo();
    const until = performance.now() + 60_000;
    let again = await confirm(api, admin, deposit);
    while (again[0] === 503 && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      again = await confirm(api, admin, deposit);
    }
    assertEquals(again, [200, "CONFIRMED"]);
    assertEquals(await booksFaults(api.sql), []);
  });
}

test("an administrator's setting that cannot be audited is answered 503 and not stored", async () => {
  await using api = await testApi();
  const admin = await api.addKey(null, ADMIN);
  const letGo = await hold(api, "SELECT FROM hub.audit_head FOR UPDATE");
  const body = { settlementThresholds: { USDT: "77" } };
  const path = "/api/admin/settings";
  assertEquals((await api.call("PUT", path, { key: admin, body })).status, 503);
  await letGo();
  const kept = (await api.call("GET", path, { key: admin })).body;
  assertEquals(kept.settlementThresholds.USDT, "10000");
  assertEquals((await api.call("PUT", path, { key: admin, body })).status, 200);
});
