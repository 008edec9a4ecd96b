import { assert, assertEquals, assertGreater } from "@std/assert";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** Lists that one merchant asks for at the same time. */
const LISTS = 20;
/**
 * Bounds of a list's statement, and of the wait for its turn, milliseconds: shorter than a service's, and
 * longer than the answers of others take that are asked for meanwhile.
 */
const STATEMENT_MS = 3_000;
const TURN_MS = 300;

test("a merchant's slow lists cost others nothing, and are given up with 503", async () => {
  const { testApi } = await import("../support/api.ts");
  const { SOMEWHERE } = await import("../support/books.ts");
  const { ReadSlots } = await import("../../api/http/read_slots.ts");
  const { poolReasons } = await import("../../app/health/pools.ts");
  const { poolFigures } = await import("../../ledger/database/connect.ts");
  await using api = await testApi();
  const { connect } = await import("../../ledger/database/connect.ts");
  const open = (max: number, statementTimeoutMs: number) =>
    connect(api.databaseUrl, { max, statementTimeoutMs });
  const pools = {
    requests: open(2, 10_000),
    pages: open(1, 5_000),
    reads: open(4, STATEMENT_MS),
    operators: open(2, 10_000),
  };
  const slots = new ReadSlots({ slots: 4, perMerchant: 2, waitMs: TURN_MS });
  await using front = await testApi({
    sql: api.sql,
    merchants: api.journal,
    pools: { ...pools, slots },
  });
  const slow = await api.addMerchant("100");
  const well = await api.addMerchant("100");
  const admin = await api.addKey(null, { role: "ADMIN", permissions: ["admin:read"] });

  const locking = await api.sql.reserve();
  await locking`BEGIN`;
  await locking`LOCK TABLE hub.session IN ACCESS EXCLUSIVE MODE`;
  let answered = 0;
  const lists = Array.from({ length: LISTS }, async () => {
    const answer = await front.call("GET", "/api/deposit-url", { key: slow.key });
    answered++;
    return answer;
  });
  while (poolFigures(pools.reads).statements.busy < 2) {
    await new Promise((done) => setTimeout(done, 10));
  }

  const during = {
    withdrawal: await front.call("POST", "/api/withdrawals", {
      key: well.key,
      body: { amount: "5", currency: "USDT", network: "TRX", destination: SOMEWHERE },
    }),
    ownWithdrawal: await front.call("POST", "/api/withdrawals", {
      key: slow.key,
      body: { amount: "5", currency: "USDT", network: "TRX", destination: SOMEWHERE },
    }),
    balance: await front.call("GET", "/api/balance", { key: well.key }),
    list: await front.call("GET", "/api/withdrawals", { key: well.key }),
    pairs: await front.call("GET", "/api/admin/pairs", { key: admin }),
  };
  assertEquals(
    Object.entries(during).map(([name, { status }]) => [name, status]),
    [["withdrawal", 201], ["ownWithdrawal", 201], ["balance", 200], ["list", 200], ["pairs", 200]],
  );
  assert(answered < LISTS, "the lists still wait");
  assertEquals(poolReasons(new Map(Object.entries(pools))), []);

  const answers = await Promise.all(lists);
  for (const { status, headers, body } of answers) {
    assertEquals(status, 503, JSON.stringify(body));
    assert(headers.get("retry-after") !== null);
  }
  assertGreater(slots.figures.refused, 0);
  assertEquals([slots.figures.used, slots.figures.waiting], [0, 0]);
  await locking`ROLLBACK`;
  locking.release();
  assertEquals((await front.call("GET", "/api/deposit-url", { key: slow.key })).status, 200);
  await Promise.all(Object.values(pools).map((pool) => pool.end({ timeout: 1 })));
});
