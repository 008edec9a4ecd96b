import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { AcknowledgedCommits } from "../../actors/failover/acknowledged_commits.ts";
import { HistoryWatch } from "../../actors/failover/history_watch.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { readOpenHolds, readSigningStop, setHoldBound } from "../../ledger/failover/holds.ts";
import { formatAmount } from "../../ledger/money/amount.ts";
import { boundKeptTimes } from "../../ledger/retention.ts";
import { addressOf } from "../support/api.ts";
import { addMerchant, booksFaults, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { openTreasuryRig, type TreasuryRig } from "./support/treasury_rig.ts";

const test = testNeeding(DATABASE);

/** Makes what the server writes another history than the known one, as a promotion does. */
async function promote(sql: Sql): Promise<void> {
  await sql`UPDATE hub.database_history SET timeline = timeline + 1_000_000`;
}

/** Takes the commits away that signed a payout, as a standby does that did not receive them. */
async function loseSignature({ sql }: TreasuryRig, withdrawalId: string): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`DELETE FROM book.attempt`;
    await tx`
      UPDATE book.outgoing SET status = 'queued', attempts = 0, reason = NULL, lease_until = NULL
      WHERE payment_id = ${withdrawalId}`;
  });
}

async function openHolds(sql: Sql): Promise<number> {
  const [row] = await sql<{ open: number }[]>`
    SELECT count(*)::int AS open FROM hub.failover WHERE ended_at IS NULL`;
  return row?.open ?? 0;
}

/** Until after now, by the chain's clock: that is what a hold waits for. */
async function letTimePass(rig: TreasuryRig): Promise<void> {
  await until(async () => {
    const rows = await rig.sql`SELECT FROM hub.failover_network WHERE until_time IS NULL`;
    return rows.length === 0;
  });
  await rig.mine(2, 600_000);
  await rig.mineUntil("the hold is over", async () => await openHolds(rig.sql) === 0);
}

test("another history holds payouts in the statements that sign, until all that was signed before is compared", async () => {
  await using rig = await openTreasuryRig();
  const { sql, engine } = rig;
  const { key } = await rig.merchant("1000");
  const indexOf = async () => {
    const [row] = await sql<{ next: number }[]>`SELECT next_index AS next FROM hub.wallet`;
    return row?.next ?? 0;
  };
  const before = await indexOf();
  await promote(sql);
  // before anybody has looked
  assertMatch(await readSigningStop(sql, "TRX") ?? "", /another history/);
  const others = Array.from({ length: 3 }, () =>
    new HistoryWatch({
      sql,
      chains: new Map([["TRX", rig.chain]]),
      acknowledged: new AcknowledgedCommits(Date.now),
      highestIndexes: () => new Map(),
      dropCaches: () => {},
    }));
  await Promise.all([engine.history, ...others].map((watch) => watch.poll()));
  assertEquals(await openHolds(sql), 1, "several nodes open one hold");
  assert(await indexOf() >= before + 1_000);
  const id = await rig.withdraw(key, "10", addressOf(0xa001));
  await rig.mine(6);
  assertEquals((await rig.payout(id)).status, "queued");
  await letTimePass(rig);
  await rig.mineUntil("it is paid", async () => (await rig.payout(id)).status === "final");
  assertEquals((await rig.payout(id)).outcomes, ["paid"]);
  const lost = await sql`SELECT FROM hub.address WHERE merchant_id = 'mer_lost'`;
  assertEquals(lost.length, 1_000);
  const audits = await sql`SELECT FROM hub.audit WHERE action = 'failover.end'`;
  assertEquals(audits.length, 1);
});

test("a payout that was signed in the lost history is continued with the bytes that the signer remembers", async () => {
  let open = true;
  await using rig = await openTreasuryRig({ signs: () => open });
  const { sql, engine } = rig;
  const { key } = await rig.merchant("1000");
  const receiver = addressOf(0xa002);
  const id = await rig.withdraw(key, "10", receiver);
  await until(async () => (await rig.payout(id)).status === "signed");
  const txids = () => sql<{ txid: string }[]>`SELECT txid FROM book.attempt ORDER BY number`;
  const [first] = await txids();
  await until(async () => (await (await fetch(`${rig.chainUrl}/dev/info`)).json()).pending >= 1);
  open = false;
  await loseSignature(rig, id);
  await promote(sql);
  await rig.mine(4);
  await engine.history.poll();
  open = true;
  await rig.mineUntil("it is paid", async () => (await rig.payout(id)).status === "final");
  assertEquals((await txids()).map(({ txid }) => txid), [first?.txid]);
  assertEquals(formatAmount(await rig.chain.balanceOf(receiver, "USDT")), "10");
  await letTimePass(rig);
  assertEquals(await readSigningStop(sql, "TRX"), null);
  assertEquals(await booksFaults(sql), []);
});

