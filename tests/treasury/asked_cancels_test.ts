/**
 * Signed transfers that an administrator takes out of use: from then on nothing pays them, whatever stops signing.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { Sql } from "../../ledger/database/connect.ts";
import { commitAttempts, type LaneSignature } from "../../ledger/lanes/commit_attempts.ts";
import { takeTurn } from "../../ledger/lanes/take_turn.ts";
import { addMerchant, amount } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import {
  addNonce,
  addWallet,
  calmLane,
  lanesOn,
  numberedChain,
  numberedSigner,
} from "./support/lane_rig.ts";

const test = testNeeding(DATABASE);

/** Two signed payouts of ten minutes ago, the first one of which is to be taken out of use. */
async function openLane(sql: Sql, lane = calmLane()) {
  await addWallet(sql);
  const merchantId = await addMerchant(sql);
  const ids = [
    await addNonce(sql, { payer: "hot", nonce: 0, merchantId }),
    await addNonce(sql, { payer: "hot", nonce: 1, merchantId }),
  ] as const;
  await sql`UPDATE book.lane_nonce SET cancel_by = 'ana' WHERE nonce = 0`;
  const { sent, poll } = lanesOn(sql, numberedChain(lane), { signer: numberedSigner() });
  return { ids, merchantId, sent, poll };
}

async function addUnknownSpend(sql: Sql): Promise<void> {
  await sql`
    INSERT INTO hub.unknown_spend
      (network, txid, log_index, height, block_time, wallet, sender, recipient, currency, amount, fee, status)
    VALUES ('ETH', '0xother', 0, 7, now(), 'hot', 'hot-wallet', 'customer', 'USDT', 5, 1, 'open')`;
}

async function addHold(sql: Sql): Promise<void> {
  await sql`INSERT INTO hub.failover (id, cause, reason, actor) VALUES ('fov_1', 'declared', 'test', 'op')`;
  await sql`
    INSERT INTO hub.failover_network (failover_id, network, gap_first, gap_last) VALUES ('fov_1', 'ETH', 0, 0)`;
}

/** Purposes and nonces of all that was signed since. */
async function signedSince(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ one: string }[]>`
    SELECT purpose || ' ' || nonce AS one FROM book.attempt WHERE number > 1 ORDER BY nonce, number`;
  return rows.map(({ one }) => one);
}

test("what an administrator takes out of use is replaced also while an unknown transfer stops signing, and nothing else is", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { ids: [first, second], sent, poll } = await openLane(sql);
  await addUnknownSpend(sql);
  await poll();
  await poll();
  assertEquals(await signedSince(sql), ["cancel 0"]);
  const cancel = `cancel-${first}-1`;
  assertEquals(new Set(sent.flat()), new Set([cancel, `a${second}`]));
});

test("while another history stops signing nothing is replaced, and what was taken out of use is not sent again", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { ids: [, second], sent, poll } = await openLane(sql);
  await addUnknownSpend(sql);
  await addHold(sql);
  await poll();
  assertEquals(await signedSince(sql), []);
  assertEquals(sent.flat(), [`a${second}`]);
});

test("what was taken out of use is not sent again while its cancel costs more than the cap", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const ask = {
    isPassedOver: () => false,
    replacing: () => null,
    cancelling: () => null,
    within: () => ask,
  };
  const { ids: [first, second], sent, poll } = await openLane(
    sql,
    calmLane({ asks: () => Promise.resolve(ask) }),
  );
  await poll();
  await poll();
  assertEquals(await signedSince(sql), []);
  assertEquals(new Set(sent.flat()), new Set([`a${second}`]));
  const [row] = await sql<
    { reason: string }[]
  >`SELECT reason FROM book.outgoing WHERE id = ${first}`;
  assertEquals(row?.reason, "waiting: fees are above the cap");
});

test("the commit of signatures knows what was taken out of use: its cancel alone passes an unknown transfer, and no payment of it is kept", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { ids: [first, second], merchantId } = await openLane(sql);
  const commit = async (...rows: readonly (readonly [string, number, "pay" | "cancel"])[]) => {
    const turn = await takeTurn(sql, "ETH", "node", 60_000);
    if (turn === null) throw new Error("the turn is another's");
    const signatures = rows.map(([outgoingId, nonce, purpose]): LaneSignature => {
      const txid = `${purpose} ${nonce} ${crypto.randomUUID()}`;
      return { outgoingId, merchantId, txid, bytes: "{}", nonce, purpose, feeLimit: amount("1") };
    });
    const done = await commitAttempts(sql, signatures, turn);
    return done === null ? "stopped" : [...done].map((txid) => txid.split(" ", 2).join(" "));
  };
  assertEquals(await commit([first, 0, "pay"], [second, 1, "pay"]), ["pay 1"]);
  await addUnknownSpend(sql);
  assertEquals(await commit([first, 0, "pay"]), "stopped");
  assertEquals(await commit([second, 1, "cancel"]), "stopped");
  assertEquals(await commit([first, 0, "cancel"], [second, 1, "cancel"]), "stopped");
  assertEquals(await commit([first, 0, "cancel"]), ["cancel 0"]);
  await addHold(sql);
  assertEquals(await commit([first, 0, "cancel"]), "stopped");
});
