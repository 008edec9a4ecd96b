import { assert, assertEquals, assertLess, assertRejects } from "@std/assert";
import { ReadSlots } from "../../api/http/read_slots.ts";
import { SharedPlaces } from "../../api/http/shared_places.ts";
import { openRedeliveryPlaces } from "../../app/health/pools.ts";
import { newId } from "../../actors/runtime/ids.ts";
import { connect, type Sql } from "../../ledger/database/connect.ts";
import {
  ATTEMPTS_READ,
  listDeliveries,
  redeliverEvent,
  redeliverEvents,
} from "../../ledger/outbox/deliveries.ts";
import { resumeEndpoint } from "../../ledger/outbox/endpoint_status.ts";
import { lockEndpoint } from "../../ledger/outbox/endpoints.ts";
import { testApi } from "../support/api.ts";
import { addMerchant, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { addEvent } from "../support/hooks.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

const URL_OF_SHOP = "https://shop.example/";

/** Holds the lock of a merchant's outbox until it is let go. */
async function holdOutbox(sql: Sql, merchantId: string): Promise<() => Promise<void>> {
  const held = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const transaction = sql.begin(async (tx) => {
    await lockEndpoint(tx, merchantId);
    held.resolve();
    await end.promise;
  });
  await held.promise;
  return async () => {
    end.resolve();
    await transaction;
  };
}

test("a range in which few events match looks at a bounded number of them, and all are found", async () => {
  await using database = await testDatabase({ max: 2 });
  const { sql } = database;
  const merchantId = await addMerchant(sql, { webhookUrl: URL_OF_SHOP });
  const ids = Array.from({ length: 1_000 }, () => newId("evt")).toSorted();
  await sql`
    INSERT INTO book.outbox (id, merchant_id, payment_id, type, payload, status, created_at, delivered_at, attempts)
    SELECT id, ${merchantId}, 'dep_1', CASE WHEN i % 400 = 7 THEN 'withdrawal.failed' ELSE 'deposit.confirmed' END,
      '{}', 'DELIVERED', now(), now(), 1
    FROM unnest(${ids}::text[]) WITH ORDINALITY o(id, i)`;
  const range = {
    status: "DELIVERED",
    type: "withdrawal.failed",
    from: Date.now() - 3_600_000,
    until: Date.now() + 3_600_000,
  } as const;
  const looks: (readonly [number, string | null, boolean])[] = [];
  let after: string | undefined;
  for (let isComplete = false; !isComplete;) {
    const found = await redeliverEvents(sql, merchantId, { ...range, after }, 300, () => null);
    looks.push([found.count, found.lastId, found.isComplete]);
    ({ isComplete } = found);
    after = found.lastId ?? undefined;
  }
  assertEquals(looks, [
    [1, ids.at(299) ?? "", false],
    [1, ids.at(599) ?? "", false],
    [1, ids.at(899) ?? "", false],
    [0, null, true],
  ]);
  const rows = await sql`SELECT id FROM book.outbox WHERE status = 'PENDING' ORDER BY id`;
  assertEquals(rows.map(({ id }) => id), [ids[6], ids[406], ids[806]]);
});

/** Rows and entries of indexes that were read of the outbox, those of the one connection for transactions to the last. */
async function readSoFar(sql: Sql): Promise<number> {
  await sql.begin((tx) => tx`SELECT pg_stat_force_next_flush()`);
  const [row] = await sql<{ rows: string }[]>`
    SELECT sum(pg_stat_get_tuples_returned(oid)) AS rows FROM pg_class
    WHERE oid = 'book.outbox'::regclass OR oid IN (
      SELECT indexrelid FROM pg_index WHERE indrelid = 'book.outbox'::regclass)`;
  return Number(row?.rows);
}

test("a range reads no more rows than it looks at, of a merchant whom the planner does not know", async () => {
  await using database = await testDatabase({ max: 1 });
  const { sql } = database;
  const [known, unknown] = [
    await addMerchant(sql, { webhookUrl: URL_OF_SHOP }),
    await addMerchant(sql, { webhookUrl: URL_OF_SHOP }),
  ];
  const write = async (merchantId: string) => {
    const ids = Array.from({ length: 3_000 }, () => newId("evt"));
    await sql`
      INSERT INTO book.outbox (id, merchant_id, payment_id, type, payload, status, created_at, delivered_at, attempts)
      SELECT id, ${merchantId}, 'dep_1', 'deposit.confirmed', '{}', 'FAILED', now(), NULL, 1
      FROM unnest(${ids}::text[]) AS o(id)`;
  };
  await write(known);
  await sql`ANALYZE book.outbox`;
  await write(unknown);
  const range = { status: "FAILED", from: 0, until: Date.now() + 3_600_000 } as const;
  const before = await readSoFar(sql);
  const { count } = await redeliverEvents(sql, unknown, range, 100, () => null);
  assertEquals(count, 100);
  const read = await readSoFar(sql) - before;
  assertLess(read, 1_000);
  // what was read is counted at all
  assertLess(200, read);
});

test("a resume passes over no failed events of a merchant that is owed nothing", async () => {
  await using database = await testDatabase({ max: 1 });
  const { sql } = database;
  const merchantId = await addMerchant(sql, { webhookUrl: URL_OF_SHOP });
  const ids = Array.from({ length: 3_000 }, () => newId("evt"));
  await sql`
    INSERT INTO book.outbox (id, merchant_id, payment_id, type, payload, status, created_at, attempts)
    SELECT id, ${merchantId}, 'dep_1', 'deposit.confirmed', '{}', 'FAILED', now(), 1
    FROM unnest(${ids}::text[]) AS o(id)`;
  await sql`INSERT INTO book.event_revival (event_id, merchant_id) SELECT id, merchant_id FROM book.outbox`;
  const before = await readSoFar(sql);
  await resumeEndpoint(sql, merchantId, null);
  assertLess(await readSoFar(sql) - before, 100);
  // what is owed is looked for, and what was passed over is counted at all
  await sql`INSERT INTO book.second_chance (merchant_id, owed_from) VALUES (${merchantId}, ${
    ids[0] ?? ""
  })`;
  await resumeEndpoint(sql, merchantId, null);
  assertLess(1_000, await readSoFar(sql) - before);
});

test("of an event that was sent again and again the newest attempts are read alone", async () => {
  await using database = await testDatabase({ max: 2 });
  const { sql } = database;
  const merchantId = await addMerchant(sql, { webhookUrl: URL_OF_SHOP });
  const id = await addEvent(sql, merchantId);
  const made = ATTEMPTS_READ + 7;
  await sql`
    INSERT INTO book.delivery_attempt (event_id, number, merchant_id, outcome, duration_ms)
    SELECT ${id}, i, ${merchantId}, 'timeout', 1 FROM generate_series(1, ${made}::int) i`;
  const { rows: [event] } = await listDeliveries(sql, merchantId, { id }, { page: 1, limit: 1 });
  const numbers = event?.tries.map(({ number }) => number);
  assertEquals(numbers, Array.from({ length: ATTEMPTS_READ }, (_, i) => i + 8));
});

test("events that are sent again and again keep the attempts alone that are read", async () => {
  await using database = await testDatabase({ max: 2 });
  const { sql } = database;
  const merchantId = await addMerchant(sql, { webhookUrl: URL_OF_SHOP });
  const made = ATTEMPTS_READ + 7;
  const ids = [await addEvent(sql, merchantId), await addEvent(sql, merchantId)];
  await sql`UPDATE book.outbox SET status = 'FAILED', attempts = ${made}`;
  await sql`
    INSERT INTO book.delivery_attempt (event_id, number, merchant_id, outcome, duration_ms)
    SELECT id, i, ${merchantId}, 'timeout', 1 FROM unnest(${ids}::text[]) AS e(id), generate_series(1, ${made}::int) i`;
  const kept = async () =>
    (await sql`
      SELECT min(number) AS first, count(*)::int AS n FROM book.delivery_attempt
      GROUP BY event_id ORDER BY event_id = ${ids[0] ?? ""} DESC`).map((
      { first, n },
    ) => [first, n]);
  await redeliverEvent(sql, merchantId, ids[0] ?? "");
  assertEquals(await kept(), [[8, ATTEMPTS_READ], [1, made]]);
  const range = { status: "FAILED", from: 0, until: Date.now() + 3_600_000 } as const;
  assertEquals((await redeliverEvents(sql, merchantId, range, 10, () => null)).count, 1);
  assertEquals(await kept(), [[8, ATTEMPTS_READ], [8, ATTEMPTS_READ]]);
});

test("a request waits for a merchant's outbox for a bounded time, whatever holds it", async () => {
  await using database = await testDatabase({ max: 8, statementTimeoutMs: 60_000 });
  const { sql } = database;
  const merchantId = await addMerchant(sql, { webhookUrl: URL_OF_SHOP });
  const letGo = await holdOutbox(sql, merchantId);
  const range = { status: "FAILED", from: 0, until: Date.now() } as const;
  const waits = [
    () => redeliverEvent(sql, merchantId, "evt_1"),
    () => redeliverEvents(sql, merchantId, range, 10, () => null),
    () => resumeEndpoint(sql, merchantId, null),
  ];
  await Promise.all(waits.map(async (wait) => {
    const error = await assertRejects(wait, Error);
    assertEquals("code" in error ? error.code : "", "55P03");
  }));
  await letGo();
  await Promise.all(waits.map((wait) => wait()));
});

/** Few connections of each kind to an interface's database, and a second interface that works with them. */
function openPools(api: Awaited<ReturnType<typeof testApi>>, requests: number) {
  const open = (max: number) => connect(api.databaseUrl, { max });
  const pools = { requests: open(requests), pages: open(1), reads: open(1), operators: open(1) };
  const slots = new ReadSlots({ slots: 1, perMerchant: 1, waitMs: 60_000 });
  return {
    ...pools,
    front: () =>
      testApi({
        sql: api.sql,
        merchants: api.journal,
        pools: { ...pools, slots },
        redeliveryPlaces: openRedeliveryPlaces(pools.requests),
      }),
    async [Symbol.asyncDispose]() {
      await Promise.all(Object.values(pools).map((pool) => pool.end({ timeout: 1 })));
    },
  };
}

test("one merchant's redeliveries keep no connection from another that makes and revokes keys", async () => {
  await using api = await testApi();
  await using pools = openPools(api, 3);
  await using front = await pools.front();
  const busy = await api.addMerchant();
  const other = await api.addMerchant();
  await api.sql`
    UPDATE book.merchant SET webhook_url = ${URL_OF_SHOP}, webhook_enabled = true
    WHERE merchant_id = ${busy.id}`;
  const letGo = await holdOutbox(api.sql, busy.id);
  let answered = 0;
  const body = { startDate: "2026-01-01", endDate: "2027-01-01" };
  const redeliveries = Array.from({ length: 20 }, async (_, i) => {
    const path = i % 2 === 0
      ? "/api/webhook-deliveries/redeliver"
      : `/api/merchants/${busy.id}/webhook/resume`;
    const { status, headers } = await front.call("POST", path, { key: busy.key, body });
    answered++;
    return [status, headers.has("retry-after")];
  });
  try {
    await until(async () => {
      const [row] = await api.sql`
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      return row !== undefined;
    });
    const keys = `/api/merchants/${other.id}/api-keys`;
    const made = await front.call("POST", keys, {
      key: other.key,
      body: { label: "till", permissions: ["read"], role: "MERCHANT" },
    });
    assertEquals(made.status, 201, JSON.stringify(made.body));
    const revoked = await front.call("DELETE", `${keys}/${made.body.id}`, { key: other.key });
    assertEquals(revoked.status, 200, JSON.stringify(revoked.body));
    // all but the one that waits for its lock and the four behind it are turned away at once
    assert(answered < 20, `${answered} redeliveries were waited for`);
    for (const answer of await Promise.all(redeliveries)) assertEquals(answer, [503, true]);
  } finally {
    await letGo();
    await Promise.allSettled(redeliveries);
  }
  const again = await front.call("POST", "/api/webhook-deliveries/redeliver", {
    key: busy.key,
    body,
  });
  assertEquals(again.body, { redelivered: 0, isComplete: true, lastEventId: null });
});

test("what one merchant's resumes read keeps no connection from another's key", async () => {
  await using api = await testApi();
  await using pools = openPools(api, 2);
  await using front = await pools.front();
  const busy = await api.addMerchant();
  const other = await api.addMerchant();
  const held = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const slow = api.sql.begin(async (tx) => {
    await tx`LOCK TABLE book.webhook_endpoint`;
    held.resolve();
    await end.promise;
  });
  await held.promise;
  const path = `/api/merchants/${busy.id}/webhook/resume`;
  const resumes = Array.from({ length: 8 }, () => front.call("POST", path, { key: busy.key }));
  try {
    await until(async () => {
      const [row] = await api.sql`
        SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      return row !== undefined;
    });
    const balance = await front.call("GET", "/api/balance", { key: other.key });
    assertEquals(balance.status, 200, JSON.stringify(balance.body));
  } finally {
    end.resolve();
    await slow;
    await Promise.allSettled(resumes);
  }
});

test("an acknowledged test ends a pause in a place of its merchant's outbox alone", async () => {
  const kinds: number[] = [];
  let release: (() => void) | null = null;
  let acknowledges = true;
  await using api = await testApi({
    redeliveryPlaces: {
      take: (_owner, kept = 0) => {
        kinds.push(kept);
        return Promise.resolve(release);
      },
    },
    webhookSender: {
      send: () =>
        Promise.resolve({
          category: acknowledges ? "acknowledged" : "not_acknowledged",
          status: 200,
          answer: "{}",
          durationMs: 1,
        }),
    },
  });
  const { id, key } = await api.addMerchant();
  await api.sql`
    UPDATE book.merchant SET webhook_url = ${URL_OF_SHOP}, webhook_enabled = true
    WHERE merchant_id = ${id}`;
  await api.sql`
    INSERT INTO book.webhook_endpoint (merchant_id, url, failures, last_outcome)
    VALUES (${id}, ${URL_OF_SHOP}, 3, 'timeout')`;
  const tried = async () => {
    const { status } = await api.call("POST", `/api/merchants/${id}/webhook/test`, { key });
    const { body } = await api.call("GET", `/api/merchants/${id}/webhook/status`, { key });
    return [status, body.state, kinds.length];
  };
  acknowledges = false;
  assertEquals(await tried(), [200, "failing", 0]);
  acknowledges = true;
  assertEquals(await tried(), [503, "failing", 1]);
  let released = 0;
  release = () => void released++;
  assertEquals(await tried(), [200, "active", 2]);
  // it leaves one that waits to resume
  assertEquals([kinds, released], [[1, 1], 1]);
  const { body } = await api.call("GET", "/api/webhook-deliveries", { key });
  assertEquals(
    body.deliveries.map(({ status }: { readonly status: string }) => status),
    ["DELIVERED", "DELIVERED", "FAILED"],
  );
});

test("a merchant's own redeliveries that wait leave a place to its resume", async () => {
  const options = { slots: 1, perMerchant: 1, waitMs: 60_000, waitingPerMerchant: 4 };
  const places = new SharedPlaces(options);
  let asked = 0;
  const redeliveryPlaces = {
    take: (owner: string, kept?: number) => {
      asked++;
      return places.take(owner, kept);
    },
  };
  await using api = await testApi({ redeliveryPlaces });
  const { id, key } = await api.addMerchant();
  await api.sql`
    UPDATE book.merchant SET webhook_url = ${URL_OF_SHOP}, webhook_enabled = true
    WHERE merchant_id = ${id}`;
  const release = await places.take(id);
  const body = { startDate: "2026-01-01", endDate: "2027-01-01" };
  const redeliveries = Array.from(
    { length: 5 },
    () => api.call("POST", "/api/webhook-deliveries/redeliver", { key, body }),
  );
  await until(() => Promise.resolve(asked === 5));
  const resume = api.call("POST", `/api/merchants/${id}/webhook/resume`, { key });
  await until(() => Promise.resolve(asked === 6));
  release?.();
  assertEquals((await resume).status, 200);
  const statuses = (await Promise.all(redeliveries)).map(({ status }) => status);
  assertEquals(statuses.toSorted(), [200, 200, 200, 503, 503]);
});
