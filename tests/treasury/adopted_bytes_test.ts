import { assert, assertEquals } from "@std/assert";
import { HistoryHold } from "../../actors/treasury/history_hold.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { readSigningStop } from "../../ledger/failover/holds.ts";
import { amountOf, formatAmount } from "../../ledger/money/amount.ts";
import { expireAttempts } from "../../ledger/treasury/expire_attempts.ts";
import { readInFlight } from "../../ledger/treasury/in_flight.ts";
import { adoptSigned } from "../../ledger/treasury/signing.ts";
import { addressOf } from "../support/api.ts";
import { addMerchant, amount, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { paperChain, paperSigner } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { placeCursor } from "../support/scan_cursor.ts";
import { openTreasuryRig, type TreasuryRig } from "./support/treasury_rig.ts";
import { requestOf } from "../support/sign_request.ts";

const test = testNeeding(DATABASE);

/** Keeps the engine's own treasury from signing, as while another node has the turn. */
async function giveTurnAway(sql: Sql): Promise<void> {
  await sql`
    INSERT INTO book.signing_turn (network, node, until) VALUES ('TRX', 'other', now() + interval '5 minutes')
    ON CONFLICT (network) DO UPDATE SET node = 'other', until = excluded.until`;
}

/** Has another node's signer sign a payout; the commit of it was refused. */
async function signElsewhere({ chain, otherSigner }: TreasuryRig, outgoingId: string, to: string) {
  const transfer = {
    from: chain.hotWallet,
    to,
    asset: "USDT",
    amount: amountOf("10"),
  } as const;
  const fee = await chain.estimateFee([transfer]);
  const envelope = chain.envelope(await chain.solid(), fee, null);
  const [answer] = await otherSigner.sign([requestOf(outgoingId, envelope)]);
  assert(answer !== undefined && "signed" in answer);
}

async function pending({ chainUrl }: TreasuryRig): Promise<number> {
  return (await (await fetch(`${chainUrl}/dev/info`)).json()).pending;
}

test("bytes that another node's signer made, and that were never committed, are not sent beside those of the lost history", async () => {
  let open = true;
  await using rig = await openTreasuryRig({ signs: () => open, remembers: false });
  const { sql, chain, otherSigner: signer } = rig;
  const { id: merchantId, key } = await rig.merchant("1000");
  const receiver = addressOf(0xa0c1);
  await giveTurnAway(sql);
  const id = await rig.withdraw(key, "10", receiver);
  const { id: outgoingId } = await rig.payout(id);
  await signElsewhere(rig, outgoingId, receiver);
  await rig.mine(1);
  await sql`UPDATE book.signing_turn SET until = now()`;
  await until(async () => (await rig.payout(id)).status === "signed");
  await until(async () => await pending(rig) >= 1);
  const [sent] = await sql<{ txid: string }[]>`SELECT txid FROM book.attempt`;
  open = false;
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`DELETE FROM book.attempt`;
    await tx`
      UPDATE book.outgoing SET status = 'queued', attempts = 0, reason = NULL, lease_until = NULL
      WHERE payment_id = ${id}`;
    await tx`UPDATE hub.database_history SET timeline = timeline + 1_000_000`;
  });
  await rig.engine.history.poll();
  await new HistoryHold({ sql, chain, signer }).poll();
  assertEquals((await rig.payout(id)).status, "signed", "the scan looks for these bytes");
  const admin = await rig.api.addKey(null, { permissions: ["admin:read", "admin:write"] });
  const decide = async (verb: string, body: Readonly<Record<string, string | null>>) =>
    (await rig.api.call("POST", `/api/admin/failover/${verb}`, { key: admin, body })).status;
  const spends = () =>
    sql<{ txid: string; status: string }[]>`SELECT txid, status FROM hub.unknown_spend`;
  await rig.mineUntil("the lost transaction is met", async () => (await spends()).length > 0);
  const txid = sent?.txid ?? "";
  const { body: { unknownSpends: [listed] } } = await rig.api.call("GET", "/api/admin/failover", {
    key: admin,
  });
  assertEquals(
    listed.candidates.map((one: { withdrawalId: string; state: string }) => [
      one.withdrawalId,
      one.state,
    ]),
    [[id, "signed"]],
  );
  // each of them would leave the payout to be made again when these bytes have expired
  assertEquals(await decide("book", { txid, merchantId, referenceId: null }), 409);
  assertEquals(await decide("write-off", { txid, reason: "why" }), 409);
  assertEquals(await decide("match", { txid, withdrawalId: id }), 409, "they may be in a block");
  // past the hold, and past all that a turn of the treasury sends again
  await rig.mine(2, 600_000);
  await rig.mineUntil(
    "what was not sent is dead",
    async () => (await rig.payout(id)).status === "queued",
  );
  assertEquals(formatAmount(await chain.balanceOf(receiver, "USDT")), "10");
  assertEquals((await rig.payout(id)).outcomes, ["expired"]);
  assertEquals(await spends().then((rows) => rows.map((row) => ({ ...row }))), [
    { txid, status: "open" },
  ]);
  open = true;
  assertEquals(await decide("match", { txid, withdrawalId: id }), 200);
  await rig.mine(2, 600_000);
  const ended = await rig.payout(id);
  assertEquals([ended.status, ended.outcomes], ["void", ["expired"]]);
  assertEquals(formatAmount(await chain.balanceOf(receiver, "USDT")), "10", "it is paid once");
});

