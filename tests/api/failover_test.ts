import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { FAILOVER_VERBS } from "../../app/commands/admin/failover.ts";
import { Client } from "../../app/commands/admin/client.ts";
import { type Options, Refused, shown } from "../../app/commands/command.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { readSigningStop } from "../../ledger/failover/holds.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import { pullQueued } from "../../ledger/treasury/pull_queued.ts";
import { readCommitments } from "../../ledger/treasury/hot_wallet.ts";
import { addressOf, testApi } from "../support/api.ts";
import { booksFaults } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { addWallet } from "../support/wallet_row.ts";

const test = testNeeding(DATABASE);

const DESTINATION = addressOf(0xdead);

/** A transfer of the hot wallet that the scan met and no attempt stands for. */
async function addSpend(sql: Sql, txid: string, amount = "10", height = 7): Promise<void> {
  await sql`
    INSERT INTO hub.unknown_spend
      (network, txid, log_index, height, block_time, wallet, sender, recipient, currency, amount, status)
    VALUES ('TRX', ${txid}, 0, ${height}, now(), 'hot', 'hot', ${DESTINATION}, 'USDT', ${amount}, 'open')`;
}

async function openRig(overrides: Parameters<typeof testApi>[0] = {}) {
  const api = await testApi(overrides);
  await addWallet(api.sql, "TRX", "hot");
  const admin = await api.addKey(null, { permissions: ["admin:read", "admin:write"] });
  const client = new Client(() => Promise.resolve({ baseUrl: api.url, apiKey: admin }));
  const context = { client, env: {}, out: console };
  const run = async (verb: string, args: readonly string[] = [], options: Options = {}) => {
    const name = new RegExp(`^failover ${verb}( |$)`);
    const result = await FAILOVER_VERBS.find(({ usage }) => name.test(usage))
      ?.run(context, args, options) ?? "";
    return typeof result === "number" ? "" : shown(result);
  };
  const balances = async (key: string) =>
    (await api.call("GET", "/api/balance?currency=USDT&network=TRX", { key })).body;
  return { api, admin, run, balances, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

test("a transfer that paid a withdrawal which waits is matched with it: CONFIRMED, and paid by nothing else", async () => {
  await using rig = await openRig();
  const { api, admin, run } = rig;
  const { sql } = api;
  const { id, key } = await api.addMerchant("100");
  const { body: created } = await api.call("POST", "/api/withdrawals", {
    key,
    body: {
      amount: "10",
      currency: "USDT",
      network: "TRX",
      destination: DESTINATION,
      referenceId: "r1",
    },
  });
  const { withdrawalId } = created;
  await addSpend(sql, "aa");
  await addSpend(sql, "bb", "11");
  const listed = await run("list");
  assertMatch(
    listed,
    new RegExp(`TRX: nothing is signed: money left.*${withdrawalId} of ${id} \\(r1\\)`, "s"),
  );
  const wrong = await api.call("POST", "/api/admin/failover/match", {
    key: admin,
    body: { txid: "bb", withdrawalId },
  });
  assertEquals(wrong.status, 409, "another amount");
  assertMatch(await run("match", ["aa", withdrawalId]), /success\s+true/);
  const [row] = await sql<{ status: string; txid: string; outgoing: string }[]>`
    SELECT w.status, w.txid, o.status AS outgoing FROM book.withdrawal w JOIN book.outgoing o ON o.id = w.outgoing_id`;
  assertEquals({ ...row }, { status: "CONFIRMED", txid: "aa", outgoing: "void" });
  const again = await api.call("POST", "/api/admin/failover/match", {
    key: admin,
    body: { txid: "aa", withdrawalId },
  });
  assertEquals(again.status, 404, "it is decided once");
  await run("write-off", ["bb"], { reason: "moved by hand" });
  assertEquals(await readSigningStop(sql, "TRX"), null);
  assertEquals(await booksFaults(sql), []);
});

test("a withdrawal that the database has lost is booked by its transfer: debit, charges, statement and events", async () => {
  await using rig = await openRig();
  const { api, run, balances } = rig;
  const { sql } = api;
  const { id, key } = await api.addMerchant("100");
  await addSpend(sql, "cc");
  assertMatch(await run("book", ["cc", id], { reference: "lost-1" }), /withdrawalId\s+wd_/);
  // 10, the base fee of 1 and the network fee of 1
  assertEquals((await balances(key)).available, "88");
  const [row] = await sql<{ status: string; reference_id: string; seq: string }[]>`
    SELECT status, reference_id, seq FROM book.withdrawal`;
  assertEquals({ ...row }, { status: "CONFIRMED", reference_id: "lost-1", seq: "1" });
  const events = await sql<{ type: string }[]>`
    SELECT DISTINCT type FROM book.outbox WHERE payment_id LIKE 'wd_%' ORDER BY type`;
  assertEquals(events.map(({ type }) => type), ["transaction.confirmed", "withdrawal.confirmed"]);
  assertEquals(await booksFaults(sql), []);
  const [spend] = await sql<{ status: string }[]>`SELECT status FROM hub.unknown_spend`;
  assertEquals(spend?.status, "booked");
});

test("a lost payout is booked with its reference or expressly without one, and then its repeat is refused", async () => {
  await using rig = await openRig();
  const { api, admin, run } = rig;
  const { id, key } = await api.addMerchant("100");
  await addSpend(api.sql, "cc");
  for (
    const options of [{}, { reference: "" }, { reference: "lost-1", "without-reference": "on" }]
  ) {
    const refused = await assertRejects(() => run("book", ["cc", id], options), Refused);
    assertMatch(refused.message, /^Cannot book with(?:out)? --reference/);
  }
  const silent = await api.call("POST", "/api/admin/failover/book", {
    key: admin,
    body: { txid: "cc", merchantId: id },
  });
  assertEquals([silent.status, silent.body.details[0].path], [400, ["referenceId"]]);
  // what no merchant can send refuses no repeat
  for (const referenceId of ["", "lost\n1", "x".repeat(129)]) {
    const body = { txid: "cc", merchantId: id, referenceId };
    const strange = await api.call("POST", "/api/admin/failover/book", { key: admin, body });
    assertEquals([strange.status, strange.body.details[0].path], [400, ["referenceId"]]);
  }
  assertEquals((await api.sql`SELECT FROM book.withdrawal`).length, 0);
  await run("book", ["cc", id], { reference: " lost-1\n" });
  const body = { amount: "10", currency: "USDT", network: "TRX", destination: DESTINATION };
  const repeated = await api.call("POST", "/api/withdrawals", {
    key,
    body: { ...body, referenceId: "lost-1" },
  });
  assertEquals(repeated.status, 409, "it is not paid a second time");
});

test("a transfer is booked once, however often and for whomever it is asked, and a verdict that loses leaves nothing", async () => {
  await using rig = await openRig();
  const { api, balances } = rig;
  const { sql } = api;
  const { id, key: one } = await api.addMerchant("100");
  const { id: other, key: two } = await api.addMerchant("100");
  const key = await api.addKey(null, { permissions: ["admin:read", "admin:write"] });
  await addSpend(sql, "cc");
  const book = (merchantId: string) =>
    api.call("POST", "/api/admin/failover/book", {
      key,
      body: { txid: "cc", merchantId, referenceId: null },
    });
  const off = () =>
    api.call("POST", "/api/admin/failover/write-off", { key, body: { txid: "cc", reason: "why" } });
  const answers = await Promise.all([book(id), book(id), book(other), off(), book(id)]);
  const given = answers.filter(({ status }) => status === 200);
  assert(given.length > 0, JSON.stringify(answers));
  assertEquals(new Set(given.map(({ body }) => body.withdrawalId)).size, 1, "one verdict");
  const made = await sql<{ status: string; payout: string }[]>`
    SELECT w.status, o.status AS payout FROM book.withdrawal w JOIN book.outgoing o ON o.id = w.outgoing_id`;
  const [spend] = await sql<{ status: string }[]>`SELECT status FROM hub.unknown_spend`;
  assertEquals(
    made.map((row) => ({ ...row })),
    spend?.status === "written_off" ? [] : [{ status: "CONFIRMED", payout: "void" }],
  );
  const available = [(await balances(one)).available, (await balances(two)).available].sort();
  assertEquals(available, spend?.status === "written_off" ? ["100", "100"] : ["100", "88"]);
  // nothing stops signing any more, and nothing waits for a signature
  assertEquals(await readSigningStop(sql, "TRX"), null);
  const pull = { network: "TRX", node: "n", turnMs: 1_000, limit: 10, of: "merchants" } as const;
  assertEquals(await pullQueued(sql, pull), null);
  assertEquals((await readCommitments(sql, "TRX")).assets.size, 0);
  assertEquals(await booksFaults(sql), []);
});

test("a booking that died before the list was told is finished when it is repeated, and by no other verdict", async () => {
  await using rig = await openRig();
  const { api, admin, balances } = rig;
  const { sql } = api;
  const { id, key: merchantKey } = await api.addMerchant("100");
  const { id: other, key: otherKey } = await api.addMerchant("100");
  await addSpend(sql, "cc");
  const call = (verb: string, body: unknown) =>
    api.call("POST", `/api/admin/failover/${verb}`, { key: admin, body });
  const first = await call("book", { txid: "cc", merchantId: id, referenceId: null });
  assertEquals(first.status, 200);
  const { body: { withdrawalId: waiting } } = await api.call("POST", "/api/withdrawals", {
    key: otherKey,
    body: { amount: "10", currency: "USDT", network: "TRX", destination: DESTINATION },
  });
  // as if the process had died between its two commits
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`
      UPDATE hub.unknown_spend SET status = 'open', decided_at = NULL, actor = NULL, merchant_id = NULL, withdrawal_id = NULL`;
  });
  const paid = `It has paid ${first.body.withdrawalId} already: match it with that`;
  for (
    const late of [
      await call("book", { txid: "cc", merchantId: other, referenceId: null }),
      await call("match", { txid: "cc", withdrawalId: waiting }),
      await call("write-off", { txid: "cc", reason: "why", anyway: true }),
    ]
  ) {
    assertEquals([late.status, late.body.message], [409, paid]);
  }
  assertEquals(
    (await call("book", { txid: "cc", merchantId: id, referenceId: null })).body,
    first.body,
  );
  assertEquals(
    (await sql`SELECT FROM book.withdrawal WHERE status = 'CONFIRMED'`).length,
    1,
    "booked once, and what waits waits on",
  );
  assertEquals((await balances(merchantKey)).available, "88");
  const [spend] = await sql<{ status: string }[]>`SELECT status FROM hub.unknown_spend`;
  assertEquals(spend?.status, "booked");
  assertEquals(await booksFaults(sql), []);
});

