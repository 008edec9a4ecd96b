/**
 * Faults in one merchant's events, rows or endpoint hold up no other merchant's callbacks.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import postgres from "postgres";
import { AttemptMarker } from "../../actors/webhook/attempt_marker.ts";
import { Claims } from "../../actors/webhook/endpoint.ts";
import { Webhooks } from "../../actors/webhook/webhooks.ts";
import type { AttemptMark } from "../../ledger/outbox/attempts.ts";
import {
  type ClaimedEvent,
  createOutbox,
  type Outbox,
  type Want,
} from "../../ledger/outbox/outbox.ts";
import { callbackReasons } from "../../app/health/callbacks.ts";
import type { AttemptOutcome } from "../../webhooks/attempt_outcome.ts";
import { NameLookups } from "../../webhooks/name_lookups.ts";
import { addMerchant, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { addEvent, eventState, openHook, openWebhooks } from "../support/hooks.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

const SECRETS = { figures: { unreadable: 0, earlier: 0 } };
const SENDER = { figures: { underWay: 0, restarts: 0, awayMs: 0 } };
const names = new NameLookups();

Deno.test("a merchant whose events the database refuses is left alone for ever longer, the others are served", async () => {
  let now = 0;
  const asked: number[] = [];
  const claims = new Claims({
    claim: (wants) => {
      asked.push(wants.length);
      const isRefused = wants.some(({ merchantId }) => merchantId === "m7");
      if (isRefused) return Promise.reject(new Error("invalid page in block 7"));
      return Promise.resolve(wants.map(({ merchantId }) => ({ merchantId }) as ClaimedEvent));
    },
  }, () => now);
  const wants = (count: number): Want[] =>
    Array.from({ length: count }, (_, i) => ({ merchantId: `m${i}`, room: 1 }))
      .filter(({ merchantId }) => !claims.leavesAlone(merchantId));
  const claim = async () => {
    const served: string[] = [];
    await claims.claim(wants(200), (_, events) => {
      served.push(...events.map(({ merchantId }) => merchantId));
    });
    return served.length;
  };
  assertEquals([await claim(), claims.refused], [199, 1]);
  assert(asked.length <= 2 * 8 + 1, `asked ${asked.length} times`);
  const pauses: number[] = [];
  for (let i = 0; i < 9; i++) {
    const from = now;
    while (claims.leavesAlone("m7")) now += 250;
    pauses.push(now - from);
    assertEquals(await claim(), 199);
  }
  assertEquals(pauses, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
});

test("events that the database refuses to hand out hold no other merchant's, and are told", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await using hook = openHook();
  const merchants: string[] = [];
  for (let i = 0; i < 12; i++) merchants.push(await addMerchant(sql, { webhookUrl: hook.url }));
  for (const merchantId of merchants) await addEvent(sql, merchantId);
  await sql`
    CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'invalid page in block 7'; END $$`;
  await sql.unsafe(`
    CREATE TRIGGER refused BEFORE UPDATE ON book.outbox FOR EACH ROW
    WHEN (NEW.merchant_id = '${merchants[5]}') EXECUTE FUNCTION public.refuse()`);
  const webhooks = openWebhooks(sql);
  for (const merchantId of merchants) webhooks.wake(merchantId);
  await until(() => hook.arrived.length === 11 && webhooks.figures.refusedClaims === 1);
  assertEquals(callbackReasons({ webhooks, sender: SENDER, secrets: SECRETS, names }), [
    "events of 1 merchants cannot be read for delivery",
  ]);
  await sql`DROP TRIGGER refused ON book.outbox`;
  webhooks.start();
  await until(() => hook.arrived.length === 12);
  await until(() =>
    callbackReasons({ webhooks, sender: SENDER, secrets: SECRETS, names }).length === 0
  );
  await webhooks.stop();
});

test("a row that somebody holds keeps no other delivery from being written down", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let lockedId = "";
  let holding: Promise<unknown> = Promise.resolve();
  await using hook = openHook(async ({ eventId }) => {
    if (eventId === lockedId) {
      holding = database.connect({ max: 1 }).begin(async (tx) => {
        await tx`SELECT FROM book.outbox WHERE id = ${lockedId} FOR UPDATE`;
        held.resolve();
        await released.promise;
      });
    }
    await held.promise;
    return Response.json({ ok: true });
  });
  const ids: string[] = [];
  const merchants: string[] = [];
  for (let i = 0; i < 10; i++) {
    const merchantId = await addMerchant(sql, { webhookUrl: hook.url });
    merchants.push(merchantId);
    ids.push(await addEvent(sql, merchantId));
  }
  lockedId = ids[4] ?? "";
  const webhooks = openWebhooks(sql, { pollMs: 60_000 });
  for (const merchantId of merchants) webhooks.wake(merchantId);
  const delivered = () => sql`SELECT FROM book.outbox WHERE status = 'DELIVERED'`;
  await until(async () => (await delivered()).length === 9);
  await until(() => webhooks.figures.heldMarks === 1);
  assertEquals(callbackReasons({ webhooks, sender: SENDER, secrets: SECRETS, names }), [
    "1 deliveries cannot be written down as their rows are held",
  ]);
  released.resolve();
  await holding;
  await until(async () => (await delivered()).length === 10);
  await until(() => webhooks.figures.heldMarks === 0);
  assertEquals([webhooks.figures.lostMarks, hook.arrived.length], [0, 10]);
  await webhooks.stop();
});

test("a merchant whose endpoint's row is held keeps its own callbacks waiting, and no other merchant's", async () => {
  await using database = await testDatabase({ max: 8 });
  const { sql } = database;
  await using hook = openHook();
  const heldMerchant = await addMerchant(sql, { webhookUrl: hook.url });
  const calm = await addMerchant(sql, { webhookUrl: hook.url });
  await sql`
    INSERT INTO book.outbox (id, merchant_id, payment_id, type, payload, status, created_at)
    SELECT 'evt_' || n, ${heldMerchant}, 'dep_' || n, 'deposit.confirmed', '{}', 'PENDING', now()
    FROM generate_series(1, 3000) n`;
  await sql`
    INSERT INTO book.webhook_endpoint (merchant_id, url, failures, last_outcome)
    VALUES (${heldMerchant}, ${hook.url}, 1, 'timeout')`;
  const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = database.connect({ max: 1 }).begin(async (tx) => {
    await tx`SELECT FROM book.webhook_endpoint WHERE merchant_id = ${heldMerchant} FOR UPDATE`;
    held.resolve();
    await released.promise;
  });
  await held.promise;
  const webhooks = openWebhooks(sql, { pollMs: 200 });
  webhooks.wake(heldMerchant);
  await until(() => webhooks.figures.heldMarks > 0);
  await until(() => webhooks.figures.heldMarks === webhooks.figures.unmarked);
  const ids: string[] = [];
  for (let round = 0; round < 3; round++) {
    const id = await addEvent(sql, calm);
    ids.push(id);
    webhooks.wake(calm);
    await until(async () => (await eventState(sql, id)).status === "DELIVERED");
  }
  const { heldMarks } = webhooks.figures;
  assert(heldMarks > 0 && heldMarks <= 256, `${heldMarks} are held`);
  released.resolve();
  await holding;
  await until(() => webhooks.figures.heldMarks === 0);
  assertEquals(webhooks.figures.lostMarks, 0);
  await webhooks.stop();
});

test("dozens of merchants whose rows are held cost the others one write in vain, not one each", async () => {
  await using database = await testDatabase({ max: 6 });
  const { sql } = database;
  const url = "https://shop.example/";
  const merchants: string[] = [];
  for (let i = 0; i < 20; i++) merchants.push(await addMerchant(sql, { webhookUrl: url }));
  const ids: string[] = [];
  for (const merchantId of merchants) ids.push(await addEvent(sql, merchantId, { attempts: 1 }));
  // of the first an endpoint's row, of the second an event, of all others but four an endpoint's
  await sql`
    INSERT INTO book.webhook_endpoint (merchant_id, url, failures, last_outcome)
    SELECT m, ${url}, 1, 'timeout' FROM unnest(${merchants.toSpliced(1, 1)}::text[]) m`;
  const lockedEvent = ids[1] ?? "";
  const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = database.connect({ max: 1 }).begin(async (tx) => {
    await tx`SELECT FROM book.webhook_endpoint WHERE merchant_id = ANY (${
      merchants.slice(0, 16)
    }) FOR UPDATE`;
    await tx`SELECT FROM book.outbox WHERE id = ${lockedEvent} FOR UPDATE`;
    held.resolve();
    await released.promise;
  });
  await held.promise;
  const outbox = createOutbox(sql);
  let writes = 0;
  /** The write by which each was written down. */
  const written: number[] = [];
  const marker = new AttemptMarker({
    mark: (marks) => {
      writes++;
      return outbox.mark(marks);
    },
  }, (marks) => written.push(...marks.map(() => writes)));
  for (const [i, merchantId] of merchants.entries()) {
    marker.add(acknowledged(ids[i] ?? "", merchantId));
  }
  await until(() => written.length === 4);
  const delivered = () => sql`SELECT FROM book.outbox WHERE status = 'DELIVERED'`;
  assertEquals([(await delivered()).length, written], [4, [1, 1, 1, 1]]);
  await until(() => marker.held === 16);
  assertEquals([marker.size, marker.lost], [16, 0]);
  released.resolve();
  await holding;
  await until(async () => (await delivered()).length === 20);
  await until(() => marker.size === 0);
  await marker.close();
});

