import { assertEquals, assertMatch } from "@std/assert";
import { readAgain } from "../../actors/treasury/read_again.ts";
import { recordBlocks } from "../../actors/watcher/record_blocks.ts";
import { unnamedEnds } from "../../actors/watcher/named_ends.ts";
import { type Block, type Chain, ChainUnavailable } from "../../chains/chain.ts";
import { readSigningStop } from "../../ledger/failover/holds.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { amountOf, ZERO } from "../../ledger/money/amount.ts";
import { readCursor } from "../../ledger/watcher/cursor.ts";
import type { OutcomeFinding } from "../../ledger/watcher/record_outcomes.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { LANE_NETWORK, openLane, type TestLane } from "./support/test_lane.ts";

const test = testNeeding(DATABASE);
const STRANGER = "the stranger's transaction";

/** The lane's chain with a proof of ids. */
function proving({ chain }: TestLane, provenIds: NonNullable<Chain["provenIds"]>): Chain {
  return { ...chain.port, provenIds };
}

/** A payout that is under way. @returns id of its transaction */
async function payout(sql: Sql, lane: TestLane, id: string): Promise<string> {
  await lane.addPayout(id);
  await lane.turn();
  const [row] = await sql<{ txid: string }[]>`
    SELECT txid FROM book.attempt WHERE outgoing_id = ${id}`;
  return row?.txid ?? "";
}

/** A solid block that one node tells by these ids. */
function blockOf({ chain }: TestLane, txid: string, success: boolean): Block {
  const block = chain.block(chain.solidHeight);
  const paid = { ...block.transactions[0], fee: ZERO };
  const of = (txid: string, success: boolean) => ({
    ...paid,
    txid,
    success,
    failure: success ? null : "REVERTED",
  });
  return { ...block, transactions: [of("another", true), of(txid, success)], transfers: [] };
}

const outcomes = async (sql: Sql) =>
  (await sql`SELECT data ->> 'result' AS result FROM book.inbox WHERE phase = 'outcome'`)
    .map(({ result }) => result);
const reasonOf = async (sql: Sql) =>
  String((await sql`SELECT reason FROM book.outgoing`)[0]?.["reason"]);

for (
  const [what, success] of [["failed", false], ["succeeded without its transfer", true]] as const
) {
  test(`a stranger's transaction that ${what} and that one node tells by a payout's id ends no payout, which is paid once`, async () => {
    await using database = await testDatabase();
    const { sql } = database;
    const lane = await openLane(sql);
    const txid = await payout(sql, lane, "o1");
    const [signed] = await lane.states();
    const block = blockOf(lane, txid, success);
    const chain = proving(lane, (hash) => {
      assertEquals(hash, block.hash);
      return Promise.resolve(["another", STRANGER]);
    });
    await recordBlocks(sql, chain, [block], "solid");
    assertEquals([await lane.states(), await outcomes(sql)], [[signed], []]);
    assertMatch(
      await reasonOf(sql),
      /not ended yet: transaction 1 of the block is another one \(the stranger's transaction\)/,
    );
    await lane.settle();
    assertEquals(lane.chain.solid.map(({ txid }) => txid), [txid]);
    assertEquals(await outcomes(sql), ["paid"]);
    assertEquals(await readSigningStop(sql, LANE_NETWORK), null);
  });
}

test("a cancelled nonce needs the proof as well; a transfer that has paid, and the chain's own coin, need none", async () => {
  const transaction = { txid: "own", success: true, failure: null, fee: ZERO };
  const place = { height: 5, parentHeight: 4, hash: "h5", parentHash: "h4", time: 1, tick: 1 };
  const block: Block = { ...place, transactions: [transaction], transfers: [] };
  const findingOf = (result: OutcomeFinding["result"], currency: string) =>
    ({ own: { txid: "own", currency }, result, height: 5, hash: "h5" }) as OutcomeFinding;
  let asked = 0;
  const provenIds = () => {
    asked++;
    return Promise.resolve([STRANGER]);
  };
  const needs = async (result: OutcomeFinding["result"], currency: string) =>
    (await unnamedEnds({ provenIds }, [block], [findingOf(result, currency)], new Set())).size;
  assertEquals(await needs("paid", "USDT"), 0);
  assertEquals(await needs("failed", "native"), 0);
  assertEquals(asked, 0);
  for (const result of ["cancelled", "failed", "unexpected"] as const) {
    assertEquals(await needs(result, "USDT"), 1);
  }
  const together = [findingOf("unexpected", "USDT"), findingOf("paid", "USDT")];
  const unnamed = await unnamedEnds({ provenIds }, [block], together, new Set());
  assertEquals([...unnamed.keys()], together, "what one transaction carries ends together");
  const cancelled = [findingOf("cancelled", "USDT")];
  assertEquals((await unnamedEnds({}, [block], cancelled, new Set())).size, 0);
});

test("a payout that failed is given back once its block proves its id, and stays signed while no node shows what proves it", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  const txid = await payout(sql, lane, "o1");
  const [signed] = await lane.states();
  const block = blockOf(lane, txid, false);
  const read = async (provenIds: NonNullable<Chain["provenIds"]>) => {
    await recordBlocks(sql, proving(lane, provenIds), [block], "solid");
    return await lane.states();
  };
  const waits = /not ended yet: no node proves the ids of the block's transactions/;
  assertEquals(await read(() => Promise.resolve(null)), [signed]);
  assertMatch(await reasonOf(sql), waits);
  const away = () => Promise.reject(new ChainUnavailable("timeout", "Cannot ask as it is away"));
  assertEquals(await read(away), [signed]);
  assertMatch(await reasonOf(sql), waits);
  const strange = proving(lane, () => Promise.resolve(null));
  await recordBlocks(sql, strange, [{ ...block, isUnbound: true }], "solid");
  assertMatch(await reasonOf(sql), /not that of the fields which this release knows: upgrade it/);
  assertEquals(await outcomes(sql), []);
  assertEquals(await read(() => Promise.resolve(["another", txid])), ["o1 dead null"]);
  assertEquals(await outcomes(sql), ["failed"]);
});