test("a transfer that has left is booked whatever the wallet, the pair, the minimum and the merchant's status say by now", async () => {
  // the wallet is short because of this very transfer, and of what waits for the verdict
  await using rig = await openRig({ liquidity: () => amountOf("5") });
  const { api, admin, balances } = rig;
  const { sql } = api;
  const { id, key } = await api.addMerchant("100");
  await sql`UPDATE book.pair SET withdrawals_enabled = false, min_withdrawal = 1000`;
  await sql`UPDATE book.merchant SET status = 'SUSPENDED' WHERE merchant_id = ${id}`;
  await addSpend(sql, "cc");
  const book = await api.call("POST", "/api/admin/failover/book", {
    key: admin,
    body: { txid: "cc", merchantId: id, referenceId: null },
  });
  assertEquals(book.status, 200, JSON.stringify(book.body));
  assertEquals((await balances(key)).available, "88");
  const [line] = await sql<{ effect: string; status: string }[]>`
    SELECT trim_scale(effect)::text AS effect, status FROM book.transaction WHERE type = 'WITHDRAWAL'`;
  assertEquals({ ...line }, { effect: "-12", status: "CONFIRMED" });
  assertEquals(await booksFaults(sql), []);
});

test("the database keeps no half of a booking: neither a withdrawal that waits nor a payout that could be signed", async () => {
  await using rig = await openRig();
  const { api: { sql } } = rig;
  const { id } = await rig.api.addMerchant("100");
  await addSpend(sql, "cc");
  await rig.run("book", ["cc", id], { reference: "lost-1" });
  for (const status of ["queued", "signed"]) {
    await assertRejects(
      async () =>
        await sql`
        INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination,
          status, created_at, updated_at)
        SELECT 'out_' || ${status}, merchant_id, kind, payment_id, network, currency, amount, destination,
          ${status}, created_at, updated_at FROM book.outgoing`,
      Error,
      "outgoing_booked_is_void",
    );
  }
  await assertRejects(
    async () => await sql`DELETE FROM book.ingested WHERE event_id LIKE 'failover/%'`,
    Error,
  );
});

