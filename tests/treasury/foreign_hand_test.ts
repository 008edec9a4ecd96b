import { assert, assertEquals } from "@std/assert";
import { adoptHand, disown, showHand } from "../../actors/treasury/adopt_hand.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { readFailoverTroubles, readSigningStop } from "../../ledger/failover/holds.ts";
import { closeKnownSpends } from "../../ledger/failover/unknown_spends.ts";
import { askToCancel } from "../../ledger/lanes/cancel.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import { readCommitments } from "../../ledger/treasury/hot_wallet.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { LANE_NETWORK as NETWORK, openLane } from "./support/test_lane.ts";

const test = testNeeding(DATABASE);
const mayStillAsk = () => Promise.resolve(true);
const AUDIT = {
  id: "aud_1",
  merchantId: null,
  actor: "ana",
  action: "treasury.adopt",
  subject: "x",
  before: null,
  after: null,
  requestId: "req_1",
};

test("a transaction of the hot key that the books do not know stops signing until it is adopted, then each is paid once", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  await lane.addPayout("o1");
  assertEquals(await lane.turn(), 1);
  // the key's other hand is faster: it takes the nonce that is promised to the payout
  lane.chain.strange("0xother");
  await lane.settle();
  await lane.addPayout("o2");
  assert(await readSigningStop(sql, NETWORK) !== null);
  assertEquals(await lane.turn(), 0);
  assertEquals(await lane.states(), ["o1 signed 7", "o2 queued null"]);

  const deps = { sql, chain: lane.chain.port, stopped: null, mayStillAsk };
  const adopt = (txid: string, nonce: number, id = "aud_1") =>
    adoptHand(deps, NETWORK, { txid, nonce, reason: "ours" }, { ...AUDIT, id }, 5_000);
  assertEquals(await adopt("0xnone", 7), { kind: "refused", why: "decided" });
  const ended = { ...deps, mayStillAsk: () => Promise.resolve(false) };
  const adoption = { txid: "0xother", nonce: 7, reason: "ours" };
  assertEquals(await adoptHand(ended, NETWORK, adoption, AUDIT, 5_000), { kind: "asker_ended" });
  assertEquals(await showHand(deps, NETWORK, "0xother", 5_000), {
    kind: "shown",
    sender: "hot-wallet",
    nonce: 7,
    isHotWallet: true,
    promisedTo: ["o1"],
  });
  assertEquals(await adopt("0xother", 8), { kind: "other_nonce", nonce: 7 });
  assertEquals(await lane.states(), ["o1 signed 7", "o2 queued null"], "nothing was changed");
  assertEquals(await adopt("0xother", 7), { kind: "adopted", nonce: 7, notified: [] });
  assertEquals(await adopt("0xother", 7, "aud_2"), { kind: "refused", why: "decided" });
  const [outcome] = await sql`
    SELECT outcome, evidence->>'by' AS by, (SELECT count(*)::int FROM hub.audit) AS audits FROM book.attempt`;
  assertEquals(outcome, { outcome: "superseded", by: "0xother", audits: 1 });
  assertEquals(await lane.states(), ["o1 queued null", "o2 queued null"]);

  assertEquals(await readSigningStop(sql, NETWORK), null);
  assertEquals(await lane.turn(), 2);
  await lane.settle();
  assertEquals(await lane.states(), ["o1 final 8", "o2 final 9"]);
  const paid = lane.chain.solid.flatMap(({ pays }) => pays);
  assertEquals(paid, ["o1", "o2"]);
});

test("a transaction of the hot key that no node calls the wallet's is adopted by its own bytes, and what it cost is explained", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  await lane.addPayout("o1");
  assertEquals(await lane.turn(), 1);
  lane.chain.unclaimed.add("0xother");
  lane.chain.strange("0xother");
  await lane.settle();
  assertEquals(await listed(sql), []);
  const deps = { sql, chain: lane.chain.port, stopped: null, mayStillAsk };
  const adopt = (txid: string, nonce: number, id: string) =>
    adoptHand(deps, NETWORK, { txid, nonce, reason: "ours" }, { ...AUDIT, id }, 5_000);
  assertEquals(await adopt("0xother", 8, "aud_1"), { kind: "other_nonce", nonce: 7 });
  assertEquals(await adopt("0xother", 7, "aud_1"), { kind: "adopted", nonce: 7, notified: [] });
  assertEquals(await adopt("0xother", 7, "aud_2"), { kind: "refused", why: "decided" });
  const spends = await sql`SELECT txid, status, wallet, fee > 0 AS has_fee FROM hub.unknown_spend`;
  assertEquals([...spends], [{
    txid: "0xother",
    status: "written_off",
    wallet: "hot",
    has_fee: true,
  }]);
  await lane.finish();
  assertEquals(await lane.states(), ["o1 final 8"]);
  const [own] = await sql<
    { txid: string }[]
  >`SELECT txid FROM book.attempt WHERE outcome = 'paid'`;
  assertEquals(await adopt(own?.txid ?? "", 8, "aud_3"), { kind: "refused", why: "decided" });
});

