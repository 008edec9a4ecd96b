/**
 * Ends that one node has said of and that were not: they leave the list when their block is read again without them and a second
 * node has none there either. Neither node's word is enough alone.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { untilPassed } from "../../actors/reconcile/passed_block.ts";
import { deniedEnds } from "../../actors/treasury/end_opinion.ts";
import { recordBlocks } from "../../actors/watcher/record_blocks.ts";
import type { SecondNode } from "../../actors/watcher/second_node.ts";
import { ChainUnavailable, type IncludedTransaction } from "../../chains/chain.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import { readCursor } from "../../ledger/watcher/cursor.ts";
import {
  dropMissingEnd,
  hasLateOutcome,
  listLateOutcomes,
  readMissingEnds,
  takeLateOutcomes,
} from "../../ledger/watcher/late_outcomes.ts";
import { addressOf } from "../support/api.ts";
import { amount, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { LANE_NETWORK, openLane } from "./support/test_lane.ts";
import { CALM, openTreasuryRig, type TreasuryRig } from "./support/treasury_rig.ts";

const test = testNeeding(DATABASE);

/** A rig with an honest second node, whose payout of 500 is signed. */
async function openSigned(stack: AsyncDisposableStack, fault: "error-500" | "revert") {
  const rig = stack.use(
    await openTreasuryRig({
      policy: ({ chainAt, chainUrl }) => {
        const nodes = [{ name: "second.example", chain: chainAt(chainUrl) }];
        return { ...CALM, second: { above: amount("100"), nodes } };
      },
    }),
  );
  const { key } = await rig.merchant("1000");
  await rig.setFaults([{ path: "/wallet/broadcasttransaction", kind: fault }]);
  const id = await rig.withdraw(key, "500", addressOf(0xbee5));
  await until(async () => (await rig.payout(id)).status === "signed");
  return { rig, id };
}

/** One node's word that the payout's transaction has failed in the newest solid block. */
async function lie({ sql, chain }: TreasuryRig): Promise<void> {
  const [row] = await sql<{ txid: string }[]>`SELECT txid FROM book.attempt`;
  const cursor = await readCursor(sql, "TRX", "solid");
  if (row === undefined || cursor === null) throw new Error("Cannot lie as nothing was read");
  const more: IncludedTransaction = {
    txid: row.txid,
    success: false,
    failure: "REVERT",
    fee: amountOf("1"),
  };
  for await (const one of chain.blocks(cursor.height, cursor.height, "solid")) {
    if (one.kind !== "block") continue;
    const block = { ...one.block, transactions: [...one.block.transactions, more] };
    const proofs = { above: amount("100"), testimonies: new Map() };
    await recordBlocks(sql, chain, [block], "solid", proofs);
  }
  assertEquals((await sql`SELECT FROM book.late_outcome`).length, 1);
}

/** Lets what was read in vain be read again at once. */
async function hurry({ sql }: TreasuryRig): Promise<void> {
  await sql`UPDATE book.late_outcome SET tried_at = NULL`;
}

test("a false word that a large payout failed leaves the list once its block is read without it, gives nothing back, and holds no comparison up", async () => {
  await using stack = new AsyncDisposableStack();
  const { rig, id } = await openSigned(stack, "error-500");
  const { sql, chain } = rig;
  await rig.mine(4);
  await lie(rig);
  await until(async () => {
    await hurry(rig);
    return (await sql`SELECT FROM book.late_outcome`).length === 0;
  });
  const { status, outcomes } = await rig.payout(id);
  assertEquals([status, outcomes], ["signed", ["open"]]);
  const { height } = await readCursor(sql, "TRX", "solid") ?? { height: 0 };
  await untilPassed({ sql, chain, coldAddress: null, pause: () => Promise.resolve() }, height);
});

