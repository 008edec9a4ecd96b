/** A payout that waits for approval in books that were set back, and was approved and paid since. @module */

import { assert, assertEquals } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import { readSigningStop } from "../../ledger/failover/holds.ts";
import { addressOf } from "../support/api.ts";
import { amount, booksFaults, reserveCommand, until } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { copyOf, setBack } from "./support/set_back.ts";
import { openTreasuryRig } from "./support/treasury_rig.ts";

const test = testNeeding(DATABASE);

test("a withdrawal that was approved and paid after the copy to which its database was set back is not given back, neither before its block is read nor after", async () => {
  await using rig = await openTreasuryRig({ remembers: false, solidLag: 19 });
  const { sql, engine } = rig;
  const { id: merchantId } = await rig.merchant("2000");
  const receiver = addressOf(0xbeef);
  const mine = () => rig.control("/dev/mine", { blocks: 1, intervalMs: 1_000 });
  const copy = await copyOf(sql, "TRX");
  await rig.mine(60);
  const command = reserveCommand({
    amount: amount("500"),
    destination: receiver,
    pinnedTo: { network: "TRX", address: receiver },
  });
  const { withdrawalId } = command;
  await engine.merchants.ask(merchantId, command, 60_000);
  const approval = { type: "approve-withdrawal", at: Date.now(), withdrawalId } as const;
  assertEquals((await engine.merchants.ask(merchantId, approval, 60_000)).kind, "done");
  await until(async () => (await rig.payout(withdrawalId)).status === "signed");
  await until(async () => {
    await mine();
    return (await sql`SELECT FROM book.attempt WHERE seen_height IS NOT NULL`).length > 0;
  });
  await rig.halt();
  await setBack(sql, copy);
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`DELETE FROM book.outgoing WHERE payment_id = ${withdrawalId}`;
    await tx`
      UPDATE book.withdrawal SET status = 'PENDING_APPROVAL', approved_by = NULL, approved_admin = NULL
      WHERE id = ${withdrawalId}`;
  });
  await rig.restart();
  const cancel = () =>
    rig.engine.merchants.ask(merchantId, {
      type: "decline-withdrawal",
      at: Date.now(),
      withdrawalId,
      reason: "Cancelled",
      chargeIds: [newId("chg"), newId("chg")],
      eventIds: [newId("evt"), newId("evt")],
    }, 60_000);
  await until(() => rig.engine.watched.get("TRX")?.comparison === "over");
  assertEquals([await readSigningStop(sql, "TRX"), (await cancel()).kind], [null, "held"]);
  await until(async () => {
    await mine();
    return await readSigningStop(sql, "TRX") !== null;
  });
  await rig.mine(30);
  const read = rig.engine.watched.get("TRX");
  assert((read?.readSolid ?? 0) >= (read?.signsFrom ?? Infinity), "this node holds it no more");
  assertEquals((await cancel()).kind, "held");
  assertEquals(await rig.chain.balanceOf(receiver, "USDT"), amount("500"), "once");
  const [balance] = await sql`
    SELECT reserved::int FROM book.balance WHERE merchant_id = ${merchantId}`;
  assertEquals(balance, { reserved: 500 });
  assertEquals(await booksFaults(sql), []);
});