test("an event that no request can be made of fails as any other, and what follows it is delivered", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await using hook = openHook();
  const merchantId = await addMerchant(sql, { webhookUrl: hook.url });
  await sql`UPDATE book.merchant SET webhook_retry_count = 0`;
  await sql`
    INSERT INTO book.outbox (id, merchant_id, payment_id, type, payload, status, created_at)
    VALUES ('an id of two lines', ${merchantId}, 'dep_a', 'deposit.confirmed', '{}', 'PENDING', now())`;
  const next = await addEvent(sql, merchantId, { paymentId: "dep_a" });
  const webhooks = openWebhooks(sql);
  webhooks.wake(merchantId);
  await until(async () => (await eventState(sql, next)).status === "DELIVERED");
  const broken = await eventState(sql, "an id of two lines");
  assertEquals([broken.status, broken.last_outcome], ["FAILED", "UNSENDABLE"]);
  assertEquals(webhooks.figures.unsendable, 1);
  await webhooks.stop();
});

const acknowledged = (eventId: string, merchantId: string): AttemptMark => ({
  eventId,
  merchantId,
  attempt: 1,
  url: "https://shop.example/",
  result: { kind: "delivered" },
  outcome: "acknowledged",
  httpStatus: 200,
  durationMs: 1,
  answer: null,
});