test("no address is numbered while the database continues another history, and none is handed out twice after", async () => {
  await using rig = await openTreasuryRig();
  const { sql, engine } = rig;
  const { id } = await rig.merchant("10");
  const first = await engine.addressBook.take("TRX", id);
  // what a copy lacks: the index that was taken, and the address
  await sql`DELETE FROM hub.address WHERE address = ${first.address}`;
  await sql`UPDATE hub.wallet SET next_index = 0`;
  await promote(sql);
  engine.addressBook.dropCaches();
  const soon = engine.addressBook.take("TRX", id);
  await assertRejects(() => soon, Error, "another history");
  await engine.history.poll();
  const second = await engine.addressBook.take("TRX", id);
  assert(second.index > 999);
  const [owner] = await sql<{ merchant_id: string }[]>`
    SELECT merchant_id FROM hub.address WHERE address = ${first.address}`;
  assertEquals(owner?.merchant_id, "mer_lost", "what is paid to it waits for an operator");
});

test("a hold that was opened while the database's clock was a year ahead ends once the clock is right", async () => {
  await using rig = await openTreasuryRig();
  const { sql } = rig;
  await sql.begin(async (tx) => {
    await tx`SELECT hub.open_failover('fov_ahead', 'history', 'a', 'b', 'another history', 'engine', 10)`;
    await tx`UPDATE hub.failover SET found_at = now() + interval '1 year'`;
    // what an earlier look has noted
    await tx`
      UPDATE hub.failover_network SET head_height = 1, until_time = now() + interval '1 year',
        until_tick = extract(epoch FROM now() + interval '1 year') * 1000`;
  });
  await rig.mine(1);
  await boundKeptTimes(sql);
  await letTimePass(rig);
  assertEquals(await readSigningStop(sql, "TRX"), null);
});

test("a hold notes no end from a newest block and a clock that are an hour apart, nor from a height that blocks of its chain's pace do not reach", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await sql`
    INSERT INTO hub.failover (id, cause, reason, actor, found_at)
    VALUES ('fov_a', 'declared', 'a test', 'operator', now() + interval '1 year')`;
  await sql`
    INSERT INTO hub.failover_network (failover_id, network, gap_first, gap_last) VALUES ('fov_a', 'TRX', 0, 0)`;
  await sql`
    INSERT INTO hub.cursor (network, view, height, hash, time, previous_time, tick, previous_tick)
    VALUES ('TRX', 'solid', 100, '100', now() - interval '1 hour', now() - interval '1 hour', 100, 99)`;
  const HOUR = 3_600_000;
  const lifetimeMs = 60_000;
  const now = Date.now();
  const note = (height: number, time: number, blockMs = 3_000) =>
    setHoldBound(sql, "fov_a", "TRX", {
      height,
      time,
      tick: time,
      lifeTicks: lifetimeMs,
      lifetimeMs,
      blockMs,
    });
  const reachable = (blockMs: number) => 100 + 2 * 2 * HOUR / blockMs;
  for (
    const [what, height, time, blockMs] of [
      ["a time in a year", 200, now + 365 * 24 * HOUR],
      ["a time that no column holds", 200, Number.MAX_SAFE_INTEGER],
      ["a time of yesterday", 200, now - 24 * HOUR],
      ["a height that no chain has", Number.MAX_SAFE_INTEGER, now],
      ["more blocks of 12 s than time has passed for", reachable(12_000) + 10, now, 12_000],
      ["more blocks of 3 s than time has passed for", reachable(3_000) + 10, now, 3_000],
      ["more blocks of 0.4 s than time has passed for", reachable(400) + 50, now, 400],
    ] as const
  ) {
    assertEquals(await note(height, time, blockMs), false, what);
    assertEquals((await readOpenHolds(sql, "TRX"))[0]?.untilTime, null, what);
  }
  // a chain of fast blocks is further up after an hour than one of slow ones can be
  for (const blockMs of [12_000, 3_000, 400]) {
    assertEquals(await note(100 + HOUR / blockMs, now, blockMs), true, `blocks of ${blockMs} ms`);
    await sql`UPDATE hub.failover_network SET head_height = NULL, until_time = NULL, until_tick = NULL`;
  }
  const ahead = now + HOUR / 2;
  assertEquals(await note(1_300, ahead), true);
  assertEquals(await readOpenHolds(sql, "TRX"), [
    {
      failoverId: "fov_a",
      untilTime: ahead + lifetimeMs,
      untilTick: ahead + lifetimeMs,
      headHeight: 1_300,
    },
  ]);
  assertEquals(await note(1_400, now), false, "what is noted stays");
  await sql`UPDATE hub.failover_network SET head_height = NULL, until_time = NULL, until_tick = NULL`;
  // a node that is behind would tell the time of before
  assertEquals(await note(1_300, now - HOUR / 2), true);
  const [hold] = await readOpenHolds(sql, "TRX");
  assert((hold?.untilTime ?? 0) >= now + lifetimeMs - 1_000);
  // so would a node and a promoted machine's clock that are both behind what was committed and scanned before
  const merchantId = await addMerchant(sql);
  for (const [what, minutes] of [["book.account", 20], ["hub.cursor", 30]] as const) {
    const time = new Date(now + minutes * 60_000);
    if (what === "book.account") {
      await sql`UPDATE book.account SET last_at = ${time} WHERE merchant_id = ${merchantId}`;
    } else await sql`UPDATE hub.cursor SET time = ${time}`;
    await sql`UPDATE hub.failover_network SET head_height = NULL, until_time = NULL, until_tick = NULL`;
    assertEquals(await note(1_050, now), true);
    assertEquals((await readOpenHolds(sql, "TRX"))[0]?.untilTime, time.getTime() + lifetimeMs);
  }
});

