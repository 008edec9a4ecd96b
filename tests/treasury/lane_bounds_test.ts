import { assert, assertEquals, assertRejects } from "@std/assert";
import { configure, type LogRecord, reset } from "@logtape/logtape";
import { type Chain, ChainUnavailable } from "../../chains/chain.ts";
import type { LaneAsk, LanePort } from "../../chains/lane.ts";
import { type Signer, SignerUnavailable } from "../../chains/signer.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { addMerchant, amount } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { PAPER_BLOCK, paperSigner } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import {
  addNonce,
  addWallet,
  calmLane,
  lanesOn,
  numberedChain,
  numberedSigner,
  scanTo,
} from "./support/lane_rig.ts";

const test = testNeeding(DATABASE);
const SILENT = new ChainUnavailable("timeout", "Cannot read a nonce as no node answers: eth");

const RISEN = { fee: amount("1"), limit: amount("1"), terms: { price: 2 } };
/** Terms by which what is unseen for long is replaced. */
const RISING: LaneAsk = {
  isPassedOver: () => false,
  replacing: () => RISEN,
  cancelling: () => RISEN,
  within: () => RISING,
};

async function reasonOf(sql: Sql, id: string): Promise<string | null> {
  const [row] = await sql<
    { reason: string | null }[]
  >`SELECT reason FROM book.outgoing WHERE id = ${id}`;
  assert(row !== undefined);
  return row.reason;
}

test("a deposit address whose nonce a stranger's transaction has used is left alone, and payouts and other addresses go on", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql);
  const ids = [
    await addNonce(sql, { payer: "5", nonce: 3 }),
    await addNonce(sql, { payer: "6", nonce: 3 }),
  ];
  const lane = calmLane({ next: (address) => Promise.resolve(address === "address-5" ? 4 : 3) });
  const { lanes, sent, poll } = lanesOn(sql, numberedChain(lane));
  await poll();
  // it may be in the block that is read next
  assertEquals([lanes.state?.closed, lanes.state?.stopped], [0, null]);
  await scanTo(sql, PAPER_BLOCK.height + 1);
  await poll();
  assertEquals([lanes.state?.closed, lanes.state?.stopped], [1, null]);
  assertEquals([lanes.room("hot"), lanes.room("5"), lanes.room("7")], [12, 0, 1]);
  assertEquals(sent.at(-1), [`a${ids[1]}`]);
  const reason = "nonce 3 of address-5 was used by a transaction that the scan has not met";
  assertEquals(await Promise.all(ids.map((id) => reasonOf(sql, id))), [
    reason,
    "waiting: fees are above the cap",
  ]);
});

test("one node's word for a stranger's transaction closes nothing that a node with the scan's own block denies", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql);
  await addNonce(sql, { payer: "hot", nonce: 0 });
  const lane = calmLane({
    next: (_, __, ___, checkpoint) => Promise.resolve(checkpoint === undefined ? 1 : 0),
  });
  const { lanes, poll } = lanesOn(sql, numberedChain(lane));
  await poll();
  await scanTo(sql, PAPER_BLOCK.height + 1);
  await poll();
  assertEquals([lanes.state?.stopped, lanes.room("hot")], [null, 11]);
});

test("nonces are asked for where no block shows them, the hot wallet's first, a few addresses at a time and all in turn", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql);
  await addNonce(sql, { payer: "hot", nonce: 0 });
  for (let index = 1; index <= 20; index++) await addNonce(sql, { payer: String(index), nonce: 0 });
  await addNonce(sql, { payer: "21", nonce: 0, seenHeight: PAPER_BLOCK.height + 5 });
  const asked: string[] = [];
  const lane = calmLane({
    next: (address) => {
      asked.push(address);
      return Promise.resolve(0);
    },
  });
  const { poll } = lanesOn(sql, numberedChain(lane));
  const met = new Set<string>();
  for (let turn = 0; turn < 3; turn++) {
    asked.length = 0;
    await poll();
    assertEquals([asked[0], asked.length], ["hot-wallet", 9]);
    for (const address of asked) met.add(address);
  }
  assertEquals(met.size, 21);
  assert(!met.has("address-21"));
});