test("two lost payouts of the same terms are booked one by one, each by its own transfer, after a booking that failed too", async () => {
  await using rig = await openRig();
  const { api, admin, balances } = rig;
  const { sql } = api;
  const { id, key } = await api.addMerchant("100");
  await addSpend(sql, "c1");
  await addSpend(sql, "c2");
  const call = (verb: string, body: unknown) =>
    api.call("POST", `/api/admin/failover/${verb}`, { key: admin, body });
  // another verdict is faster for a moment
  await sql`
    INSERT INTO book.ingested (event_id, body_hash, merchant_id, created_at)
    VALUES ('failover/TRX/c1', 'another', ${id}, now())`;
  assertEquals((await call("book", { txid: "c1", merchantId: id, referenceId: null })).status, 409);
  assertEquals((await sql`SELECT FROM book.withdrawal`).length, 0);
  assertEquals((await balances(key)).available, "100");
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`DELETE FROM book.ingested`;
  });
  const { body: listed } = await api.call("GET", "/api/admin/failover", { key: admin });
  assertEquals(
    listed.unknownSpends.map((one: { candidates: unknown }) => one.candidates),
    [[], []],
    "what was not booked waits for nothing",
  );
  const first = await call("book", { txid: "c1", merchantId: id, referenceId: null });
  const { withdrawalId } = first.body;
  assertEquals((await call("match", { txid: "c2", withdrawalId })).status, 409);
  assertEquals((await call("book", { txid: "c2", merchantId: id, referenceId: null })).status, 200);
  assertEquals((await balances(key)).available, "76");
  assertEquals(await booksFaults(sql), []);
});

