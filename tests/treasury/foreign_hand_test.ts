import { assert, assertEquals } from "@std/assert";
import { adoptHand } from "../../actors/treasury/adopt_hand.ts";
import { Lanes } from "../../actors/treasury/lanes.ts";
import { signQueued } from "../../actors/treasury/sign_queued.ts";
import { CurrencyHolds } from "../../actors/treasury/waits.ts";
import { recordBlocks } from "../../actors/watcher/record_blocks.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { readSigningStop } from "../../ledger/failover/holds.ts";
import { askToCancel } from "../../ledger/lanes/cancel.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { readCommitments } from "../../ledger/treasury/hot_wallet.ts";
import { moveCursor, readCursor } from "../../ledger/watcher/cursor.ts";
import { CountingChain } from "../properties/support/counting_chain.ts";
import { countingSigner } from "../properties/support/counting_signer.ts";
import { addMerchant } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { nodeOf } from "../support/node_of.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const NETWORK: Network = "ETH";
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

/** A lane whose chain takes everything, and the parts that look after it. */
async function openLane(sql: Sql) {
  const chain = new CountingChain(NETWORK, 7, () => 0.9);
  chain.isCalm = true;
  const { port } = chain;
  const { life } = port.capabilities;
  if (life.kind !== "nonce") throw new Error("Cannot open a lane of a chain that counts none");
  await sql`
    INSERT INTO hub.wallet (network, wallet_id, hot_wallet, fingerprint)
    VALUES (${NETWORK}, 'wal_test', 'hot-wallet', ${"0".repeat(64)})`;
  const merchantId = await addMerchant(sql);
  const signer = countingSigner(sql, NETWORK);
  const send = async (bytes: readonly string[]) => {
    for (const one of bytes) await port.broadcast({ txid: "", bytes: one, expiresAt: null });
  };
  const lanes = new Lanes(port, life.lane, {
    sql,
    signer,
    node: "node",
    leaseMs: 60_000,
    resendMs: 0,
    monotonic: () => performance.now(),
    send: (transactions) => send(transactions.map(({ bytes }) => bytes)),
  });
  const scan = async () => {
    for (;;) {
      const cursor = await readCursor(sql, NETWORK, "solid");
      const height = (cursor?.height ?? 0) + 1;
      if (height > chain.solidHeight) return;
      const block = chain.block(height);
      if (cursor !== null) await recordBlocks(sql, port, [block], "solid");
      const place = { ...block, previousTime: block.time - 1, previousTick: block.tick - 1 };
      await moveCursor(sql, NETWORK, "solid", cursor, place, 1);
    }
  };
  await scan();
  return {
    chain,
    lanes,
    scan,
    /** A payout that waits. */
    async addPayout(id: string) {
      const to = `customer-${id}`;
      chain.intended.set(id, { from: "hot-wallet", to, amount: amountOf("5"), reverts: false });
      await sql`
        INSERT INTO book.outgoing
          (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
        VALUES (${id}, ${merchantId}, 'payout', ${`wd_${id}`}, ${NETWORK}, 'USDT', 5, ${to}, 'queued', now(), now())`;
    },
    /** A turn of the treasury. @returns how many transactions it has signed for the first time */
    async turn() {
      await lanes.poll(await readCursor(sql, NETWORK, "solid"));
      const room = lanes.room("hot");
      if (room === 0) return 0;
      const leftAlone = { holds: new CurrencyHolds(), held: [], silent: new Set<never>() };
      const deps = nodeOf(sql, port, { signer });
      const { transactions } = await signQueued(port, deps, room, "merchants", leftAlone, lanes);
      await send(transactions.map(({ bytes }) => bytes));
      return transactions.length;
    },
    /** Makes blocks until what they hold is solid, and reads them. */
    async settle() {
      for (let n = 0; n < 5; n++) chain.mine();
      await scan();
    },
    async states() {
      const rows = await sql<{ id: string; status: string; nonce: number | null }[]>`
        SELECT id, status, nonce::int FROM book.outgoing ORDER BY id`;
      return rows.map(({ id, status, nonce }) => `${id} ${status} ${nonce}`);
    },
  };
}

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

  const deps = { sql, chain: lane.chain.port, stopped: null };
  const wrong = await adoptHand(deps, NETWORK, "0xnone", "ours", AUDIT, 5_000);
  assertEquals(wrong, { kind: "refused", why: "decided" });
  const adopted = await adoptHand(deps, NETWORK, "0xother", "ours", AUDIT, 5_000);
  assertEquals(adopted, { kind: "adopted", nonce: 7, notified: [] });
  const again = await adoptHand(deps, NETWORK, "0xother", "ours", { ...AUDIT, id: "aud_2" }, 5_000);
  assertEquals(again, { kind: "refused", why: "decided" });
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

test("transactions behind the books' last nonce are adopted in their order, and the lane goes on behind them", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  assertEquals(await lane.turn(), 0);
  lane.chain.strange("0xfirst");
  lane.chain.strange("0xsecond");
  await lane.settle();
  const deps = { sql, chain: lane.chain.port, stopped: null };
  const adopt = (txid: string, id: string) =>
    adoptHand(deps, NETWORK, txid, "ours", { ...AUDIT, id }, 5_000);
  assertEquals(await adopt("0xsecond", "aud_1"), { kind: "refused", why: "later" });
  assertEquals((await adopt("0xfirst", "aud_1")).kind, "adopted");
  assertEquals((await adopt("0xsecond", "aud_2")).kind, "adopted");
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