/** An outbox in memory, of which every merchant has as many events as it has room for. */
function endlessOutbox(isEmpty: () => boolean, isHeld: (mark: AttemptMark) => boolean): Outbox {
  let next = 0;
  const claim = (wants: readonly Want[]): Promise<readonly ClaimedEvent[]> =>
    Promise.resolve(
      (isEmpty() ? [] : wants).flatMap(({ merchantId, room }) =>
        Array.from({ length: room }, () => ({
          eventId: `evt_${next++}`,
          merchantId,
          type: "deposit.confirmed",
          payload: "{}",
          attempt: 1,
          url: `https://${merchantId}.example/`,
          secret: "whsec_dGVzdA==",
          previousSecret: null,
          timeoutMs: 10_000,
          retryCount: 3,
        }))
      ),
    );
  return {
    claim,
    mark: (marks) => Promise.resolve({ recovered: [], held: marks.filter(isHeld) }),
    waiting: () => Promise.resolve([]),
    skip: () => Promise.resolve(),
    revive: () => Promise.resolve([]),
    probe: () => Promise.resolve([]),
    release: () => Promise.resolve([]),
  };
}

Deno.test("endpoints that hang, however wide they were, leave places for the others", async () => {
  const served = new Map<string, number>();
  const hanging = new Set<string>();
  const underWay = new Map<string, (outcome: AttemptOutcome) => void>();
  let isHanging = false;
  let isEmpty = false;
  const webhooks = new Webhooks({
    outbox: endlessOutbox(() => isEmpty, () => false),
    sender: {
      send: async ({ url, eventId }) => {
        if (isHanging && hanging.has(url)) {
          return await new Promise((resolve) => underWay.set(eventId, resolve));
        }
        await new Promise((resolve) => setTimeout(resolve, 1));
        served.set(url, (served.get(url) ?? 0) + 1);
        return { category: "acknowledged", status: 200, answer: "", durationMs: 1 };
      },
      close: () => {},
    },
    now: () => 0,
    random: () => 0,
    crashPoint: () => {},
    pollMs: 60_000,
    drainMs: 1,
  });
  const urlOf = (merchantId: string) => `https://${merchantId}.example/`;
  const many = Array.from({ length: 40 }, (_, i) => `m${i}`);
  for (const merchantId of many) {
    hanging.add(urlOf(merchantId));
    webhooks.wake(merchantId);
  }
  // every one of them widens to the most that one endpoint may have
  await until(() => many.every((id) => (served.get(urlOf(id)) ?? 0) > 200));
  isEmpty = true;
  await until(() => webhooks.figures.inFlight === 0);
  // and all have new events at the same moment
  isEmpty = false;
  isHanging = true;
  for (const merchantId of many) webhooks.wake(merchantId);
  await until(() => underWay.size > 256);
  webhooks.wake("honest");
  await until(() => (served.get(urlOf("honest")) ?? 0) > 100);
  assert(underWay.size < 1_024 - 64, `${underWay.size} places hang`);
  // from now on they have answered badly: together they keep a quarter
  for (const conclude of underWay.values()) conclude({ category: "timeout", durationMs: 10_000 });
  underWay.clear();
  const before = served.get(urlOf("honest")) ?? 0;
  await until(() => (served.get(urlOf("honest")) ?? 0) > before + 100);
  assert(underWay.size <= 256, `${underWay.size} places hang`);
  for (const conclude of underWay.values()) conclude({ category: "stopped", durationMs: 1 });
  const stopping = webhooks.stop();
  const ending = setInterval(() => {
    for (const conclude of underWay.values()) conclude({ category: "stopped", durationMs: 1 });
  }, 5);
  await stopping;
  clearInterval(ending);
});

