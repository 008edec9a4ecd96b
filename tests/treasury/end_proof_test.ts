import { assertEquals, assertMatch } from "@std/assert";
import { recordBlocks } from "../../actors/watcher/record_blocks.ts";
import { type Chain, ChainUnavailable } from "../../chains/chain.ts";
import type { SecondNode } from "../../actors/watcher/second_node.ts";
import { readLargeEnds } from "../../ledger/watcher/late_outcomes.ts";
import { addressOf } from "../support/api.ts";
import { amount, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { startLyingNode } from "./support/lying_node.ts";
import { LANE_NETWORK, openLane } from "./support/test_lane.ts";
import { CALM, openTreasuryRig } from "./support/treasury_rig.ts";

const test = testNeeding(DATABASE);

/** A second node that is away until it is let in. */
function shyNode(chain: Chain) {
  const state = { isAway: true };
  const ask = <Answer>(answer: () => Promise<Answer>) =>
    state.isAway
      ? Promise.reject(new ChainUnavailable("timeout", "Cannot ask as it is away"))
      : answer();
  const node: SecondNode = {
    name: "second.example",
    chain: {
      block: (...given) => ask(() => chain.block(...given)),
      transaction: (...given) => ask(() => chain.transaction(...given)),
    },
  };
  return { node, state };
}

/** A rig whose own node lies about the transactions in `failed`, and whose second one does so where `both` is set. */
async function openLiar(stack: AsyncDisposableStack, both: boolean) {
  const failed = new Set<string>();
  const seconds: ReturnType<typeof shyNode>[] = [];
  let liar = "";
  const rig = stack.use(
    await openTreasuryRig({
      through: (url) => liar = stack.use(startLyingNode(url, failed)).url,
      policy: ({ chainAt, chainUrl }) => {
        const second = shyNode(chainAt(both ? liar : chainUrl));
        seconds.push(second);
        return { ...CALM, second: { above: amount("100"), nodes: [second.node] } };
      },
    }),
  );
  const [second] = seconds;
  if (second === undefined) throw new Error("Cannot go on as the policy was not asked for");
  const { key } = await rig.merchant("1000");
  /** Asks for a payout, of which the own node says that it failed. @returns its withdrawal */
  const failing = async (sum: string, receiver: string) => {
    const id = await rig.withdraw(key, sum, receiver);
    await until(async () => (await rig.payout(id)).status === "signed");
    const [row] = await rig.sql<{ txid: string }[]>`
      SELECT a.txid FROM book.attempt a JOIN book.outgoing o ON o.id = a.outgoing_id
      WHERE o.payment_id = ${id}`;
    failed.add(row?.txid ?? "");
    return id;
  };
  return { rig, second: second.state, failed, failing };
}

test("a large payout that failed by one node's word is not given back while no second node has it as failed", async () => {
  await using stack = new AsyncDisposableStack();
  const { rig, second, failed, failing } = await openLiar(stack, false);
  const receiver = addressOf(0xbee1);
  const [large, small] = [
    await failing("500", receiver),
    await failing("100", addressOf(0xbee2)),
  ];
  await rig.mineUntil(
    "the small one is given back",
    async () => (await rig.payout(small)).status === "void",
  );
  await rig.mine(4);
  const says = (words: RegExp) =>
    until(async () => words.test((await rig.payout(large)).reason ?? ""));
  await says(/second\.example does not answer/);
  assertEquals((await rig.payout(large)).outcomes, ["open"]);
  second.isAway = false;
  await rig.sql`UPDATE book.late_outcome SET tried_at = NULL`;
  await says(/second\.example has the transaction as a success/);
  assertEquals((await rig.payout(large)).outcomes, ["open"]);
  // past its expiry as well
  await rig.mine(2, 40_000);
  await rig.mine(4);
  assertEquals((await rig.payout(large)).outcomes, ["open"]);
  failed.clear();
  await rig.sql`UPDATE book.late_outcome SET tried_at = NULL`;
  await until(async () => (await rig.payout(large)).status === "final");
  assertEquals((await rig.payout(large)).outcomes, ["paid"]);
  assertEquals(await rig.chain.balanceOf(receiver, "USDT"), amount("500"));
});

test("on a chain with nonces, a large payout that failed or was cancelled keeps its nonce until a second node has that very block", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  const { chain } = lane;
  await lane.addPayout("o1");
  assertEquals(await lane.turn(), 1);
  const intended = chain.intended.get("o1");
  if (intended === undefined) throw new Error("Cannot go on as the payout is unknown");
  chain.intended.set("o1", { ...intended, reverts: true });
  for (let n = 0; n < 5; n++) chain.mine();
  const blocks = Array.from({ length: chain.solidHeight }, (_, i) => chain.block(i + 1));
  const read = async (hash: string | null) => {
    const txid = blocks.flatMap(({ transactions }) => transactions)[0]?.txid ?? "";
    const { height } = blocks.find(({ transactions }) => transactions.length > 0) ?? { height: 0 };
    const testimony = { node: "second.example", height, hash: hash ?? "", askedAt: 1 };
    const testimonies = new Map(hash === null ? [] : [[txid, testimony] as const]);
    await recordBlocks(sql, chain.port, blocks, "solid", { above: amount("4"), testimonies });
    return await lane.states();
  };
  const [nonce] = (await lane.states()).map((state) => state.split(" ").at(-1));
  assertEquals(await read(null), [`o1 signed ${nonce}`]);
  assertEquals((await readLargeEnds(sql, LANE_NETWORK, amount("4"))).length, 1);
  assertEquals((await readLargeEnds(sql, LANE_NETWORK, amount("5"))).length, 0);
  assertEquals(await read("another"), [`o1 signed ${nonce}`]);
  const hash = blocks.find(({ transactions }) => transactions.length > 0)?.hash ?? "";
  assertEquals(await read(hash), ["o1 dead null"]);
  const [row] = await sql`SELECT evidence -> 'second' ->> 'hash' AS hash FROM book.attempt`;
  assertEquals(row?.["hash"], hash);
});

test("a large payout that failed for a second node too is given back, with that node's word as evidence", async () => {
  await using stack = new AsyncDisposableStack();
  const { rig, second, failing } = await openLiar(stack, true);
  second.isAway = false;
  const large = await failing("500", addressOf(0xbee3));
  await rig.mineUntil("it is given back", async () => {
    // a look before the cursor has moved is in vain, and the next one would come after a pause
    await rig.sql`UPDATE book.late_outcome SET tried_at = NULL`;
    return (await rig.payout(large)).status === "void";
  });
  const { outcomes, evidence } = await rig.payout(large);
  assertEquals(outcomes, ["failed"]);
  const testimony = evidence?.["second"] as Record<string, unknown>;
  assertEquals(testimony["node"], "second.example");
  assertMatch(String(testimony["hash"]), /^[0-9a-f]{64}$/);
});
