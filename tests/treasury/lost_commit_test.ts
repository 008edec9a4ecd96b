import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { storeColdWallet } from "../../ledger/addresses/wallets.ts";
import { amountOf, formatAmount, subtract, ZERO } from "../../ledger/money/amount.ts";
import {
  findUndecided,
  type FoundSpend,
  listUndecided,
  recordUnknownSpends,
} from "../../ledger/failover/unknown_spends.ts";
import { readSigningStop } from "../../ledger/failover/holds.ts";
import { readWalletMoves } from "../../ledger/reconcile/holdings.ts";
import { addressOf } from "../support/api.ts";
import { addMerchant, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { addWallet } from "../support/wallet_row.ts";
import { CALM, openTreasuryRig, type TreasuryRig } from "./support/treasury_rig.ts";

const test = testNeeding(DATABASE);

/** Takes the newest commit that signed a payout away, as a standby does that did not receive it. */
async function loseSignature({ sql }: TreasuryRig, withdrawalId: string): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`DELETE FROM book.attempt`;
    await tx`
      UPDATE book.outgoing SET status = 'queued', attempts = 0, reason = NULL, lease_until = NULL
      WHERE payment_id = ${withdrawalId}`;
  });
}

async function pendingOnChain({ chainUrl }: TreasuryRig): Promise<number> {
  return (await (await fetch(`${chainUrl}/dev/info`)).json()).pending;
}

test("a signature whose commit was lost and whose block was read unknown stops signing, and pays once", async () => {
  let open = true;
  await using rig = await openTreasuryRig({ signs: () => open, remembers: false });
  const { sql } = rig;
  const { key } = await rig.merchant("1000");
  const receiver = addressOf(0xfa11);
  const id = await rig.withdraw(key, "10", receiver);
  await until(async () => (await rig.payout(id)).status === "signed");
  await until(async () => await pendingOnChain(rig) >= 1);
  open = false;
  const coin = () => rig.chain.balanceOf(rig.chain.hotWallet, "native");
  const before = await coin();
  await loseSignature(rig, id);
  await rig.mine(6);
  const [spend] = await listUndecided(sql);
  assertEquals([spend?.to, formatAmount(spend?.amount ?? ZERO)], [receiver, "10"]);
  const burned = subtract(before, await coin());
  assert(burned > 0n);
  assertEquals(spend?.fee, burned, "the comparison of the wallet's coin is to explain it");
  assertMatch(await readSigningStop(sql, "TRX") ?? "", /do not know/);
  // a look that began while it was closed must not be the newest one after it is open
  await until(() => !rig.engine.signerOpen("TRX"));
  open = true;
  await until(() => rig.engine.signerOpen("TRX"));
  const other = await rig.withdraw(key, "5", addressOf(0xfa12));
  await rig.mine(2, 40_000);
  for (let round = 0; round < 5; round++) await rig.mine(1);
  assertEquals([(await rig.payout(id)).status, (await rig.payout(other)).status], [
    "queued",
    "queued",
  ]);
  assertEquals(formatAmount(await rig.chain.balanceOf(receiver, "USDT")), "10");
});