test("no verdict passes a withdrawal that would be paid beside the transfer, unless it says so", async () => {
  await using rig = await openRig();
  const { api, admin, run } = rig;
  const { sql } = api;
  const { id, key } = await api.addMerchant("100");
  const { id: other } = await api.addMerchant("100");
  const { body: { withdrawalId } } = await api.call("POST", "/api/withdrawals", {
    key,
    body: { amount: "10", currency: "USDT", network: "TRX", destination: DESTINATION },
  });
  await addSpend(sql, "aa");
  await addSpend(sql, "bb");
  const call = (verb: string, body: unknown) =>
    api.call("POST", `/api/admin/failover/${verb}`, { key: admin, body });
  const queued = `${withdrawalId} of ${id} has the same terms and is queued, and would be paid ` +
    "as well. Match it, or repeat with anyway";
  const strangers = await call("book", { txid: "aa", merchantId: "mer_nobody", referenceId: null });
  assertEquals(strangers.status, 404);
  for (
    const refused of [
      await call("book", { txid: "aa", merchantId: id, referenceId: null }),
      await call("book", { txid: "aa", merchantId: other, referenceId: null }),
      await call("write-off", { txid: "aa", reason: "why" }),
    ]
  ) {
    assertEquals([refused.status, refused.body.message], [409, queued]);
  }
  assertEquals((await sql`SELECT FROM book.ingested`).length, 0, "nothing was changed");
  // another signer's bytes stand for it: it is still the same payout, and still would be paid
  await sql`UPDATE book.outgoing SET status = 'signed', attempts = 1`;
  await sql`
    INSERT INTO book.attempt (outgoing_id, number, merchant_id, network, txid, bytes, expires_at, dies_after, created_at, fee_limit, adopted)
    SELECT id, 1, merchant_id, network, 'b0', 'b0', '2026-11-23T10:00:00Z', 1795428000000, now(), 1, true FROM book.outgoing`;
  assertMatch(
    await run("list"),
    new RegExp(`${withdrawalId} of ${id}, waits for its expiry at 2026-11-23T10:00:00.000Z`),
  );
  const signed =
    `${withdrawalId} of ${id} has the same terms and is signed: bytes of it may come ` +
    "to a block until 2026-11-23T10:00:00.000Z, after which it is queued";
  assertEquals(
    (await call("write-off", { txid: "aa", reason: "why" })).body.message,
    `${signed}, and would be paid as well. Match it, or repeat with anyway`,
  );
  const early = await call("match", { txid: "aa", withdrawalId });
  assertEquals([early.status, early.body.message], [409, `${signed}. Match it then`]);
  assertEquals((await call("write-off", { txid: "aa", reason: "w", anyway: true })).status, 200);
  const booked = await run("book", ["bb", other], { anyway: "on", "without-reference": "on" });
  assertStringIncludes(booked, "a repeat of it is a new withdrawal, and is paid as well");
  const spends = await sql<
    { status: string }[]
  >`SELECT status FROM hub.unknown_spend ORDER BY txid`;
  assertEquals(spends.map(({ status }) => status), ["written_off", "booked"]);
  const refusals = await sql<{ refused: string }[]>`
    SELECT DISTINCT refused FROM hub.audit WHERE refused IS NOT NULL ORDER BY refused`;
  assertEquals(refusals.map(({ refused }) => refused), ["candidate", "signed"]);
});