test("one merchant's deliveries that hang leave connections to those who use the same origin", async () => {
  const WIDEST = 64;
  await using database = await testDatabase();
  const { sql } = database;
  const released = Promise.withResolvers<void>();
  let hanging = 0;
  await using hook = openHook(async ({ body }) => {
    if (body.includes("hangs")) {
      hanging++;
      await released.promise;
    }
    return Response.json({ ok: true });
  });
  using _released = { [Symbol.dispose]: released.resolve };
  const busy = await addMerchant(sql, { webhookUrl: `${hook.url}/busy` });
  const calm = await addMerchant(sql, { webhookUrl: `${hook.url}/calm` });
  await sql`UPDATE book.merchant SET webhook_timeout_ms = 30000`;
  const add = (kind: string, count: number) =>
    sql`
      INSERT INTO book.outbox (id, merchant_id, payment_id, type, payload, status, created_at)
      SELECT ${kind} || n, ${busy}, 'dep_' || ${kind} || n, 'deposit.confirmed',
        json_build_object('kind', ${kind}::text), 'PENDING', now()
      FROM generate_series(1, ${count}::integer) n`;
  const webhooks = openWebhooks(sql);
  await using _stopped = { [Symbol.asyncDispose]: () => webhooks.stop() };
  // what is acknowledged widens the merchant's way to the most that one may have
  await add("good", 2 * WIDEST);
  webhooks.wake(busy);
  await until(() => hook.arrived.length === 2 * WIDEST && webhooks.figures.inFlight === 0);
  await add("hangs", 2 * WIDEST);
  webhooks.wake(busy);
  await until(() => hanging === WIDEST);
  const id = await addEvent(sql, calm);
  webhooks.wake(calm);
  await until(async () => (await eventState(sql, id)).status === "DELIVERED");
  assertEquals([webhooks.figures.inFlight, hanging], [WIDEST, WIDEST]);
  released.resolve();
});