test("a large payout that failed in a later block than one node has said ends by the true one, and the wallet is compared again", async () => {
  await using stack = new AsyncDisposableStack();
  const { rig, id } = await openSigned(stack, "revert");
  const { sql, chain } = rig;
  await lie(rig);
  await rig.mineUntil("it is given back", async () => {
    await hurry(rig);
    return (await rig.payout(id)).status === "void";
  });
  assertEquals((await rig.payout(id)).outcomes, ["failed"]);
  const { height } = await readCursor(sql, "TRX", "solid") ?? { height: 0 };
  await untilPassed({ sql, chain, coldAddress: null, pause: () => Promise.resolve() }, height);
});

test("each block that is said to end a transfer is listed apart, and only what it was read again without leaves the list", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  await lane.addPayout("o1");
  assertEquals(await lane.turn(), 1);
  const [attempt] = await sql<{ txid: string; merchantId: string }[]>`
    SELECT txid, merchant_id AS "merchantId" FROM book.attempt`;
  if (attempt === undefined) throw new Error("Cannot go on as nothing is signed");
  const { txid, merchantId } = attempt;
  const list = (height: number) =>
    listLateOutcomes(sql, LANE_NETWORK, [{ outgoingId: "o1", number: 1, merchantId, height }]);
  assertEquals([...await list(7)], ["o1"]);
  assertEquals([...await list(4)], ["o1"]);
  assertEquals([...await list(4)], [], "it is known");
  const missing = () => readMissingEnds(sql, LANE_NETWORK, [4, 7]);
  assertEquals(await missing(), [], "they were not taken yet");
  assertEquals(await takeLateOutcomes(sql, LANE_NETWORK, 20), [4, 7]);
  await list(7);
  const lied = { txid, purpose: "pay" as const, height: 4 };
  assertEquals(await missing(), [lied]);
  assertEquals(await dropMissingEnd(sql, LANE_NETWORK, { ...lied, height: 7 }), []);
  assertEquals(await dropMissingEnd(sql, LANE_NETWORK, lied), ["o1"]);
  assertEquals(await hasLateOutcome(sql, LANE_NETWORK, 6), false);
  assertEquals(await hasLateOutcome(sql, LANE_NETWORK, 7), true);
});

/** A second node that has a transaction in a block, or not at all; one without an index finds none by its id. */
function nodeWith(
  found: { readonly height: number; readonly success: boolean } | null,
  isIndexed = true,
): SecondNode {
  return {
    name: "second.example",
    chain: {
      block: (height) => {
        const transactions = found?.height === height ? [{ txid: "a", ...found }] : [];
        return Promise.resolve({ kind: "block", block: { hash: "b7", transactions } } as never);
      },
      transaction: (txid) =>
        Promise.resolve(
          (found === null || !isIndexed ? { kind: "missing", txid } : {
            kind: "found",
            transaction: { txid, ...found },
          }) as never,
        ),
    },
  };
}

Deno.test(
  "a second node that has a transaction in that very block, however it ended, keeps the end on the list, and so does silence",
  async () => {
    const end = { txid: "a", purpose: "pay" as const, height: 7 };
    const silent: SecondNode = {
      name: "silent.example",
      chain: {
        block: () => Promise.reject(new ChainUnavailable("timeout", "it does not answer")),
        transaction: () => Promise.reject(new ChainUnavailable("timeout", "it does not answer")),
      },
    };
    const behind: SecondNode = {
      ...nodeWith(null),
      chain: {
        ...nodeWith(null).chain,
        block: () => Promise.resolve({ kind: "missing" } as never),
      },
    };
    const failed = nodeWith({ height: 7, success: false });
    const paid = nodeWith({ height: 7, success: true });
    const later = nodeWith({ height: 9, success: false });
    const none = nodeWith(null);
    const unindexed = nodeWith({ height: 7, success: true }, false);
    const denied = async (...nodes: readonly SecondNode[]) =>
      (await deniedEnds(nodes, [end], AbortSignal.timeout(5_000))).length === 1;
    const undecided = [[], [failed], [paid], [silent], [behind], [unindexed]];
    for (const nodes of [...undecided, [none, failed], [later, paid]]) {
      assertEquals(await denied(...nodes), false);
    }
    for (const nodes of [[none], [later], [silent, none], [none, behind]]) {
      assertEquals(await denied(...nodes), true);
    }
  },
);