test("bytes that are committed again begin where they were made, and blocks read before are read again", async () => {
  await using rig = await openTreasuryRig({ remembers: false });
  const { sql } = rig;
  const { key } = await rig.merchant("1000");
  const receiver = addressOf(0xfa13);
  // no node takes the bytes: they are committed, lost, and committed again some blocks later
  await rig.setFaults([{ path: "/wallet/broadcasttransaction", kind: "lost-broadcast" }]);
  const id = await rig.withdraw(key, "10", receiver);
  await until(async () => (await rig.payout(id)).status === "signed");
  const attempt = async () => {
    const [row] = await sql<{ txid: string; since_height: string; known_height: string }[]>`
      SELECT txid, since_height, known_height FROM book.attempt ORDER BY number LIMIT 1`;
    assert(row !== undefined);
    return row;
  };
  const before = await attempt();
  await sql`INSERT INTO hub.failover (id, cause, reason, actor) VALUES ('fov_test', 'declared', 'test', 'test')`;
  await sql`
    INSERT INTO hub.failover_network (failover_id, network, gap_first, gap_last) VALUES ('fov_test', 'TRX', 0, 0)`;
  await loseSignature(rig, id);
  await rig.mine(5);
  assertEquals(
    (await rig.payout(id)).status,
    "queued",
    "a hold keeps everything from being signed",
  );
  await sql`DELETE FROM hub.failover_network`;
  await until(async () => (await rig.payout(id)).status === "signed");
  const after = await attempt();
  assertEquals([after.txid, after.since_height], [before.txid, before.since_height]);
  assert(Number(after.known_height) > Number(after.since_height));
  await rig.mine(2, 40_000);
  await rig.mineUntil(
    "it is proven dead",
    async () =>
      (await rig.payout(id)).outcomes.length > 0 &&
      (await rig.payout(id)).outcomes[0] === "expired",
  );
  const [row] = await sql<{ done: boolean }[]>`
    SELECT reread_height >= known_height AS done FROM book.attempt WHERE number = 1`;
  assertEquals(row?.done, true);
});

test("a payout that was declared dead and is met in a block stops signing before it is paid again", async () => {
  let open = true;
  await using rig = await openTreasuryRig({ signs: () => open, remembers: false });
  const { sql } = rig;
  const { key } = await rig.merchant("1000");
  const receiver = addressOf(0xfa14);
  const id = await rig.withdraw(key, "10", receiver);
  await until(async () => (await rig.payout(id)).status === "signed");
  await until(async () => await pendingOnChain(rig) >= 1);
  open = false;
  // a proof that was wrong, whatever made it so
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    const evidence = { height: 1, hash: "1", previousTick: 4_102_444_800_000 };
    await tx`UPDATE book.attempt SET outcome = 'expired', evidence = ${
      JSON.stringify(evidence)
    }::text::jsonb`;
    await tx`UPDATE book.outgoing SET status = 'queued', lease_until = NULL WHERE payment_id = ${id}`;
  });
  await rig.mine(6);
  const spends = await listUndecided(sql);
  assertEquals(spends.map(({ to }) => to), [receiver]);
  // a look that began while it was closed must not be the newest one after it is open
  await until(() => !rig.engine.signerOpen("TRX"));
  open = true;
  await until(() => rig.engine.signerOpen("TRX"));
  for (let round = 0; round < 5; round++) await rig.mine(1);
  assertMatch(await readSigningStop(sql, "TRX") ?? "", /do not know/);
  assertEquals((await rig.payout(id)).status, "queued");
  assertEquals(formatAmount(await rig.chain.balanceOf(receiver, "USDT")), "10");
  assertEquals((await findUndecided(sql, spends[0]?.txid ?? "")).length, 1, "it can be matched");
});

test("a transfer to the cold wallet that the lost history made is shown as one, and stops nothing", async () => {
  const cold = addressOf(0xc01d);
  let open = true;
  const levels = new Map([
    ["USDT" as const, { ceiling: amountOf("800000"), target: amountOf("500000") }],
  ]);
  await using rig = await openTreasuryRig({
    signs: () => open,
    remembers: false,
    coldAddress: cold,
    policy: () => ({ ...CALM, cold: { address: cold, levels } }),
  });
  const { sql } = rig;
  await until(async () => await pendingOnChain(rig) >= 1);
  open = false;
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`DELETE FROM book.attempt`;
    await tx`
      UPDATE book.outgoing SET status = 'queued', attempts = 0, reason = NULL, lease_until = NULL
      WHERE kind = 'cold'`;
  });
  await rig.mine(6);
  const spends = await listUndecided(sql);
  assertEquals(spends.map(({ to, status, amount }) => [to, status, formatAmount(amount)]), [
    [cold, "cold", "500000"],
  ]);
  assertEquals(await readSigningStop(sql, "TRX"), null);
  const queued = await sql<{ status: string }[]>`
    SELECT status FROM book.outgoing WHERE kind = 'cold'`;
  assertEquals(queued.map(({ status }) => status), ["void"], "its surplus has left already");
  // a look that began while it was closed must not be the newest one after it is open
  await until(() => !rig.engine.signerOpen("TRX"));
  open = true;
  await until(() => rig.engine.signerOpen("TRX"));
  const { key } = await rig.merchant("1000");
  const receiver = addressOf(0xfa15);
  const id = await rig.withdraw(key, "10", receiver);
  await rig.mineUntil("it is paid", async () => (await rig.payout(id)).status === "final");
  assertEquals(await rig.chain.balanceOf(cold, "USDT"), amountOf("500000"), "once");
});