for (const proves of [true, false]) {
  const end = proves ? "ends by the one that proves it" : "waits until each was read again";
  test(`a payout whose transaction a node tells in two of the blocks that are read together ${end}`, async () => {
    await using database = await testDatabase();
    const { sql } = database;
    const lane = await openLane(sql);
    const txid = await payout(sql, lane, "o1");
    const [signed] = await lane.states();
    while (!lane.chain.solid.some((one) => one.txid === txid)) lane.chain.mine();
    const paid = lane.chain.block(lane.chain.solidHeight);
    lane.chain.mine();
    const failed = { ...blockOf(lane, txid, false), height: paid.height + 1, hash: "next" };
    const ids = (hash: string) =>
      hash === paid.hash ? paid.transactions.map((one) => one.txid) : ["another", STRANGER];
    const chain = proves ? proving(lane, (hash) => Promise.resolve(ids(hash))) : lane.chain.port;
    await recordBlocks(sql, chain, [paid, failed], "solid");
    assertEquals(await outcomes(sql), proves ? ["paid"] : []);
    if (proves) return;
    assertEquals(await lane.states(), [signed]);
    assertMatch(
      await reasonOf(sql),
      /in blocks \d+ and \d+, and not ended yet: nodes have told it/,
    );
    await recordBlocks(sql, chain, [paid], "solid");
    assertEquals(await outcomes(sql), ["paid"]);
  });
}

/** Two payouts under way of which the first fails, and what their solid blocks have. */
async function openPair(sql: Sql, to: string) {
  const lane = await openLane(sql);
  const txids = new Map<string, string>();
  for (const [id, reverts] of [["o1", true], ["o2", false]] as const) {
    await lane.addPayout(id, "5", to || `customer-${id}`);
    const intended = lane.chain.intended.get(id);
    if (intended !== undefined) lane.chain.intended.set(id, { ...intended, reverts });
  }
  assertEquals(await lane.turn(), 2);
  const rows = await sql<{ id: string; txid: string }[]>`
    SELECT outgoing_id AS id, txid FROM book.attempt`;
  for (const { id, txid } of rows) txids.set(id, txid);
  while (lane.chain.solid.length < 2) lane.chain.mine();
  const blocks = Array.from({ length: lane.chain.solidHeight }, (_, i) => lane.chain.block(i + 1))
    .filter(({ transactions }) => transactions.length > 0);
  const first = txids.get("o1") ?? "";
  const second = txids.get("o2") ?? "";
  const swapped = (txid: string) => txid === first ? second : txid === second ? first : txid;
  /** Reads the blocks as a node tells their ids. @returns how often it was asked to prove them */
  const read = async (idOf: (txid: string) => string) => {
    let asked = 0;
    const told = (block: Block): Block => ({
      ...block,
      transactions: block.transactions.map((one) => ({ ...one, txid: idOf(one.txid) })),
      transfers: block.transfers.map((one) => ({ ...one, txid: idOf(one.txid) })),
    });
    for (const block of blocks) {
      const chain = proving(lane, () => {
        asked++;
        return Promise.resolve(block.transactions.map(({ txid }) => txid));
      });
      await recordBlocks(sql, chain, [told(block)], "solid");
    }
    return asked;
  };
  const ends = async () =>
    (await sql<{ end: string }[]>`
      SELECT outgoing_id || ' ' || coalesce(outcome, 'open') AS end FROM book.attempt ORDER BY 1`)
      .map(({ end }) => end);
  return { blocks, first, second, swapped, read, ends };
}