test("a transaction of the hot key from before its lane changes nothing, and is not adopted where it is on no list", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  assertEquals(await lane.turn(), 0);
  lane.chain.unclaimed.add("0xearly");
  lane.chain.strange("0xearly");
  lane.chain.signatures.set("0xearly", { eventFrom: "hot-wallet", nonce: 3 });
  await lane.settle();
  const deps = { sql, chain: lane.chain.port, stopped: null, mayStillAsk };
  const outcome = await adoptHand(
    deps,
    NETWORK,
    { txid: "0xearly", nonce: 3, reason: "ours" },
    AUDIT,
    5_000,
  );
  assertEquals(outcome, { kind: "refused", why: "decided" });
  assertEquals(await listed(sql), []);
});

/** Statuses of the transactions that were listed, with the reasons of what is over. */
async function listed(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ text: string }[]>`
    SELECT concat_ws(' ', txid, status, reason) AS text FROM hub.unknown_spend ORDER BY txid`;
  return rows.map(({ text }) => text);
}

test("a node's word that the hot wallet has sent a transaction stops nothing, and its signature ends the lie", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  lane.chain.claim("0xlie");
  lane.chain.signatures.set("0xlie", { eventFrom: "thief", nonce: 99 });
  await lane.scan();
  await lane.settle();
  assertEquals(await listed(sql), ["0xlie not_ours signed by thief"]);
  await lane.addPayout("o1");
  assertEquals([await readSigningStop(sql, NETWORK), await lane.turn()], [null, 1]);
});

test("a claim that cannot be proven yet is looked at again, ever more seldom, and stops nothing meanwhile", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  lane.chain.claim("0xsecret");
  lane.chain.signatures.set("0xsecret", null);
  await lane.settle();
  assertEquals(await listed(sql), ["0xsecret unproven"]);
  assertEquals(
    (await readFailoverTroubles(sql)).map(({ openSpends, unproven }) => [openSpends, unproven]),
    [[0, 1]],
  );
  await lane.addPayout("o1");
  assertEquals(await lane.turn(), 1);
  const asked = lane.chain.asked;
  await lane.prove();
  assertEquals(lane.chain.asked, asked, "it rests");
  lane.clock.now += 4_000;
  await lane.prove();
  lane.clock.now += 4_000;
  await lane.prove();
  assertEquals(lane.chain.asked, asked + 1, "twice as long");
  lane.chain.signatures.set("0xsecret", { eventFrom: "hot-wallet", nonce: 7 });
  lane.clock.now += 10 * 60_000;
  await lane.prove();
  assertEquals(await listed(sql), ["0xsecret open"]);
  assert(await readSigningStop(sql, NETWORK) !== null);
});

test("an administrator takes a listed transaction off that is another's or in no block, never one of the hot wallet", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  const deps = { sql, chain: lane.chain.port, stopped: null, mayStillAsk };
  const notOurs = (txid: string, id = "aud_1") =>
    disown(deps, NETWORK, txid, "not ours", { ...AUDIT, id }, 5_000);
  lane.chain.strange("0xours");
  lane.chain.claim("0xunread");
  lane.chain.signatures.set("0xunread", null);
  await lane.settle();
  assertEquals(await notOurs("0xours"), { kind: "ours" });
  assertEquals(await notOurs("0xunread"), { kind: "unread" }, "its block has it");
  assertEquals(await notOurs("0xnone"), { kind: "refused", why: "decided" });
  // honest nodes have the block without it
  lane.chain.hidden.add("0xunread");
  const ended = { ...deps, mayStillAsk: () => Promise.resolve(false) };
  assertEquals(await disown(ended, NETWORK, "0xunread", "not ours", AUDIT, 5_000), {
    kind: "asker_ended",
  });
  assertEquals(await notOurs("0xunread"), { kind: "disowned", sender: null });
  assertEquals(await notOurs("0xunread", "aud_2"), { kind: "refused", why: "decided" });
  lane.chain.claim("0xother");
  lane.chain.signatures.set("0xother", null);
  await lane.settle();
  lane.chain.signatures.set("0xother", { eventFrom: "thief", nonce: 1 });
  const adoption = { txid: "0xother", nonce: 1, reason: "ours" };
  const adopted = await adoptHand(deps, NETWORK, adoption, { ...AUDIT, id: "aud_3" }, 5_000);
  assertEquals(adopted.kind, "in_doubt");
  assertEquals(await notOurs("0xother", "aud_3"), { kind: "disowned", sender: "thief" });
  assertEquals(await listed(sql), [
    "0xother not_ours not ours",
    "0xours open",
    "0xunread not_ours not ours",
  ]);
  const audits = await sql`SELECT subject, actor FROM hub.audit WHERE action = 'treasury.adopt'`;
  assertEquals(audits.length, 2);
  // what was wrongly taken off is adopted by its proof
  lane.chain.hidden.delete("0xunread");
  lane.chain.signatures.set("0xunread", { eventFrom: "hot-wallet", nonce: 8 });
  const adopt = async (txid: string, nonce: number, id: string) => {
    const adoption = { txid, nonce, reason: "ours after all" };
    return (await adoptHand(deps, NETWORK, adoption, { ...AUDIT, id }, 5_000)).kind;
  };
  assertEquals(await adopt("0xours", 7, "aud_4"), "adopted");
  assertEquals(await adopt("0xunread", 8, "aud_5"), "adopted");
});

