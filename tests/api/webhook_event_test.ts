import { assert, assertEquals } from "@std/assert";
import { createHmac } from "node:crypto";
import type { FoundTransaction } from "../../chains/chain.ts";
import { admin } from "../../app/commands/admin.ts";
import { canonicalJson } from "../../api/upstream/webhook_event.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { commitSigned } from "../support/commit_signed.ts";
import { expireAttempts } from "../../ledger/treasury/expire_attempts.ts";
import { moveCursor, readCursor } from "../../ledger/watcher/cursor.ts";
import { findOwnTransactions, recordOutcomes } from "../../ledger/watcher/record_outcomes.ts";
import { addressOf, EMPTY_CHAIN, HOT_WALLET, INGEST_SECRET, testApi } from "../support/api.ts";
import { amount, booksFaults, SOMEWHERE, until } from "../support/books.ts";
import { eventAddressOf } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const PATH = "/api/webhook/event";

type Api = Awaited<ReturnType<typeof testApi>>;

/** An interface with a chain of transactions that a test writes down. */
async function upstream() {
  const solid = new Map<string, FoundTransaction>();
  const chain = {
    ...EMPTY_CHAIN,
    transaction: (txid: string) => {
      const transaction = solid.get(txid);
      return Promise.resolve(
        transaction === undefined
          ? { kind: "missing" as const, txid }
          : { kind: "found" as const, transaction },
      );
    },
  };
  const api = await testApi({ chains: new Map<Network, typeof chain>([["TRX", chain]]) });
  const passed = {
    height: 9,
    hash: "h9",
    time: Date.now(),
    previousTime: Date.now(),
    tick: Date.now(),
    previousTick: Date.now(),
  };
  await moveCursor(api.sql, "TRX", "solid", null, passed);
  return { api, solid, admin: await api.addKey(null, { permissions: ["admin:write"] }) };
}

function sign(body: unknown, secret = INGEST_SECRET): string {
  return createHmac("sha256", secret).update(canonicalJson(body)).digest("hex");
}

function send(
  api: Api,
  key: string,
  body: unknown,
  headers: Record<string, string> = {},
) {
  return api.call("POST", PATH, {
    key,
    body,
    headers: { "x-signature": sign(body), "x-timestamp": String(Date.now()), ...headers },
  });
}

async function manualDeposit(api: Api, key: string): Promise<string> {
  const { status, body } = await api.call("POST", "/api/deposits", {
    key,
    body: { amount: "10", currency: "USDT", network: "TRX", source: "bank" },
  });
  assertEquals(status, 201);
  return body.id;
}

async function withdraw(api: Api, key: string, amount = "10"): Promise<string> {
  const { status, body } = await api.call("POST", "/api/withdrawals", {
    key,
    body: { amount, currency: "USDT", network: "TRX", destination: SOMEWHERE },
  });
  assertEquals(status, 201);
  return body.withdrawalId;
}

/** Signs a withdrawal's payout, which expires before anything that the scan has read. */
async function signPayout({ sql }: Api, withdrawalId: string, txid: string): Promise<void> {
  const [row] = await sql<{ outgoing_id: string; merchant_id: string }[]>`
    SELECT outgoing_id, merchant_id FROM book.withdrawal WHERE id = ${withdrawalId}`;
  assert(row !== undefined);
  const signed = await commitSigned(sql, [{
    outgoingId: row.outgoing_id,
    merchantId: row.merchant_id,
    network: "TRX",
    txid,
    bytes: "{}",
    expiresAt: Date.now() - 3_600_000,
  }]);
  assertEquals(signed.size, 1);
}

/** Declares a transaction dead by the scan's word; what was given up waits to be told its merchant. */
async function declareDead({ sql }: Api, txid: string, attemptLimit: number): Promise<void> {
  const cursor = await readCursor(sql, "TRX", "solid");
  assert(cursor !== null);
  await expireAttempts(sql, "TRX", cursor, attemptLimit);
  const [attempt] = await sql`SELECT outcome FROM book.attempt WHERE txid = ${txid}`;
  assertEquals(attempt?.outcome, "expired");
}

