import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import { addressOf } from "../support/api.ts";
import { booksFaults, until } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { openTreasuryRig, type TreasuryRig } from "./support/treasury_rig.ts";

const test = testNeeding(DATABASE);

/** A rig whose token keeps a part of what it moves, unseen before it does. */
async function openDesk(rig: TreasuryRig, feeBasisPoints: number) {
  const { key: admin, ...merchant } = {
    ...await rig.merchant("1000"),
    key: await rig.api.addKey(null, { permissions: ["admin:read", "admin:write"] }),
  };
  const key = await rig.api.addKey(merchant.id);
  const fee = async (points: number) => {
    await rig.control("/dev/token-switches", { feeBasisPoints: points });
    await rig.mine(1);
  };
  await fee(feeBasisPoints);
  return {
    ...merchant,
    admin,
    key,
    fee,
    /** A payout that ended unexpected. */
    async unexpected(destination: string): Promise<string> {
      const id = await rig.withdraw(key, "10", destination);
      await until(async () => (await rig.payout(id)).status === "signed");
      await rig.mineUntil("it has ended", async () => (await rig.payout(id)).status === "final");
      assertEquals((await rig.payout(id)).outcomes, ["unexpected"]);
      return id;
    },
    settle: (id: string, verdict: string, more: object = {}) =>
      rig.api.call("POST", `/api/admin/withdrawals/${id}/settle`, {
        key: admin,
        body: { verdict, reason: "looked at it", ...more },
      }),
    async transfer(to: string, amount: string): Promise<string> {
      const sent = await rig.control("/dev/transfer", { to, amount });
      await rig.mine(4);
      assert(typeof sent === "object" && sent !== null && "txid" in sent);
      return String(sent.txid);
    },
    async standing(id: string) {
      const [row] = await rig.sql<Record<string, string>[]>`
        SELECT w.status, trim_scale(b.available)::text AS available, trim_scale(b.reserved)::text AS reserved
        FROM book.withdrawal w JOIN book.balance b ON b.merchant_id = w.merchant_id WHERE w.id = ${id}`;
      return { ...row };
    },
    async quarantined() {
      const { body } = await rig.api.call("GET", "/api/admin/inbox", { key: admin });
      return body.rows;
    },
  };
}

test("a payout of which a part arrived ends when the rest was sent, once, and by no other word", async () => {
  await using rig = await openTreasuryRig({ isBlind: true });
  const desk = await openDesk(rig, 100);
  const payee = addressOf(0xdead);
  const id = await desk.unexpected(payee);
  await until(async () => (await desk.quarantined()).length === 1);
  const held = { status: "PENDING", available: "988", reserved: "10" };
  assertEquals(await desk.standing(id), held);
  // it cannot be waved away
  const [row] = await desk.quarantined();
  const { merchantId, network, txid, logIndex, phase } = row;
  const waved = await rig.api.call("POST", "/api/admin/inbox/acknowledge", {
    key: desk.admin,
    body: { merchantId, network, txid, logIndex, phase, reason: "seen" },
  });
  assertEquals(waved.status, 409);
  assertStringIncludes(waved.body.message, "withdrawals settle");
  // nor settled as what the chain does not show
  for (const verdict of ["paid", "not_paid"]) {
    const refused = await desk.settle(id, verdict);
    assertEquals(refused.status, 409);
    assertStringIncludes(refused.body.message, "9.9 of 10 reached the destination");
  }
  const old = await desk.settle(id, "paid", { txid: "ab".repeat(32) });
  assertStringIncludes(old.body.message, "not in a solid block");
  const own = await desk.settle(id, "paid", { txid });
  assertStringIncludes(own.body.message, "the service itself");
  await desk.fee(0);
  const tooLittle = await desk.settle(id, "paid", { txid: await desk.transfer(payee, "0.05") });
  assertStringIncludes(tooLittle.body.message, "0.05 by");
  assertEquals(await desk.standing(id), held);
  assertEquals(await booksFaults(rig.sql), []);

  const rest = await desk.transfer(payee, "0.1");
  // what a customer sent to a deposit address is a deposit already, and is no payout's rest
  await rig.sql`
    INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
    VALUES (${payee}, 'TRX', 'mer_other', 'adr_other', 77)`;
  const deposited = await desk.settle(id, "paid", { txid: rest });
  assertEquals(deposited.status, 409);
  assertStringIncludes(deposited.body.message, "is a deposit address");
  await rig.sql`DELETE FROM hub.address WHERE address_id = 'adr_other'`;

  const done = await desk.settle(id, "paid", { txid: rest });
  assertEquals([done.status, done.body], [200, {
    success: true,
    withdrawalId: id,
    verdict: "paid",
    status: "CONFIRMED",
    changed: true,
    arrived: "10",
  }]);
  assertEquals(await desk.standing(id), { status: "CONFIRMED", available: "988", reserved: "0" });
  assertEquals(await desk.quarantined(), []);
  assertEquals((await desk.settle(id, "paid", { txid: rest })).body.changed, false);
  assertEquals((await desk.settle(id, "not_paid")).status, 409);
  const audit = await rig.sql`
    SELECT action, after ->> 'verdict' AS verdict, after ->> 'remark' AS remark FROM book.audit
    WHERE subject = ${id}`;
  assertEquals(audit.map((line) => ({ ...line }))[0], {
    action: "withdrawal.settle",
    verdict: "paid",
    remark: "looked at it",
  });

  // what has paid one withdrawal pays no other
  await desk.fee(100);
  const second = await desk.unexpected(payee);
  await desk.fee(0);
  const again = await desk.settle(second, "paid", { txid: rest });
  assertEquals(again.status, 409);
  assertEquals((await desk.standing(second)).status, "PENDING");
  assertEquals(await booksFaults(rig.sql), []);
});