test("what an administrator has called another's is the service's own once its attempt has ended by it", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  await lane.addPayout("o1");
  assertEquals(await lane.turn(), 1);
  await sql`
    INSERT INTO hub.unknown_spend (network, txid, log_index, height, block_time, wallet, sender, recipient, currency,
      amount, status, decided_at, actor, reason)
    SELECT ${NETWORK}, txid, -1, 3, now(), 'hot', 'hot-wallet', 'hot-wallet', 'native', 0, 'not_ours', now(), 'ana', 'not ours'
    FROM book.attempt`;
  await lane.settle();
  assertEquals(await lane.states(), ["o1 final 7"]);
  assertEquals((await closeKnownSpends(sql, NETWORK)).length, 1);
  const rows = await sql`SELECT status, actor, reason FROM hub.unknown_spend`;
  assertEquals([...rows], [{ status: "known", actor: null, reason: "not ours" }]);
});

test("transactions behind the books' last nonce are adopted in their order, and the lane goes on behind them", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  assertEquals(await lane.turn(), 0);
  lane.chain.strange("0xfirst");
  lane.chain.strange("0xsecond");
  await lane.settle();
  const deps = { sql, chain: lane.chain.port, stopped: null, mayStillAsk };
  const adopt = (txid: string, nonce: number, id: string) =>
    adoptHand(deps, NETWORK, { txid, nonce, reason: "ours" }, { ...AUDIT, id }, 5_000);
  assertEquals(await adopt("0xsecond", 8, "aud_1"), { kind: "refused", why: "later" });
  assertEquals((await adopt("0xfirst", 7, "aud_1")).kind, "adopted");
  assertEquals((await adopt("0xsecond", 8, "aud_2")).kind, "adopted");
  await lane.addPayout("o1");
  assertEquals(await lane.turn(), 1);
  await lane.settle();
  assertEquals(await lane.states(), ["o1 final 9"]);
});

test("what an administrator takes out of use is replaced by nothing, and its merchant gives it back", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  await lane.addPayout("o1");
  await lane.turn();
  assertEquals(await askToCancel(sql, "o9", AUDIT), "unknown");
  assertEquals(await askToCancel(sql, "o1", AUDIT), null);
  assertEquals(await askToCancel(sql, "o1", { ...AUDIT, id: "aud_2" }), "asked");
  await lane.turn();
  await lane.settle();
  assertEquals(await lane.states(), ["o1 dead null"]);
  const inbox = await sql`SELECT data->>'result' AS result FROM book.inbox WHERE phase = 'outcome'`;
  assertEquals([...inbox], [{ result: "abandoned" }]);
  assertEquals(lane.chain.solid.map(({ pays }) => pays.length), [0]);
});

test("of all that is signed with one nonce the wallet's coin is promised for the dearest alone", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  await lane.addPayout("o1");
  await lane.turn();
  const first = (await readCommitments(sql, NETWORK)).assets.get("native")?.signed;
  lane.chain.jump(40);
  await lane.turn();
  const second = (await readCommitments(sql, NETWORK)).assets.get("native")?.signed;
  assertEquals([first, second], [amountOf("21"), amountOf("81")]);
});

test("a wallet whose newest transactions are not final opens no lane, and readiness tells why", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  lane.chain.strange("0xbefore");
  await lane.addPayout("o1");
  assertEquals(await lane.turn(), 0);
  assertEquals(
    lane.lanes.state?.stopped,
    "the hot wallet has transactions that are not final yet",
  );
});