function payment(txid: string, fields: Partial<FoundTransaction> = {}): FoundTransaction {
  return {
    txid,
    success: true,
    failure: null,
    fee: amount("6"),
    height: 9,
    time: Date.now(),
    transfers: [{
      txid,
      logIndex: 0,
      currency: "USDT",
      eventFrom: eventAddressOf(HOT_WALLET),
      eventTo: eventAddressOf(SOMEWHERE),
      amount: amount("10"),
      diesAfter: Date.now(),
      expiresAt: Date.now(),
    }],
    ...fields,
  };
}

Deno.test("the signed text has its keys sorted on every level and its arrays in their order", () => {
  const value = { b: [{ z: 1, a: null }, "x", 2], a: { "10": 1, "9": 2, é: "\u2028" } };
  assertEquals(
    canonicalJson(value),
    '{"a":{"10":1,"9":2,"é":"\u2028"},"b":[{"a":null,"z":1},"x",2]}',
  );
});

test("an event without the right signature or a recent timestamp changes nothing", async (t) => {
  const { api, admin } = await upstream();
  await using _ = api;
  const { key } = await api.addMerchant();
  const depositId = await manualDeposit(api, key);
  const body = { eventId: "e1", type: "deposit.confirmed", data: { depositId } };
  const now = Date.now();
  const rows: readonly [string, Record<string, string>, number][] = [
    ["another secret", { "x-signature": sign(body, "x") }, 401],
    ["another body", { "x-signature": sign({ ...body, eventId: "e2" }) }, 401],
    ["no hex", { "x-signature": "zz" }, 401],
    ["too old", { "x-timestamp": String(now - 301_000) }, 401],
    ["too early", { "x-timestamp": String(now + 301_000) }, 401],
    ["in seconds", { "x-timestamp": String(Math.floor(now / 1_000)) }, 401],
    ["no number", { "x-timestamp": "now" }, 401],
  ];
  for (const [name, headers, status] of rows) {
    await t.step(name, async () => {
      assertEquals((await send(api, admin, body, headers)).status, status);
    });
  }
  assertEquals((await api.call("POST", PATH, { key: admin, body })).status, 401);
  assertEquals((await send(api, key, body)).status, 403);
  assertEquals((await send(api, admin, { ...body, type: "payout.done" })).status, 400);
  assertEquals((await send(api, admin, { ...body, data: {} })).status, 400);
  const missing = { ...body, data: { depositId: "dep_none" } };
  assertEquals((await send(api, admin, missing)).status, 404);
  const [row] = await api.sql`SELECT status FROM book.deposit`;
  assertEquals(row?.status, "PENDING");
});

test("the signature covers the body alone, and an event that is sent again counts once", async () => {
  const { api, admin } = await upstream();
  await using _ = api;
  const { key } = await api.addMerchant();
  const depositId = await manualDeposit(api, key);
  const body = { eventId: "e1", type: "deposit.confirmed", data: { depositId } };
  const at = (ms: number) => send(api, admin, body, { "x-timestamp": String(Date.now() + ms) });
  assertEquals((await at(-365 * 86_400_000)).status, 401);
  assertEquals((await at(-60_000)).body.message, "Event taken in");
  for (const ms of [-60_000, 0, 60_000]) {
    const { status, body } = await at(ms);
    assertEquals([status, body.message], [200, "Event was taken in before"]);
  }
  const [row] = await api
    .sql`SELECT count(*)::int AS n FROM book.outbox WHERE type = 'deposit.confirmed'`;
  assertEquals(row?.n, 1);
  assertEquals(await booksFaults(api.sql), []);
});

