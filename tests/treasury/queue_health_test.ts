import { assertEquals } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import { declareFailover } from "../../ledger/failover/holds.ts";
import { readQueueHealth } from "../../ledger/treasury/queue.ts";
import { queueReasons } from "../../app/health/treasury.ts";
import { addressOf } from "../support/api.ts";
import { amount, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { addWallet } from "../support/wallet_row.ts";
import { openTreasuryRig } from "./support/treasury_rig.ts";

const test = testNeeding(DATABASE);
const NOW = 1_700_000_000_000;
const AUDIT = {
  id: "aud_1",
  merchantId: null,
  actor: "key_1",
  action: "failover.declare",
  subject: "fov_1",
  before: null,
  after: null,
  requestId: null,
};

test("payouts are counted by whether a turn, money, a person or their own data is lacking", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const reasons = [
    null,
    "waiting for another try",
    "waiting for USDT",
    "waiting for the token: its issuer has paused all transfers",
    "signer: paused: Cannot sign out_1 as signing is paused",
    "signer: over-limit: Cannot sign out_1 as it is more than 5 per day",
    "signer: over-limit: Cannot sign out_1 as it is more than 5 per transaction",
    "signer: over-limit: Cannot sign out_2 as it is more than 5 per transaction",
    "the transfer would fail",
    "the token would keep a part",
    "it cannot be prepared: Cannot read an address: T",
  ];
  for (const [index, reason] of reasons.entries()) {
    const id = newId("out");
    await sql`
      INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, reason, created_at, updated_at)
      VALUES (${id}, 'mer_1', 'payout', ${`wd_${id}`}, 'TRX', 'USDT', 10, 'T', 'queued', ${reason},
        ${new Date(NOW + index)}, now())`;
  }
  assertEquals(await readQueueHealth(sql, "TRX"), {
    payable: { count: 2, oldestAt: NOW },
    held: { count: 4, oldestAt: NOW + 2 },
    signed: { count: 0, oldestAt: null },
    overCap: { count: 2, oldestAt: NOW + 6 },
    quarantined: { count: 3, oldestAt: NOW + 8 },
  });
  for (const reason of ["waiting for another try", "waiting for nodes to answer"]) {
    await sql`UPDATE book.outgoing SET reason = 'waiting for USDT'`;
    await sql`UPDATE book.outgoing SET reason = ${reason} WHERE created_at = ${new Date(NOW + 5)}`;
    assertEquals((await readQueueHealth(sql, "TRX")).payable.oldestAt, NOW + 5);
  }
  // what a hold stops has no turn, and is no payout that could be made
  await addWallet(sql, "TRX", "hot");
  const stopped = async () => {
    const { payable, held } = await readQueueHealth(sql, "TRX");
    return [payable.count, held.count, held.oldestAt];
  };
  await sql`UPDATE book.outgoing SET reason = NULL`;
  assertEquals(await stopped(), [reasons.length, 0, null]);
  await declareFailover(sql, "fov_1", 10, "a copy was restored", AUDIT);
  assertEquals(await stopped(), [0, reasons.length, NOW]);
  await sql`UPDATE hub.failover_network SET network = 'SEP'`;
  assertEquals(await stopped(), [reasons.length, 0, null]);
  const bySigner = await readQueueHealth(sql, "TRX", true);
  assertEquals([bySigner.payable.count, bySigner.held.count], [0, reasons.length]);
  assertEquals(await readQueueHealth(sql, "ETH"), {
    payable: { count: 0, oldestAt: null },
    held: { count: 0, oldestAt: null },
    signed: { count: 0, oldestAt: null },
    overCap: { count: 0, oldestAt: null },
    quarantined: { count: 0, oldestAt: null },
  });
});

Deno.test("readiness tells how many wait for a person, and since when the oldest payable one does", () => {
  const minutes = (count: number) => NOW - count * 60_000;
  const none = { count: 0, oldestAt: null };
  const idle = { held: none, signed: none };
  const calm = {
    queue: {
      payable: { count: 1, oldestAt: minutes(1) },
      ...idle,
      overCap: { count: 0, oldestAt: null },
      quarantined: { count: 0, oldestAt: null },
    },
    tokens: [],
  };
  assertEquals(queueReasons(calm, "TRX", NOW), []);
  const troubled = {
    queue: {
      payable: { count: 1, oldestAt: minutes(7) },
      ...idle,
      overCap: { count: 2, oldestAt: minutes(30) },
      quarantined: { count: 1, oldestAt: minutes(3) },
    },
    tokens: ["USDT: its issuer has paused all transfers"],
  };
  assertEquals(queueReasons(troubled, "TRX", NOW), [
    "TRX USDT: its issuer has paused all transfers",
    "TRX has 2 payouts above the signer's cap per transaction that wait for a person, the oldest for 30 minutes",
    "TRX has 1 payouts that cannot be signed as they are, the oldest for 3 minutes",
    "TRX has a payout that could be paid and waits for 7 minutes",
  ]);
});

test("a payout above the signer's cap is told to the operator, and holds up no other", async () => {
  await using rig = await openTreasuryRig({
    limits: { "USDT/TRX": { perTransaction: amount("50") } },
  });
  const admin = await rig.api.addKey(null, { permissions: ["admin:read"] });
  const { key } = await rig.merchant("1000");
  const large = await rig.withdraw(key, "60", addressOf(0xdead));
  const small = await rig.withdraw(key, "10", addressOf(0xbeef));
  await rig.mineUntil("the small one is paid", async () => {
    return (await rig.payout(small)).status === "final";
  });
  await until(() => rig.engine.treasuries.get("TRX")?.queue.overCap.count === 1);
  const [network] =
    (await rig.api.call("GET", "/api/admin/treasury", { key: admin })).body.networks;
  assertEquals([network.overCap.count, network.setAside.count, network.tokens], [1, 0, []]);
  assertEquals((await rig.payout(large)).status, "queued");
});