test("payouts leave a place of the hot wallet's lane to the service's own transfers, while one waits and none is under way", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql);
  const merchantId = await addMerchant(sql);
  await addNonce(sql, { payer: "hot", nonce: 0, merchantId });
  const { lanes, poll } = lanesOn(sql, numberedChain(calmLane()));
  const rooms = async () => {
    await poll();
    return [lanes.room("hot"), lanes.roomFor("merchants")];
  };
  assertEquals(await rooms(), [11, 11]);
  // a sweep that its own address pays for needs none of them
  const addOwn = (id: string, kind: string, currency: string, wallet: string) =>
    sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, network, currency, amount, destination, wallet, status, created_at, updated_at)
    VALUES (${id}, 'mer_platform', ${kind}, 'ETH', ${currency}, 1, ${id}, ${wallet}, 'queued', now(), now())`;
  await addOwn("out_sweep", "sweep", "USDT", "5");
  assertEquals(await rooms(), [11, 11]);
  await addOwn("out_gas", "gas", "native", "hot");
  assertEquals(await rooms(), [11, 10]);
  lanes.take("hot", "merchants");
  assertEquals([lanes.room("hot"), lanes.roomFor("merchants")], [10, 9]);
  lanes.take("hot", "internal");
  assertEquals([lanes.room("hot"), lanes.roomFor("merchants")], [9, 9]);
  await addNonce(sql, { payer: "hot", nonce: 1 });
  assertEquals(await rooms(), [10, 10]);
  await sql`UPDATE book.outgoing SET lease_until = now() + interval '1 minute' WHERE id = 'out_gas'`;
  await sql`UPDATE book.attempt SET seen_height = ${PAPER_BLOCK.height + 5} WHERE nonce = 1`;
  assertEquals(await rooms(), [11, 11]);
  await sql`UPDATE book.outgoing SET lease_until = NULL WHERE id = 'out_gas'`;
  assertEquals(await rooms(), [11, 10]);
});

test("a nonce that no node answers for keeps nothing from being signed or sent again, in one call for all", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql);
  const merchantId = await addMerchant(sql);
  const hot = await addNonce(sql, { payer: "hot", nonce: 0, merchantId });
  const others = [];
  for (let index = 1; index <= 3; index++) {
    others.push(await addNonce(sql, { payer: String(index), nonce: 0 }));
  }
  const lane = calmLane({ next: () => Promise.reject(SILENT) });
  const { lanes, sent, poll } = lanesOn(sql, numberedChain(lane));
  await poll();
  assertEquals([lanes.state?.stopped, lanes.room("hot"), lanes.roomFor("internal")], [
    null,
    11,
    Infinity,
  ]);
  assertEquals(sent, [[hot], others].map((ids) => ids.map((id) => `a${id}`)));
});

test("nodes that never answer hold a turn of all lanes up for a bounded time, and what is due is sent", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql);
  await addNonce(sql, { payer: "hot", nonce: 0 });
  for (let index = 1; index <= 30; index++) await addNonce(sql, { payer: String(index), nonce: 0 });
  const untilEnded = (signal: AbortSignal | undefined) =>
    new Promise<never>((_, reject) => {
      const end = () => reject(SILENT);
      if (signal?.aborted) end();
      else signal?.addEventListener("abort", end);
    });
  const lane = calmLane({
    next: (_, __, signal) => untilEnded(signal),
    asks: (signal) => untilEnded(signal),
  });
  const { lanes, sent, poll } = lanesOn(sql, numberedChain(lane), { partMs: 50 });
  // the terms are told as unanswered once the rest is done
  await assertRejects(poll, ChainUnavailable);
  assertEquals([sent.map(({ length }) => length), lanes.room("hot")], [[1, 30], 11]);
});

test("a lane without room by the scan's marks has the room that a node's newest block tells, and asks for it only then", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql);
  for (let nonce = 0; nonce < 11; nonce++) await addNonce(sql, { payer: "hot", nonce, ageS: 1 });
  const said = { used: 8, asked: 0 };
  const lane = calmLane({
    next: (_, view) => {
      if (view === "solid") return Promise.resolve(0);
      said.asked++;
      return said.used < 0 ? Promise.reject(SILENT) : Promise.resolve(said.used);
    },
  });
  const { lanes, poll } = lanesOn(sql, numberedChain(lane));
  await poll();
  assertEquals([lanes.room("hot"), said.asked], [1, 0]);
  await addNonce(sql, { payer: "hot", nonce: 11, ageS: 1 });
  await poll();
  assertEquals([lanes.room("hot"), said.asked], [8, 1]);
  said.used = -1;
  await poll();
  assertEquals([lanes.room("hot"), said.asked], [0, 2]);
});

test("a node without the network's turn asks nothing, signs nothing and sends nothing", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql);
  await addNonce(sql, { payer: "hot", nonce: 0 });
  await sql`
    INSERT INTO book.signing_turn (network, node, until) VALUES ('ETH', 'other', now() + interval '1 hour')`;
  let asked = 0;
  const lane = calmLane({
    next: () => {
      asked++;
      return Promise.resolve(0);
    },
  });
  const { lanes, sent, poll } = lanesOn(sql, numberedChain(lane));
  await poll();
  assertEquals([asked, sent, lanes.room("hot")], [0, [], 0]);
  assertEquals([lanes.state?.open, lanes.state?.unseen], [1, 1]);
});

/** Polls lanes of one nonce that is to be replaced, one that is to be sent again and one that nothing is signed with. */
async function pollUnsent(sql: Sql, signer: Signer, solid?: () => Promise<never>) {
  await addWallet(sql);
  const merchantId = await addMerchant(sql);
  const stuck = await addNonce(sql, { payer: "hot", nonce: 0, merchantId });
  const young = await addNonce(sql, { payer: "hot", nonce: 1, merchantId, ageS: 1 });
  await addNonce(sql, { payer: "hot", nonce: 2, merchantId, isSigned: false });
  const lane = calmLane({ asks: () => Promise.resolve(RISING) });
  const bounds: number[] = [];
  const sent: string[] = [];
  const { poll } = lanesOn(sql, numberedChain(lane, solid === undefined ? {} : { solid }), {
    signer,
    partMs: 5_000,
    send: (transactions, boundMs) => {
      bounds.push(boundMs);
      sent.push(...transactions.map(({ txid }) => txid));
      return Promise.resolve();
    },
  });
  return { poll, bounds, sent, due: [`a${stuck}`, `a${young}`] };
}

test("what was signed is sent again while the signer is away, in a bounded time, and its absence is told", async () => {
  await using database = await testDatabase();
  const signer = { sign: () => Promise.reject(new SignerUnavailable("Cannot sign as it is away")) };
  const { poll, bounds, sent, due } = await pollUnsent(database.sql, signer);
  await assertRejects(poll, SignerUnavailable);
  assertEquals(sent, due);
  assertEquals(bounds.map((ms) => ms > 0 && ms <= 5_000), [true]);
});

test("what was signed is sent again while no node tells the block that envelopes stand on, and its absence is told", async () => {
  await using database = await testDatabase();
  const solid = () => Promise.reject(SILENT);
  const { poll, bounds, sent, due } = await pollUnsent(database.sql, paperSigner(), solid);
  const told = await assertRejects(poll, ChainUnavailable);
  assertEquals([told, sent], [SILENT, due]);
  assertEquals(bounds.map((ms) => ms > 0 && ms <= 5_000), [true]);
});

test("what the signer does not replace is sent again", async () => {
  await using database = await testDatabase();
  const signer: Signer = {
    sign: (requests) =>
      Promise.resolve(requests.map(({ outgoingIds }) => ({
        outgoingIds,
        refused: "paused",
        message: "it is paused",
      }))),
  };
  const { poll, sent, due } = await pollUnsent(database.sql, signer);
  await poll();
  assertEquals(sent, due);
});

const BUG = new TypeError("Cannot read properties of undefined");
/** Terms by which nothing can be replaced. */
const CAPPED: LaneAsk = { ...RISING, replacing: () => null, within: () => CAPPED };

/** Parts of a turn that come before anything is sent, and what they are with a bug. */
const BROKEN: Readonly<
  Record<string, { lane?: Partial<LanePort>; chain?: Partial<Chain>; storesNoReason?: true }>
> = {
  "the chain's terms": { lane: { asks: () => Promise.reject(BUG) } },
  "the coin of an address": { chain: { balanceOf: () => Promise.reject(BUG) } },
  "the terms of a replacement": {
    lane: {
      asks: () =>
        Promise.resolve({
          ...CAPPED,
          replacing: () => {
            throw BUG;
          },
        }),
    },
  },
  "what an operator sees": { storesNoReason: true },
};

for (const [part, { lane = {}, chain = {}, storesNoReason }] of Object.entries(BROKEN)) {
  test(`what was signed is sent again where ${part} has a bug, which is told`, async () => {
    await using database = await testDatabase();
    const { sql } = database;
    await addWallet(sql);
    const merchantId = await addMerchant(sql);
    const stuck = await addNonce(sql, { payer: "hot", nonce: 0, merchantId });
    const young = await addNonce(sql, { payer: "hot", nonce: 1, merchantId, ageS: 1 });
    await addNonce(sql, { payer: "7", nonce: 0, isSigned: false });
    if (storesNoReason === true) {
      await sql.unsafe(`
        CREATE FUNCTION book.refuse_in_test() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'refused by a rule' USING ERRCODE = 'check_violation'; END $$;
        CREATE TRIGGER refuse_in_test BEFORE UPDATE OF reason ON book.outgoing FOR EACH ROW
        WHEN (NEW.reason = 'waiting: fees are above the cap') EXECUTE FUNCTION book.refuse_in_test()`);
    }
    const port = calmLane({ asks: () => Promise.resolve(CAPPED), ...lane });
    const estimateFee = () => Promise.resolve(RISEN);
    const { sent, poll } = lanesOn(sql, numberedChain(port, { estimateFee, ...chain }), {
      signer: numberedSigner(),
    });
    const told = await assertRejects(poll, Error);
    assert(told === BUG || told.message === "refused by a rule", told.message);
    assertEquals(sent.find((txids) => txids.length > 1), [`a${stuck}`, `a${young}`]);
  });
}

test("a lane that cannot be decided stops no other", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql);
  const merchantId = await addMerchant(sql);
  await addNonce(sql, { payer: "hot", nonce: 0, merchantId });
  const sweep = await addNonce(sql, { payer: "7", nonce: 0, isSigned: false });
  const { lane = {} } = BROKEN["the terms of a replacement"] ?? {};
  const chain = numberedChain(calmLane(lane), { estimateFee: () => Promise.resolve(RISEN) });
  const { lanes, poll } = lanesOn(sql, chain, { signer: numberedSigner() });
  await assertRejects(poll, TypeError);
  const [row] = await sql`SELECT status FROM book.outgoing WHERE id = ${sweep}`;
  assertEquals([row, lanes.room("hot")], [{ status: "signed" }, 0]);
});

test("a node that cannot go on with what is promised passes the turn to one that can", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql);
  await addNonce(sql, { payer: "hot", nonce: 0, isSigned: false });
  const signer = { sign: () => Promise.reject(new SignerUnavailable("Cannot sign as it is away")) };
  const { poll } = lanesOn(sql, numberedChain(calmLane()), { signer });
  await assertRejects(poll, SignerUnavailable);
  const [turn] = await sql`SELECT until <= now() AS is_over FROM book.signing_turn`;
  assertEquals(turn, { is_over: true });
});

test("a scan that has not begun is told, and is no error: it is over by itself", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await sql`
    INSERT INTO hub.wallet (network, wallet_id, hot_wallet, fingerprint)
    VALUES ('ETH', 'wal_test', 'hot-wallet', ${"0".repeat(64)})`;
  const { lanes, poll } = lanesOn(sql, numberedChain(calmLane()));
  const records: LogRecord[] = [];
  await configure({
    sinks: { kept: (record) => void records.push(record) },
    loggers: [
      { category: ["engine"], lowestLevel: "debug", sinks: ["kept"] },
      { category: ["logtape", "meta"], lowestLevel: "error", sinks: ["kept"] },
    ],
  });
  await poll().finally(reset);
  assertEquals([lanes.state?.stopped, lanes.room("hot")], ["the scan has not begun", 0]);
  assertEquals(records.filter(({ level }) => level === "error"), []);
});