test("what an event should look like is told only to those who sign, and after permissions", async (t) => {
  const { api, admin } = await upstream();
  await using _ = api;
  const { key } = await api.addMerchant();
  const shapeless: unknown = { foo: 1 };
  const stale = { "x-timestamp": String(Date.now() - 301_000) };
  const rows: readonly [string, string, unknown, Record<string, string>, number][] = [
    ["a wrong signature", admin, shapeless, { "x-signature": sign(shapeless, "x") }, 401],
    ["no signature", admin, shapeless, { "x-signature": "" }, 401],
    ["a stale timestamp", admin, shapeless, stale, 401],
    ["no object, unsigned", admin, [1], { "x-signature": sign([]) }, 401],
    ["another key, whatever it signs", key, shapeless, {}, 403],
    ["signed, in time, and nothing we know", admin, shapeless, {}, 400],
    ["signed in any case of its digits", admin, shapeless, {
      "x-signature": sign(shapeless).toUpperCase(),
    }, 400],
  ];
  for (const [name, by, body, headers, status] of rows) {
    await t.step(name, async () => {
      const answer = await send(api, by, body, headers);
      assertEquals(answer.status, status);
      assertEquals("details" in answer.body, status === 400);
    });
  }
  const headers = { "x-signature": sign({ foo: 1 }), "x-timestamp": String(Date.now()) };
  const spelled = await api.call("POST", PATH, { key: admin, raw: '{"foo":1.0}', headers });
  assertEquals(spelled.status, 400, "1.0 is signed as 1");
});

test("an event takes effect once, and its id is not used for another", async () => {
  const { api, admin } = await upstream();
  await using _ = api;
  const { key } = await api.addMerchant();
  const other = await api.addMerchant();
  const ids = [await manualDeposit(api, key), await manualDeposit(api, other.key)];
  const body = {
    eventId: "e1",
    type: "deposit.confirmed",
    data: { depositId: ids[0], extra: { z: [3, 1], a: {} } },
  };
  const answers = await Promise.all([1, 2, 3].map(() => send(api, admin, body)));
  for (const { status, body } of answers) assertEquals([status, body.success], [200, true]);
  const shuffled = {
    data: { extra: { a: {}, z: [3, 1] }, depositId: ids[0] },
    type: body.type,
    eventId: "e1",
  };
  assertEquals((await send(api, admin, shuffled)).status, 200);
  const conflict = await send(api, admin, { ...body, data: { depositId: ids[1] } });
  assertEquals(conflict.status, 409);
  const balance = await api.call("GET", "/api/balance?currency=USDT&network=TRX", { key });
  assertEquals(balance.body.available, "10");
  const late = await send(api, admin, { ...body, eventId: "e2", type: "deposit.failed" });
  assertEquals([late.status, late.body.from], [409, "CONFIRMED"]);
  const failed = { eventId: "e3", type: "deposit.cancelled", data: { depositId: ids[1] } };
  assertEquals((await send(api, admin, failed)).status, 200);
  const kept = await api.sql`SELECT event_id FROM book.ingested ORDER BY event_id`;
  assertEquals(kept.map((row) => row.event_id), ["up:e1", "up:e3"]);
  assertEquals(await booksFaults(api.sql), []);
});

test("one eventId for two merchants at the same time takes effect for one of them", async () => {
  const { api, admin } = await upstream();
  await using _ = api;
  const [a, b] = [await api.addMerchant(), await api.addMerchant()];
  const ids = [await manualDeposit(api, a.key), await manualDeposit(api, b.key)];
  const answers = await Promise.all(
    ids.map((depositId) =>
      send(api, admin, { eventId: "same", type: "deposit.confirmed", data: { depositId } })
    ),
  );
  assertEquals(answers.map(({ status }) => status).sort(), [200, 409]);
  const rows = await api.sql`SELECT status FROM book.deposit ORDER BY status`;
  assertEquals(rows.map((row) => row.status), ["CONFIRMED", "PENDING"]);
});