test("a payout and a settlement of which nothing arrived are refunded, once, and the reference is free", async () => {
  await using rig = await openTreasuryRig({ isBlind: true });
  const { sql } = rig;
  const desk = await openDesk(rig, 10_000);
  const payee = addressOf(0xdeed);
  const id = await desk.unexpected(payee);
  assertEquals((await desk.settle(id, "paid")).status, 409);

  // the schema itself holds the money until an operator has found out
  const end = (status: string) =>
    sql`UPDATE book.withdrawal SET status = ${status}, txid = 'ab', processed_at = now() WHERE id = ${id}`;
  for (const status of ["CONFIRMED", "FAILED"]) {
    await assertRejects(() => end(status), Error, "no verdict says");
  }
  // and the comparison tells of it after an hour
  assertEquals(await booksFaults(sql), []);
  await sql`
    UPDATE book.outgoing SET updated_at = now() - interval '61 minutes'
    WHERE id = (SELECT outgoing_id FROM book.withdrawal WHERE id = ${id})`;
  const faults = await booksFaults(sql);
  assertEquals([faults.length, faults[0]?.includes(`${id} of`)], [1, true]);

  const done = await desk.settle(id, "not_paid");
  assertEquals([done.status, done.body.status, done.body.arrived], [200, "FAILED", "0"]);
  assertEquals(await desk.standing(id), { status: "FAILED", available: "1000", reserved: "0" });
  assertEquals((await desk.settle(id, "not_paid")).body.changed, false);
  assertEquals((await desk.settle(id, "paid")).status, 409);
  assertEquals(await booksFaults(sql), []);

  const listed = await rig.api.call("POST", "/api/settlement-addresses", {
    key: desk.key,
    body: { address: payee, network: "TRX", label: "own" },
  });
  await rig.api.call("POST", `/api/admin/settlement-addresses/${listed.body.id}/activate`, {
    key: desk.admin,
    body: {},
  });
  const settlement = await rig.api.call("POST", "/api/settlements", {
    key: desk.key,
    body: {
      currency: "USDT",
      requestedAmount: "20",
      destinationAddress: payee,
      destinationNetwork: "TRX",
    },
  });
  assertEquals(settlement.status, 201);
  const { withdrawalId } = settlement.body;
  await rig.mineUntil("it has ended", async () => {
    return (await rig.payout(withdrawalId)).status === "final";
  });
  assertEquals((await desk.settle(withdrawalId, "not_paid")).body.status, "FAILED");
  const [row] = await sql`SELECT status FROM book.settlement WHERE withdrawal_id = ${withdrawalId}`;
  assertEquals(row?.status, "FAILED");
  assertEquals((await desk.standing(id)).available, "1000");
  assertEquals(await booksFaults(sql), []);
  assertEquals((await desk.settle(newId("wd"), "paid")).status, 404);
});
