import { assertEquals, assertGreater } from "@std/assert";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** Documents and polls of hosted pages that are asked for at the same time, of each page. */
const LOOKS = 6;
/**
 * Bounds of a page's statement, and of the wait for its place, milliseconds: shorter than a service's, and
 * longer than the answers of others take that are asked for meanwhile.
 */
const STATEMENT_MS = 3_000;
const PLACE_MS = 2_000;

test("slow hosted pages cost what comes with a key nothing, and are given up with 503", async () => {
  const { testApi } = await import("../support/api.ts");
  const { SOMEWHERE, until } = await import("../support/books.ts");
  const { SharedPlaces } = await import("../../api/http/shared_places.ts");
  const { ReadSlots } = await import("../../api/http/read_slots.ts");
  const { connect } = await import("../../ledger/database/connect.ts");
  await using api = await testApi();
  const open = (max: number, statementTimeoutMs: number) =>
    connect(api.databaseUrl, { max, statementTimeoutMs });
  const pools = {
    requests: open(2, STATEMENT_MS),
    pages: open(2, STATEMENT_MS),
    reads: open(2, 30_000),
    operators: open(2, 30_000),
  };
  const pagePlaces = new SharedPlaces({ slots: 4, perMerchant: 2, waitMs: PLACE_MS });
  await using front = await testApi({
    sql: api.sql,
    merchants: api.journal,
    pools: { ...pools, slots: new ReadSlots({ slots: 2, perMerchant: 1, waitMs: 60_000 }) },
    pagePlaces,
  });
  const { key } = await api.addMerchant("100");
  const tokens = await Promise.all(["alice", "bob", "carol"].map(async (identifier) => {
    const body = { network: "TRX", identifier };
    return (await api.call("POST", "/api/deposit-url", { key, body })).body.sessionToken;
  }));
  const document = (token: string) => `/deposit/${token}`;
  const status = (token: string) => `/api/deposit-page/status?token=${token}`;
  // they are known pages from now on
  for (const token of tokens) {
    assertEquals((await front.call("GET", document(token))).status, 200);
  }

  const locking = await api.sql.reserve();
  await locking`BEGIN`;
  await locking`LOCK TABLE hub.session IN ACCESS EXCLUSIVE MODE`;
  try {
    let answered = 0;
    const looks = tokens.flatMap((token) =>
      [document, status].flatMap((path) =>
        Array.from({ length: LOOKS }, async () => {
          const answer = await front.call("GET", path(token));
          answered++;
          return answer;
        })
      )
    );
    await until(async () => {
      const [row] = await api.sql`
        SELECT count(*)::int AS n FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      return row?.n >= 2;
    });
    const during = [
      await front.call("GET", "/api/balance", { key }),
      await front.call("POST", "/api/withdrawals", {
        key,
        body: { amount: "5", currency: "USDT", network: "TRX", destination: SOMEWHERE },
      }),
    ];
    assertEquals(during.map((answer) => answer.status), [200, 201]);
    assertEquals(answered, 0, "the pages still wait");

    const answers = await Promise.all(looks);
    for (const { status, headers } of answers) {
      assertEquals([status, headers.has("retry-after")], [503, true]);
    }
    assertGreater(pagePlaces.figures.refused, 0);
    assertEquals(pagePlaces.figures.underWay, 0);
  } finally {
    await locking`ROLLBACK`;
    locking.release();
  }
  for (const token of tokens) {
    assertEquals((await front.call("GET", document(token))).status, 200);
    assertEquals((await front.call("GET", status(token))).body, { status: "waiting" });
  }
  await Promise.all(Object.values(pools).map((pool) => pool.end({ timeout: 1 })));
});