test("a withdrawal is confirmed only by a solid transfer of its own token, amount and destination", async (t) => {
  const { api, solid, admin } = await upstream();
  await using _ = api;
  const { key } = await api.addMerchant("100");
  const withdrawalId = await withdraw(api, key);
  const txid = "ab".repeat(32);
  const base = payment(txid);
  const [transfer] = base.transfers;
  assert(transfer !== undefined);
  const cases: readonly [string, FoundTransaction | null][] = [
    ["not_final", null],
    ["not_final", { ...base, height: 10 }],
    ["failed", { ...base, success: false, failure: "REVERT", transfers: [] }],
    ["other_transfer", { ...base, transfers: [{ ...transfer, amount: amount("9") }] }],
    ["other_transfer", {
      ...base,
      transfers: [{ ...transfer, eventTo: eventAddressOf(addressOf(9)) }],
    }],
    ["other_transfer", { ...base, transfers: [{ ...transfer, currency: "USDC" }] }],
    ["too_old", { ...base, time: Date.now() - 3_600_000 }],
  ];
  let number = 0;
  const event = (txHash: string | null) => ({
    eventId: `e${number++}`,
    type: "withdrawal.confirmed",
    data: { withdrawalId, txHash },
  });
  for (const [code, found] of cases) {
    await t.step(code, async () => {
      if (found === null) solid.delete(txid);
      else solid.set(txid, found);
      const answer = await send(api, admin, event(txid));
      assertEquals([answer.status, answer.body.details[0].code], [422, code]);
    });
  }
  assertEquals((await send(api, admin, event(null))).status, 400);
  assertEquals((await send(api, admin, event("nonsense"))).status, 422);
  solid.set(txid, base);
  // what a customer sent to a deposit address is a deposit already, and pays no withdrawal to it
  await api.sql`
    INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
    VALUES (${SOMEWHERE}, 'TRX', 'mer_other', 'adr_other', 77)`;
  const deposited = await send(api, admin, event(txid));
  assertEquals([deposited.status, deposited.body.details[0].code], [422, "deposit_here"]);
  await api.sql`DELETE FROM hub.address WHERE address_id = 'adr_other'`;
  assertEquals((await send(api, admin, event(txid))).status, 200);
  const [row] = await api.sql`
    SELECT w.status, w.txid, o.status AS payout, o.reason FROM book.withdrawal w
    JOIN book.outgoing o ON o.id = w.outgoing_id`;
  assertEquals([row?.status, row?.txid, row?.payout], ["CONFIRMED", txid, "void"]);
  const events = await api.sql`
    SELECT type FROM book.outbox WHERE payment_id = ${withdrawalId} ORDER BY id`;
  assertEquals(events.map((row) => row.type), ["withdrawal.confirmed", "transaction.confirmed"]);
  const second = await withdraw(api, key);
  const again = await send(api, admin, {
    eventId: "second",
    type: "withdrawal.confirmed",
    data: { withdrawalId: second, txHash: txid },
  });
  assertEquals([again.status, again.body], [409, {
    error: "Conflict",
    code: "payment_used",
    message: "Cannot move from PENDING to CONFIRMED: that transaction has paid another withdrawal.",
    from: "PENDING",
    to: "CONFIRMED",
  }]);
  assertEquals((await send(api, admin, event(txid))).status, 200);
  assertEquals(await booksFaults(api.sql), []);
});

