import { assertEquals, assertMatch } from "@std/assert";
import { recordBlocks } from "../../actors/watcher/record_blocks.ts";
import { unnamedEnds } from "../../actors/watcher/named_ends.ts";
import { type Block, type Chain, ChainUnavailable } from "../../chains/chain.ts";
import { readSigningStop } from "../../ledger/failover/holds.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { ZERO } from "../../ledger/money/amount.ts";
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
    (await unnamedEnds({ provenIds }, [block], [findingOf(result, currency)])).size;
  assertEquals(await needs("paid", "USDT"), 0);
  assertEquals(await needs("failed", "native"), 0);
  assertEquals(asked, 0);
  for (const result of ["cancelled", "failed", "unexpected"] as const) {
    assertEquals(await needs(result, "USDT"), 1);
  }
  assertEquals((await unnamedEnds({}, [block], [findingOf("cancelled", "USDT")])).size, 0);
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
  assertEquals(await outcomes(sql), []);
  assertEquals(await read(() => Promise.resolve(["another", txid])), ["o1 dead null"]);
  assertEquals(await outcomes(sql), ["failed"]);
});