test("an unknown transfer has nothing adopted and nothing sent, least for a suspended merchant", async () => {
  await using rig = await openTreasuryRig({ remembers: false });
  const { sql, chain, otherSigner: signer } = rig;
  const { id: merchantId, key } = await rig.merchant("1000");
  const receiver = addressOf(0xa0d1);
  await giveTurnAway(sql);
  const id = await rig.withdraw(key, "10", receiver);
  const { id: outgoingId } = await rig.payout(id);
  await signElsewhere(rig, outgoingId, receiver);
  await sql`UPDATE book.merchant SET status = 'SUSPENDED' WHERE merchant_id = ${merchantId}`;
  await sql`
    INSERT INTO hub.unknown_spend
      (network, txid, log_index, height, block_time, wallet, sender, recipient, currency, amount, status)
    VALUES ('TRX', ${"ab".repeat(32)}, 0, 3, now(), 'hot', ${chain.hotWallet}, ${
    addressOf(1)
  }, 'USDT', 1, 'open')`;
  await new HistoryHold({ sql, chain, signer }).poll();
  assertEquals((await rig.payout(id)).status, "queued");
  await rig.mine(4);
  await rig.mine(4);
  assertEquals(formatAmount(await chain.balanceOf(receiver, "USDT")), "0");
});