test("nothing is confirmed or failed from outside while a signed transaction may still pay", async () => {
  const { api, solid, admin } = await upstream();
  await using _ = api;
  const { id, key } = await api.addMerchant("100");
  const withdrawalId = await withdraw(api, key);
  const [row] = await api.sql`SELECT outgoing_id FROM book.withdrawal`;
  const [own, foreign] = ["aa".repeat(32), "bb".repeat(32)];
  await commitSigned(api.sql, [{
    outgoingId: row?.outgoing_id,
    merchantId: id,
    network: "TRX",
    txid: own,
    bytes: "{}",
    expiresAt: Date.now() + 60_000,
  }]);
  const event = (eventId: string, type: string, txHash?: string) => ({
    eventId,
    type,
    data: { withdrawalId, ...(txHash === undefined ? {} : { txHash }) },
  });
  const failed = await send(api, admin, event("e1", "withdrawal.failed"));
  assertEquals([failed.status, failed.body], [409, {
    error: "Conflict",
    code: "already_sent",
    message: "Cannot move from PENDING to FAILED: a payout of this withdrawal may be on its way; " +
      "it cannot be taken back.",
    from: "PENDING",
    to: "FAILED",
  }]);
  solid.set(foreign, payment(foreign));
  const elsewhere = await send(api, admin, event("e2", "withdrawal.confirmed", foreign));
  assertEquals([elsewhere.status, elsewhere.body.from, elsewhere.body.to], [
    409,
    "PENDING",
    "CONFIRMED",
  ]);
  const other = await withdraw(api, key);
  solid.set(own, payment(own));
  const stolen = await send(api, admin, {
    ...event("e3", "withdrawal.confirmed", own),
    data: { withdrawalId: other, txHash: own },
  });
  assertEquals([stolen.status, stolen.body.details[0].code], [422, "other_payout"]);
  assertEquals((await send(api, admin, event("e4", "withdrawal.confirmed", own))).status, 200);
  // the scan meets the same transaction afterwards
  const [mine] = await findOwnTransactions(api.sql, "TRX", [own]);
  assert(mine !== undefined);
  await recordOutcomes(api.sql, "TRX", [
    { own: mine, result: "paid", reason: null, height: 9, fee: amount("6") },
  ]);
  api.journal.wake(id);
  await until(async () => {
    const [left] = await api.sql`SELECT 1 FROM book.inbox WHERE consumed_at IS NULL`;
    return left === undefined;
  });
  const rows = await api.sql`SELECT id, status FROM book.withdrawal ORDER BY id`;
  assertEquals(rows.map((row) => [row.id, row.status]), [
    [withdrawalId, "CONFIRMED"],
    [other, "PENDING"],
  ]);
  const [quarantined] = await api.sql`SELECT 1 FROM book.inbox WHERE quarantine IS NOT NULL`;
  assertEquals(quarantined, undefined);
  assertEquals(await booksFaults(api.sql), []);
});

test("a transaction that was declared dead and is on the chain confirms its payout, which is paid by nothing else", async (t) => {
  for (const attemptLimit of [9, 1]) {
    await t.step(attemptLimit === 1 ? "given up" : "queued again", async () => {
      const { api, solid, admin } = await upstream();
      await using _ = api;
      const { id, key } = await api.addMerchant("100");
      const withdrawalId = await withdraw(api, key);
      const [txid, second] = ["aa".repeat(32), "bb".repeat(32)];
      await signPayout(api, withdrawalId, txid);
      await declareDead(api, txid, attemptLimit);
      solid.set(txid, payment(txid));
      const event = (eventId: string) => ({
        eventId,
        type: "withdrawal.confirmed",
        data: { withdrawalId, txHash: txid },
      });
      const other = await withdraw(api, key);
      const stolen = await send(api, admin, {
        ...event("e1"),
        data: { withdrawalId: other, txHash: txid },
      });
      assertEquals([stolen.status, stolen.body.details[0].code], [422, "other_payout"]);
      if (attemptLimit > 1) {
        // its next transaction may pay as well: nothing is said before that has an end
        await signPayout(api, withdrawalId, second);
        const early = await send(api, admin, event("e2"));
        assertEquals([early.status, early.body.from], [409, "PENDING"]);
        await declareDead(api, second, attemptLimit);
      }
      assertEquals((await send(api, admin, event("e3"))).status, 200);
      const [row] = await api.sql`
        SELECT w.status, w.txid, o.status AS payout, o.reason FROM book.withdrawal w
        JOIN book.outgoing o ON o.id = w.outgoing_id WHERE w.id = ${withdrawalId}`;
      assertEquals({ ...row }, {
        status: "CONFIRMED",
        txid,
        payout: "void",
        reason: `paid by ${txid}`,
      });
      // a merchant that was to refund what was given up hears of that after all is said
      api.journal.wake(id);
      await until(async () => {
        const [left] = await api.sql`SELECT FROM book.inbox WHERE consumed_at IS NULL`;
        return left === undefined;
      });
      const [quarantined] = await api.sql`SELECT FROM book.inbox WHERE quarantine IS NOT NULL`;
      assertEquals(quarantined, undefined);
      // a scan that meets it later lists it, and the verdict on it is the same
      await api.sql`
        INSERT INTO hub.unknown_spend
          (network, txid, log_index, height, block_time, wallet, sender, recipient, currency, amount, status)
        VALUES ('TRX', ${txid}, 0, 9, now(), 'hot', ${HOT_WALLET}, ${SOMEWHERE}, 'USDT', 10, 'open')`;
      const verdict = (verb: string, body: unknown) =>
        api.call("POST", `/api/admin/failover/${verb}`, { key: admin, body });
      const booked = await verdict("book", {
        txid,
        merchantId: id,
        referenceId: null,
        anyway: true,
      });
      assertEquals([booked.status, booked.body.from, booked.body.to], [
        409,
        "PENDING",
        "CONFIRMED",
      ]);
      assertEquals((await verdict("match", { txid, withdrawalId })).status, 200);
      const open = await api.sql`SELECT FROM hub.unknown_spend WHERE status = 'open'`;
      assertEquals(open.length, 0);
      assertEquals(await booksFaults(api.sql), []);
    });
  }
});