test("only what went from the hot wallet to the cold one, and can have paid nothing else, stops nothing", async (t) => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await addMerchant(sql);
  await addWallet(sql, "TRX", "hot-wallet");
  const spend = (txid: string, change: Partial<FoundSpend> = {}): FoundSpend => ({
    txid,
    logIndex: 0,
    height: 9,
    time: 1_700_000_000_000,
    wallet: "hot",
    from: "hot-wallet",
    to: "cold-wallet",
    currency: "USDT",
    amount: amountOf("5"),
    fee: ZERO,
    isHarmless: false,
    ...change,
  });
  const statusOf = async (...spends: FoundSpend[]) =>
    (await recordUnknownSpends(sql, "TRX", spends)).map(({ status }) => status);
  const payout = (id: string, destination: string) =>
    sql`
      INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination,
        status, attempts, created_at, updated_at)
      VALUES (${id}, ${merchantId}, 'payout', ${`wd_${id}`}, 'TRX', 'USDT', 5, ${destination}, 'queued', 1, now(), now())`;
  await t.step("before a cold wallet is configured it is one like any other", async () => {
    assertEquals(await statusOf(spend("a0")), ["open"]);
    await storeColdWallet(sql, "TRX", "cold-wallet");
    assertEquals(await statusOf(spend("a0")), [], "what was found stays what it was");
    await assertRejects(
      async () => await sql`UPDATE hub.unknown_spend SET status = 'cold'`,
      Error,
      "decided once",
    );
  });
  await t.step("each transfer of a transaction is judged by itself", async () => {
    const both = [spend("a1"), spend("a1", { logIndex: 1, to: "elsewhere" })];
    assertEquals(await statusOf(...both), ["cold", "open"]);
  });
  await t.step("what left a deposit address is nothing that the service does", async () => {
    assertEquals(await statusOf(spend("a2", { wallet: "3", from: "address-3" })), ["open"]);
  });
  await t.step("one that was declared dead says that a proof was wrong", async () => {
    await payout("out_1", "elsewhere");
    await sql`
      INSERT INTO book.attempt (outgoing_id, number, merchant_id, network, txid, bytes, expires_at, dies_after, created_at,
        fee_limit, since_height, known_height, outcome, evidence)
      VALUES ('out_1', 1, ${merchantId}, 'TRX', 'a3', '{}', now(), extract(epoch FROM now()) * 1000, now(), 0, 2, 3, 'expired',
        '{"height": 1, "hash": "1", "previousTick": 4102444800000}')`;
    assertEquals(await statusOf(spend("a3")), ["open"]);
  });
  await t.step("one that a payout to that address waits for may have paid it", async () => {
    await payout("out_2", "cold-wallet");
    assertEquals(await statusOf(spend("a4")), ["open"]);
    await sql`UPDATE book.outgoing SET status = 'void' WHERE id = 'out_2'`;
    assertEquals(await statusOf(spend("a5")), ["cold"]);
  });
  await t.step("it explains the hot wallet's level as our own transfers do", async () => {
    const range = { after: 0, low: 9, high: 9 };
    const moves = await readWalletMoves(sql, "TRX", "USDT", "hot-wallet", range);
    assertEquals(moves.map(({ went }) => formatAmount(went)), ["10"]);
  });
});