test("only an open hold adopts, only what was made and signed before it was found, of active merchants", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const active = await addMerchant(sql);
  const suspended = await addMerchant(sql);
  await sql`UPDATE book.merchant SET status = 'SUSPENDED' WHERE merchant_id = ${suspended}`;
  const found = Date.parse("2026-01-01T00:00:00Z");
  const queued = async (id: string, merchantId: string, createdAt: number) =>
    await sql`
      INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination,
        status, attempts, created_at, updated_at)
      VALUES (${id}, ${merchantId}, 'payout', ${id}, 'TRX', 'USDT', 1, 'somewhere', 'queued', 1,
        ${new Date(createdAt)}, now())`;
  await queued("out_before", active, found - 1_000);
  await queued("out_late_bytes", active, found - 1_000);
  await queued("out_later_block", active, found - 1_000);
  await queued("out_suspended", suspended, found - 1_000);
  await queued("out_after", active, found + 1_000);
  const until = found + 60_000;
  const row = (outgoingId: string, merchantId = active, change = {}) => ({
    outgoingId,
    merchantId,
    network: "TRX" as const,
    txid: outgoingId,
    bytes: outgoingId,
    diesAfter: until,
    expiresAt: until,
    feeLimit: amountOf("1"),
    sinceHeight: 100,
    nonce: null,
    place: 0,
    intents: 1,
    ...change,
  });
  const rows = [
    row("out_before"),
    row("out_late_bytes", active, { diesAfter: until + 1, expiresAt: until + 1 }),
    row("out_later_block", active, { sinceHeight: 101 }),
    row("out_suspended", suspended),
    row("out_after"),
  ];
  assertEquals([...await adoptSigned(sql, "TRX", rows)], [], "without a hold");
  await sql`
    INSERT INTO hub.failover (id, cause, reason, actor, found_at)
    VALUES ('fov_1', 'declared', 'a test', 'operator', ${new Date(found)})`;
  await sql`
    INSERT INTO hub.failover_network (failover_id, network, gap_first, gap_last) VALUES ('fov_1', 'TRX', 0, 0)`;
  assertEquals([...await adoptSigned(sql, "TRX", rows)], [], "before the chain was reached");
  await sql`UPDATE hub.failover_network SET head_height = 100, until_time = ${new Date(
    until,
  )}, until_tick = ${until}`;
  assertEquals([...await adoptSigned(sql, "TRX", rows)], ["out_before"]);
  assertEquals(await readInFlight(sql, "TRX", 10), [], "nothing adopted is sent");
  const now = await sql`UPDATE book.attempt SET adopted = false`.catch(String);
  assertEquals(/refuse|Cannot/.test(String(now)), true, "adopted once, adopted for ever");
  // its expiry counts as no try: the transfer stays queued, beside what the lost history may have sent
  await sql`UPDATE hub.failover_network SET compared_at = now()`;
  assertEquals(await readSigningStop(sql, "TRX"), null);
  const solid = await placeCursor(sql, "TRX", {
    height: 200,
    hash: "200",
    time: until + 2_000,
    previousTime: until + 1_000,
    tick: until + 2_000,
    previousTick: until + 1_000,
  });
  assertEquals(await expireAttempts(sql, "TRX", solid, 2), {
    requeued: ["out_before"],
    abandoned: [],
  });
});

test("odd bytes that a signer remembers keep no others from being adopted, nor the scan from being compared", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await addMerchant(sql);
  const ids = ["out_1", "out_2", "out_3", "out_4"];
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, wallet, destination, status, created_at, updated_at)
    SELECT id, ${merchantId}, 'payout', 'wd_' || id, 'TRX', 'USDT', 1, 'hot', 'T', 'queued', now(), now()
    FROM unnest(${ids}::text[]) AS id`;
  await sql`INSERT INTO hub.failover (id, cause, reason, actor) VALUES ('fov_1', 'declared', 'test', 'op')`;
  await sql`
    INSERT INTO hub.failover_network (failover_id, network, gap_first, gap_last, head_height, until_time, until_tick)
    VALUES ('fov_1', 'TRX', 0, 0, 8, now() + interval '1 minute', ${Date.now() + 60_000})`;
  const chain = paperChain("TRX", {
    termsOf: (bytes, near) => {
      if (bytes === "odd") throw new RangeError("Cannot read a transaction as it is none");
      return {
        beginning: near,
        diesAfter: 1,
        nonce: null,
        feeLimit: amount(bytes === "costly" ? "1" + "0".repeat(30) : "2"),
      };
    },
  });
  const bytesOf: Readonly<Record<string, string>> = { out_1: "odd", out_2: "{}", out_3: "costly" };
  const live = (asked: readonly string[]) =>
    Promise.resolve(asked.map((outgoingId) => ({
      outgoingIds: [outgoingId],
      signed: {
        txid: outgoingId.at(-1)?.repeat(64) ?? "",
        bytes: bytesOf[outgoingId] ?? "{}",
        expiresAt: Date.now() + 30_000,
      },
      numbered: null,
    })));
  await new HistoryHold({ sql, chain, signer: { ...paperSigner(), live } }).poll();
  const rows = await sql<{ id: string; status: string }[]>`
    SELECT id, status FROM book.outgoing ORDER BY id`;
  assertEquals(rows.map(({ id, status }) => `${id} ${status}`), [
    "out_1 queued",
    "out_2 signed",
    "out_3 queued",
    "out_4 signed",
  ]);
});