test("a withdrawal whose payout is queued can be failed upstream: refunded, once", async () => {
  const { api, admin } = await upstream();
  await using _ = api;
  const { key } = await api.addMerchant("100");
  const withdrawalId = await withdraw(api, key);
  const event = {
    eventId: "e1",
    type: "withdrawal.failed",
    data: { withdrawalId, reason: "bank says no" },
  };
  for (let i = 0; i < 2; i++) assertEquals((await send(api, admin, event)).status, 200);
  assertEquals((await send(api, admin, { ...event, eventId: "e2" })).status, 200);
  const { body } = await api.call("GET", "/api/balance?currency=USDT&network=TRX", { key });
  assertEquals(body.available, "100");
  const [row] = await api.sql`
    SELECT w.status, w.reason, o.status AS payout FROM book.withdrawal w
    JOIN book.outgoing o ON o.id = w.outgoing_id`;
  assertEquals([row?.status, row?.reason, row?.payout], ["FAILED", "bank says no", "void"]);
  assertEquals(await booksFaults(api.sql), []);
});

test("from the command line a withdrawal is confirmed by its transfer, or failed with a reason", async () => {
  const { api, solid, admin: key } = await upstream();
  await using _ = api;
  const { key: merchant } = await api.addMerchant("100");
  const [paid, unpaid] = [await withdraw(api, merchant), await withdraw(api, merchant)];
  const txid = "ab".repeat(32);
  solid.set(txid, payment(txid));
  const run = async (line: readonly string[], env: Record<string, string> = {}) => {
    const lines: string[] = [];
    const say = (...parts: unknown[]) => lines.push(parts.map(String).join(" "));
    const own = { PUBLIC_URL: api.url, ADMIN_API_KEY: key, INGEST_SECRET, ...env };
    const code = await admin(["withdrawals", ...line], own, { log: say, error: say });
    return { code, text: lines.join("\n") };
  };
  const other = await run(["confirm", paid, "cd".repeat(32)]);
  assertEquals([other.code, other.text.includes("not in a solid block")], [1, true], other.text);
  for (const _again of [1, 2]) assertEquals((await run(["confirm", paid, txid])).code, 0);
  const silent = await run(["fail", unpaid]);
  assertEquals([silent.code, silent.text], [1, "Cannot fail as no --reason is given"]);
  assertEquals((await run(["fail", unpaid, "--reason", "wrong account"])).code, 0);
  const late = await run(["fail", paid, "--reason", "late"]);
  assertEquals([late.code, late.text.includes("CONFIRMED to FAILED")], [1, true], late.text);
  const rows = await api.sql`SELECT id, status FROM book.withdrawal ORDER BY id`;
  assertEquals(rows.map((row) => [row.id, row.status]), [[paid, "CONFIRMED"], [unpaid, "FAILED"]]);
  assertEquals(await booksFaults(api.sql), []);
  const lacking = { INGEST_SECRET: "", DATA_DIR: "/nonexistent" };
  const unsigned = await run(["confirm", paid, txid], lacking);
  assertEquals([unsigned.code, unsigned.text.includes("INGEST_SECRET is not set")], [1, true]);
  const wrong = await run(["confirm", paid, txid], { INGEST_SECRET: "x".repeat(32) });
  assertEquals([wrong.code, wrong.text.startsWith("401 ")], [1, true], wrong.text);
});
