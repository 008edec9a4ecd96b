import { assert, assertEquals } from "@std/assert";
import { signQueued } from "../../actors/treasury/sign_queued.ts";
import { verifyAudit } from "../../ledger/audit_trail.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { migrate } from "../../ledger/database/migrate.ts";
import { findOwnTransactions, recordOutcomes } from "../../ledger/watcher/record_outcomes.ts";
import { addTransfer, amount, booksFaults, openJournal, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { openHook, openWebhooks } from "../support/hooks.ts";
import { nodeOf } from "../support/node_of.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { keptDumps, migrationsOf } from "./released.ts";
import { dumpRows, loadRows, renewAwaitedVerdict } from "./rows.ts";
import { statesWithoutRow } from "./states.ts";

const test = testNeeding(DATABASE);

const ONE_ROW = "a table of one row";
const NOT_REACHED = "not reached by the dump yet";
const NEVER_BACK = "what the service earns leaves this account by no step";
const FULL_BUCKET = "begins with the 250th row of a merchant's list: too large to be kept";
const NUMBERED = "no chain of the release numbers its senders' transactions";
const ONE_COMMIT = "a step within one commit: rows have it in their history only";

/** Tables and states that the newest dump has no row of, each with its reason. */
const WITHOUT_ROW: Readonly<Record<string, string>> = {
  "book.deposit_proof": NOT_REACHED,
  "book.event_revival": NOT_REACHED,
  "book.lane_nonce": NUMBERED,
  "book.late_outcome": NOT_REACHED,
  "book.late_sweep_address": NOT_REACHED,
  "book.list_bucket": FULL_BUCKET,
  "book.list_large_bucket": FULL_BUCKET,
  "book.list_summed": FULL_BUCKET,
  "book.told_nonce": NUMBERED,
  "hub.deposit_proof_rule": NOT_REACHED,
  "hub.scanned_contract": NOT_REACHED,
  "hub.scanned_range": NOT_REACHED,
  "hub.timer": NOT_REACHED,
  "hub.wallet_level": NOT_REACHED,
  "book.attempt.outcome = cancelled": NUMBERED,
  "book.attempt.outcome = superseded": NUMBERED,
  "book.attempt.purpose = cancel": NUMBERED,
  "book.duty.four_eyes = off": ONE_ROW,
  "book.duty.four_eyes = persons": ONE_ROW,
  "book.entry.from_account = activation_fee": NEVER_BACK,
  "book.entry.from_account = direct_deposit_fee": NEVER_BACK,
  "book.list_bucket.list = charge": FULL_BUCKET,
  "book.list_bucket.list = deposit": FULL_BUCKET,
  "book.list_bucket.list = settlement": FULL_BUCKET,
  "book.list_bucket.list = transaction": FULL_BUCKET,
  "book.list_bucket.list = withdrawal": FULL_BUCKET,
  "book.outgoing.kind = setup": "no chain of the release needs a contract for its sweeps",
  "book.settlement.status = APPROVED": ONE_COMMIT,
  "book.settlement.status = PENDING": ONE_COMMIT,
  "hub.installation.environment = development": ONE_ROW,
  "hub.installation.environment = staging": ONE_ROW,
};

/** The statements of a dump, without that of the server's own history. */
function tables(text: string): readonly string[] {
  return text.slice(text.indexOf("INSERT INTO ")).split("\n\n").map((part) => part.trim())
    .filter((part) => !part.startsWith("INSERT INTO hub.database_history "));
}

/** A database as a release has left it, and as the start of this version makes it. */
async function carriedOver(sql: Sql, version: string, text: string): Promise<void> {
  await migrate(sql, await migrationsOf(version));
  await loadRows(sql, text);
  assertEquals(
    tables(await dumpRows(sql)),
    tables(text),
    "rows are not restored as they were kept",
  );
  await migrate(sql);
}

test("every release has a kept dump, and that of the newest has a row of every state", async () => {
  const kept = await keptDumps();
  const newest = kept.at(-1);
  assert(newest !== undefined);
  await using database = await testDatabase({ migrated: false });
  await carriedOver(database.sql, newest.version, newest.text);
  assertEquals(
    [...await statesWithoutRow(database.sql)].sort(),
    Object.keys(WITHOUT_ROW).sort(),
    `tests/release/${newest.version}.sql has no row of these states, or has one of an exception: ` +
      "a state that came after it waits as an exception for the dump of the next release " +
      "(deno task release-dump)",
  );
});

test("a database of any release is carried over: its books hold and its payments go on", async (t) => {
  for (const { version, text } of await keptDumps()) {
    await t.step(version, async () => {
      await using database = await testDatabase({ migrated: false });
      const { sql } = database;
      await carriedOver(sql, version, text);
      await renewAwaitedVerdict(sql);
      assertEquals(await booksFaults(sql), []);
      assertEquals(await withoutTicks(sql), []);
      assertEquals((await verifyAudit(sql, null)).faults, []);
      await confirmPending(sql);
      await endPayouts(sql);
      await deliverWaiting(sql);
      assertEquals(await booksFaults(sql), []);
    });
  }
});

/** Rows whose tick is not the time that stood for it in 0.1.0, where all chains counted lives in time. */
async function withoutTicks(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT txid AS id FROM book.attempt WHERE created_at < now() - interval '1 minute'
      AND (dies_after <> extract(epoch FROM expires_at) * 1000 OR outcome = 'expired'
        AND (evidence->>'previousTick')::bigint <> extract(epoch FROM (evidence->>'previousTime')::timestamptz) * 1000)
    UNION ALL
    SELECT id FROM book.deposit WHERE status = 'PENDING' AND expires_at IS NOT NULL
      AND dies_after IS DISTINCT FROM extract(epoch FROM expires_at) * 1000
    UNION ALL
    SELECT network || '/' || view FROM hub.cursor
    WHERE tick <> extract(epoch FROM time) * 1000 OR previous_tick <> extract(epoch FROM previous_time) * 1000
    UNION ALL
    SELECT txid FROM book.inbox WHERE consumed_at IS NULL AND phase IN ('seen', 'solid')
      AND data->'diesAfter' IS DISTINCT FROM data->'expiresAt'`;
  return rows.map(({ id }) => id);
}

/** A deposit that was seen before the upgrade becomes final after it. */
async function confirmPending(sql: Sql): Promise<void> {
  const journal = openJournal(sql);
  try {
    const [seen] = await sql<
      { id: string; merchant_id: string; txid: string; to: string; address_id: string }[]
    >`
      SELECT d.id, d.merchant_id, d.txid, i.data ->> 'to' AS to, i.data ->> 'addressId' AS address_id
      FROM book.deposit d JOIN book.inbox i USING (merchant_id, network, txid)
      WHERE d.status = 'PENDING' AND i.phase = 'seen' AND d.expires_at IS NOT NULL LIMIT 1`;
    assert(seen !== undefined, "no deposit waits for its block");
    const { merchant_id: merchantId, txid, to, address_id: addressId } = seen;
    await addTransfer(sql, merchantId, "70", { txid, to, addressId });
    journal.wake(merchantId);
    await until(async () => await statusOf(sql, "deposit", seen.id) === "CONFIRMED");
  } finally {
    await journal.stop(2_000);
  }
}

/**
 * Payouts that were queued before the upgrade are signed after it, and they and those that were signed
 * before are paid by a block; one that was given up is refunded.
 */
async function endPayouts(sql: Sql): Promise<void> {
  const payouts = await sql<
    { id: string; status: string; paymentId: string; merchantId: string }[]
  >`
    SELECT id, status, payment_id AS "paymentId", merchant_id AS "merchantId" FROM book.outgoing
    WHERE status IN ('queued', 'signed', 'dead') AND payment_id IS NOT NULL ORDER BY id`;
  assertEquals(
    [...new Set(payouts.map(({ status }) => status))].sort(),
    ["dead", "queued", "signed"],
  );
  const living = payouts.filter(({ status }) => status !== "dead").map(({ id }) => id);
  const solid = {
    height: 20,
    parentHeight: 19,
    hash: "20",
    parentHash: "19",
    time: Date.now(),
    tick: Date.now(),
  };
  const block = () => Promise.resolve(solid);
  const chain = paperChain("TRX", { head: block, solid: block });
  await signQueued(chain, nodeOf(sql, chain));
  const attempts = await sql<{ txid: string }[]>`
    SELECT txid FROM book.attempt WHERE outgoing_id = ANY (${living}) AND outcome IS NULL`;
  const reasons = await sql`SELECT DISTINCT reason FROM book.outgoing WHERE id = ANY (${living})`;
  assertEquals(
    attempts.length,
    living.length,
    `a queued payout was not signed: ${JSON.stringify(reasons)}`,
  );
  const own = await findOwnTransactions(sql, "TRX", attempts.map(({ txid }) => txid));
  await recordOutcomes(
    sql,
    "TRX",
    own.map((one) => ({ own: one, result: "paid", reason: null, height: 21, fee: amount("6") })),
  );
  const journal = openJournal(sql);
  try {
    for (const { merchantId } of payouts) journal.wake(merchantId);
    for (const { status, paymentId } of payouts) {
      const wanted = status === "dead" ? "FAILED" : "CONFIRMED";
      await until(async () => await statusOf(sql, "withdrawal", paymentId) === wanted);
    }
  } finally {
    await journal.stop(2_000);
  }
}

/** Callbacks that waited before the upgrade reach their endpoints after it. */
async function deliverWaiting(sql: Sql): Promise<void> {
  await using hook = openHook();
  await sql`
    UPDATE book.merchant SET webhook_url = ${hook.url} WHERE webhook_enabled AND webhook_url IS NOT NULL`;
  const waiting = await sql<{ id: string }[]>`SELECT id FROM book.outbox WHERE status = 'PENDING'`;
  assert(waiting.length > 0, "no callback waits");
  const webhooks = openWebhooks(sql);
  webhooks.start();
  try {
    await until(async () => {
      const left = await sql`SELECT FROM book.outbox WHERE status = 'PENDING'`;
      return left.length === 0;
    });
  } finally {
    await webhooks.stop();
  }
  const arrived = new Set(hook.arrived.map(({ eventId }) => eventId));
  for (const { id } of waiting) assert(arrived.has(id), `a callback did not arrive: ${id}`);
}

async function statusOf(sql: Sql, table: "deposit" | "withdrawal", id: string) {
  const [row] = await sql<{ status: string }[]>`
    SELECT status FROM book.${sql(table)} WHERE id = ${id}`;
  return row?.status;
}