test("an address that was watched in the lost history is watched for the merchant that it is issued to in this one", async () => {
  await using rig = await openTreasuryRig();
  const { sql, engine } = rig;
  const { id } = await rig.merchant("10");
  const { id: other } = await rig.merchant("10");
  const issue = (
    identifier: string,
    fresh: { readonly addressId: string; readonly address: string; readonly index: number },
    merchantId = id,
  ) =>
    engine.merchants.ask(merchantId, {
      type: "issue-address",
      kind: "issued",
      at: Date.now(),
      network: "TRX",
      identifier,
      referenceId: null,
      createOnly: false,
      fresh,
    }, 60_000);
  const ownerOf = async (address: string) => {
    const [row] = await sql<{ owner: string }[]>`
      SELECT merchant_id AS owner FROM hub.address WHERE address = ${address}`;
    return row?.owner;
  };
  const watched = [
    await engine.addressBook.take("TRX", id),
    await engine.addressBook.take("TRX", id),
    await engine.addressBook.take("TRX", id),
  ] as const;
  const [before, after, taken] = watched;
  // the promoted standby lacks these commits; the issue is decided again before the jump, or after it
  await sql`DELETE FROM hub.address WHERE address = ANY (${watched.map(({ address }) => address)})`;
  await sql`UPDATE hub.wallet SET next_index = 0`;
  await promote(sql);
  assertEquals((await issue("before", before)).kind, "done");
  await engine.history.poll();
  assertEquals(await ownerOf(after.address), "mer_lost");
  assertEquals((await issue("after", after)).kind, "done");
  assertEquals([await ownerOf(before.address), await ownerOf(after.address)], [id, id]);
  // one that this history has handed out to another merchant meanwhile is refused
  await sql`UPDATE hub.address SET merchant_id = ${other} WHERE address = ${taken.address}`;
  assertEquals(
    (await issue("taken", taken).catch(() => ({ kind: "failed" }))).kind !== "done",
    true,
  );
  assertEquals(await ownerOf(taken.address), other);
  assertEquals((await issue("next", await engine.addressBook.take("TRX", id))).kind, "done");
  for (const { address } of [before, after]) {
    await rig.control("/dev/transfer", { to: address, amount: "7" });
  }
  await rig.mineUntil("both are credited", async () =>
    (await sql`
      SELECT FROM book.deposit WHERE merchant_id = ${id} AND status = 'CONFIRMED' AND amount = 7`)
      .length === 2);
  assertEquals(await booksFaults(sql), []);
});