test("of two payouts alike of which one failed, each ends as it did, also where a node has told their ids the other way around", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { swapped, read, ends } = await openPair(sql, "customer");
  await read(swapped);
  assertEquals(await ends(), ["o1 open", "o2 open"]);
  assertEquals((await sql`SELECT FROM book.late_outcome`).length > 0, true);
  await read((txid) => txid);
  assertEquals(await ends(), ["o1 failed", "o2 paid"]);
  assertEquals(await readSigningStop(sql, LANE_NETWORK), null);
});

test("a payout is not paid by the transfer of one that is like it and has ended already, whatever id a node tells it by later", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { first, second, read, ends } = await openPair(sql, "customer");
  await read((txid) => txid === first ? STRANGER : txid);
  assertEquals(await ends(), ["o1 open", "o2 paid"]);
  await read((txid) => txid === second ? first : STRANGER);
  assertEquals(await ends(), ["o1 open", "o2 paid"]);
  await read((txid) => txid);
  assertEquals(await ends(), ["o1 failed", "o2 paid"]);
});

test("a payout that has paid and that no other is like ends without the proof of its id", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { blocks, read, ends } = await openPair(sql, "");
  const failures = blocks.filter(({ transactions }) =>
    transactions.some(({ success }) => !success)
  );
  assertEquals(await read((txid) => txid), failures.length);
  assertEquals(await ends(), ["o1 failed", "o2 paid"]);
});

test("what a large payout's end waits for is told once, and rightly, also where second nodes agree and its id is what lacks its proof", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  const txid = await payout(sql, lane, "o1");
  while (!lane.chain.solid.some((one) => one.txid === txid)) lane.chain.mine();
  const block = {
    ...lane.chain.block(lane.chain.solidHeight),
    transactions: [{ txid, success: false, failure: "REVERTED", fee: ZERO }],
    transfers: [],
  };
  const { height } = block;
  const read = { kind: "block" as const, block };
  const chain: Chain = {
    ...proving(lane, () => Promise.resolve(null)),
    block: () => Promise.resolve(read),
    async *blocks() {
      yield await Promise.resolve(read);
    },
  };
  const above = amountOf("1");
  await recordBlocks(sql, chain, [block], "solid", { above, testimonies: new Map() });
  await sql`
    UPDATE hub.cursor SET height = ${height}, hash = ${block.hash}
    WHERE network = ${LANE_NETWORK} AND view = 'solid'`;
  const solid = await readCursor(sql, LANE_NETWORK, "solid");
  if (solid === null) throw new Error("Cannot go on as nothing was read");
  assertEquals((await sql`SELECT height::int FROM book.late_outcome`)[0], { height });
  const second = { above, nodes: [{ name: "second.example", chain }] };
  const rows: unknown[] = [];
  for (let look = 0; look < 3; look++) {
    await sql`UPDATE book.late_outcome SET tried_at = NULL`;
    await readAgain({ sql, chain, stopped: null, second, wake: () => {} }, solid);
    rows.push((await sql`SELECT reason, xmin::text AS written FROM book.outgoing`)[0]);
  }
  assertMatch(await reasonOf(sql), /no node proves the ids of the block's transactions/);
  assertEquals(rows, rows.map(() => rows[0]));
});

test("a payout that is told in two blocks, neither proven, has one reason, told once", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  const txid = await payout(sql, lane, "o1");
  const chain = proving(
    lane,
    (hash) => Promise.resolve(hash === "h4" ? null : [STRANGER, "another"]),
  );
  const [low, high] = [4, 6].map((height) => ({
    ...blockOf(lane, txid, false),
    height,
    hash: `h${height}`,
  }));
  if (low === undefined || high === undefined) throw new Error("Cannot go on without blocks");
  await recordBlocks(sql, chain, [low], "solid");
  assertMatch(await reasonOf(sql), /in block 4, and not ended yet: no node proves/);
  const rows: unknown[] = [];
  for (const block of [high, low, high, low]) {
    await recordBlocks(sql, chain, [block], "solid");
    rows.push((await sql`SELECT reason, xmin::text AS written FROM book.outgoing`)[0]);
  }
  assertMatch(await reasonOf(sql), /in blocks 4 and 6, and not ended yet: nodes have told it/);
  assertEquals(rows, rows.map(() => rows[0]));
});