test("what a merchant has too little for is not booked, and nothing ends a hold past it", async () => {
  await using rig = await openRig();
  const { api, admin, run } = rig;
  const { sql } = api;
  const { id } = await api.addMerchant("5");
  await run("declare", [], { reason: "a copy of the files was restored" });
  await addSpend(sql, "dd");
  const book = await api.call("POST", "/api/admin/failover/book", {
    key: admin,
    body: { txid: "dd", merchantId: id, referenceId: null },
  });
  assertEquals([book.status, book.body.error], [400, "Insufficient balance"]);
  assertEquals((await sql`SELECT FROM book.withdrawal`).length, 0);
  const end = () =>
    api.call("POST", "/api/admin/failover/end", { key: admin, body: { reason: "over" } });
  assertEquals((await end()).body.message, "Transfers left wallets that nobody has decided on");
  await run("write-off", ["dd"], { reason: "the merchant pays it back" });
  assertEquals((await end()).body.message, "Transactions signed before may still come to a block");
  await sql`UPDATE hub.failover_network SET network = 'SOL'`;
  assertEquals((await end()).status, 200, "its network is served no longer");
  assertEquals(await readSigningStop(sql, "TRX"), null);
  const reader = await api.addKey(null, { permissions: ["admin:read"] });
  const refused = await api.call("POST", "/api/admin/failover/declare", {
    key: reader,
    body: { reason: "no" },
  });
  assertEquals(refused.status, 403);
  const audits = await sql<{ action: string }[]>`
    SELECT action FROM hub.audit WHERE refused IS NULL ORDER BY id`;
  assertEquals(audits.map(({ action }) => action), [
    "failover.declare",
    "failover.write-off",
    "failover.end",
  ]);
});

test("a declared history jumps over as many address numbers as are set", async () => {
  await using rig = await openRig({ addressGap: 7 });
  const { api: { sql }, run } = rig;
  await run("declare", [], { reason: "a copy of the files was restored" });
  const [row] = await sql<{ first: number; last: number; next: number }[]>`
    SELECT gap_first AS first, gap_last AS last, next_index AS next
    FROM hub.failover_network JOIN hub.wallet USING (network)`;
  assertEquals({ ...row }, { first: 0, last: 6, next: 7 });
});