Deno.test("no more deliveries are under way than there are connections for", async () => {
  let [underWay, most, sent] = [0, 0, 0];
  const webhooks = new Webhooks({
    outbox: endlessOutbox(() => false, () => false),
    sender: {
      send: async () => {
        most = Math.max(most, ++underWay);
        sent++;
        await new Promise((resolve) => setTimeout(resolve, 1));
        underWay--;
        return { category: "acknowledged", status: 200, answer: "", durationMs: 1 };
      },
      close: () => {},
    },
    now: () => 0,
    random: () => 0,
    crashPoint: () => {},
    pollMs: 60_000,
    drainMs: 1,
    inFlight: 24,
  });
  const waking = setInterval(() => {
    for (let i = 0; i < 40; i++) webhooks.wake(`m${i}`);
  }, 5);
  await until(() => sent > 500);
  clearInterval(waking);
  assert(most <= 24, `${most} were under way`);
  await webhooks.stop();
});

Deno.test("merchants whose rows are held, however many, keep a bounded number of attempts and take no place of others", async () => {
  // until the first write tells that its rows are held, a merchant may have 256 that are not written
  const [HELD, EACH, MOST] = [1_400, 256 + 16, 8_192];
  const urlOf = (merchantId: string) => `https://${merchantId}.example/`;
  const served = new Map<string, number>();
  let isEmpty = false;
  const webhooks = new Webhooks({
    outbox: endlessOutbox(() => isEmpty, ({ merchantId }) => merchantId.startsWith("held")),
    sender: {
      send: ({ url }) => {
        served.set(url, (served.get(url) ?? 0) + 1);
        return Promise.resolve({
          category: "acknowledged",
          status: 200,
          answer: "",
          durationMs: 1,
        });
      },
      close: () => {},
    },
    now: () => 0,
    random: () => 0,
    crashPoint: () => {},
    pollMs: 60_000,
    drainMs: 1,
  });
  const held = Array.from({ length: HELD }, (_, i) => `held${i}`);
  const waking = setInterval(() => held.forEach((id) => webhooks.wake(id)), 20);
  await until(() => webhooks.figures.heldMarks >= MOST);
  for (const id of held) webhooks.wake(id);
  webhooks.wake("honest");
  await until(() => (served.get(urlOf("honest")) ?? 0) > 1_000);
  const most = Math.max(...held.map((id) => served.get(urlOf(id)) ?? 0));
  assert(most <= EACH, `${most} attempts of one merchant are kept`);
  const { heldMarks } = webhooks.figures;
  // besides what was under way, some batches of merchants that were not known to be held yet
  assert(heldMarks <= MOST + 4 * 1_024, `${heldMarks} attempts are kept`);
  clearInterval(waking);
  isEmpty = true;
  await webhooks.stop();
});

Deno.test("a stop waits for no sender that is stuck", async () => {
  const sending = Promise.withResolvers<void>();
  let isClosed = false;
  const webhooks = new Webhooks({
    outbox: endlessOutbox(() => false, () => false),
    sender: {
      send: () => {
        sending.resolve();
        return new Promise(() => {});
      },
      close: () => isClosed = true,
    },
    now: () => 0,
    random: () => 0,
    crashPoint: () => {},
    pollMs: 60_000,
    drainMs: 20,
  });
  webhooks.wake("m1");
  await sending.promise;
  await webhooks.stop();
  assertEquals(isClosed, true);
});

Deno.test("a stop waits for no database that does not answer, and for no attempt that cannot be locked", async () => {
  const writing = Promise.withResolvers<void>();
  const webhooks = new Webhooks({
    outbox: {
      ...endlessOutbox(() => false, () => false),
      mark: () => {
        writing.resolve();
        return new Promise(() => {});
      },
    },
    sender: {
      send: () => Promise.resolve({ category: "network", code: "ECONNREFUSED", durationMs: 1 }),
      close: () => {},
    },
    now: () => 0,
    random: () => 0,
    crashPoint: () => {},
    pollMs: 60_000,
    drainMs: 20,
  });
  webhooks.wake("m1");
  await writing.promise;
  await webhooks.stop();

  // every wait is in vain: while it closes no part of a batch is tried again
  let writes = 0;
  const marker = new AttemptMarker({
    mark: () => {
      writes++;
      const held = new postgres.PostgresError("held");
      return Promise.reject(Object.assign(held, { code: "55P03" }));
    },
  }, () => {});
  for (let i = 0; i < 300; i++) marker.add(acknowledged(`e${i}`, `m${i}`));
  await marker.close();
  assertEquals([writes, marker.size], [1, 0]);
});
