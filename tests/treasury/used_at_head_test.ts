/**
 * The word of a node for nonces that no view of newest blocks shows: for how long it is believed, and what goes by it.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { UsedAtHead, type UsedAtHeadDeps } from "../../actors/treasury/used_at_head.ts";
import { PartBound } from "../../actors/treasury/part_bound.ts";
import { leavesHeadOut } from "../../actors/watcher/scan_memory.ts";
import type { PromisedNonce } from "../../ledger/lanes/open_nonces.ts";
import type { Cursor } from "../../ledger/watcher/cursor.ts";
import { addMerchant, amount } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { PAPER_BLOCK } from "../support/paper_chain.ts";
import {
  addNonce,
  addWallet,
  calmLane,
  lanesOn,
  numberedChain,
  numberedSigner,
} from "./support/lane_rig.ts";

const test = testNeeding(DATABASE);
const START = 1_800_000_000_000;
const MINUTE = 60_000;

function promised(nonce: number, isSeen = false): PromisedNonce {
  const intent = {
    outgoingId: `o${nonce}`,
    merchantId: "mer_1",
    status: "signed",
    isActive: true,
  };
  const attempt = { txid: `t${nonce}`, purpose: "pay", bytes: "", isSeen, ageMs: 1_000 } as const;
  return {
    payer: "hot",
    nonce,
    ageMs: 1_000,
    isCancelAsked: false,
    intents: [intent],
    attempts: [attempt],
  };
}

/** A node, with a clock and a scan that a test moves; all transactions are due. */
function openHead(more: Partial<UsedAtHeadDeps> = {}) {
  const state = { now: 0, scanned: 0, said: 0 as number | undefined, asked: 0, isDue: true };
  const head = new UsedAtHead(
    { isDue: () => state.isDue },
    12,
    {
      resendMs: 3_000,
      monotonic: () => state.now,
      now: () => START + state.now,
      isHeadLeftOut: () => true,
      ...more,
    },
    () => {
      state.asked++;
      return Promise.resolve(state.said);
    },
  );
  const look = async (...open: readonly PromisedNonce[]) => {
    const time = START + state.scanned;
    const solid: Cursor = {
      ...PAPER_BLOCK,
      history: "h",
      time,
      previousTime: time,
      previousTick: 0,
    };
    return await head.look(open, solid, new PartBound(1_000));
  };
  return { state, look };
}

Deno.test("where newest blocks are left out, a node is asked what they have used before anything is sent again, once for each time that it is", async () => {
  const { state, look } = openHead();
  state.said = 8;
  assertEquals(await look(promised(7), promised(8)), { usedBelow: 8, believedBelow: 8 });
  state.said = 9;
  state.now += 2_999;
  assertEquals(await look(promised(8)), { usedBelow: 8, believedBelow: 8 });
  state.now += 1;
  assertEquals(await look(promised(8)), { usedBelow: 9, believedBelow: 9 });
  assertEquals(state.asked, 2);
});

for (
  const [what, more, open, isDue] of [
    ["newest blocks are read", { isHeadLeftOut: () => false }, [promised(7)], true],
    ["a block shows all", {}, [promised(7, true)], true],
    ["all was sent a moment ago", {}, [promised(7)], false],
  ] as const
) {
  Deno.test(`no node is asked what is used where ${what}`, async () => {
    const { state, look } = openHead(more);
    state.said = 8;
    state.isDue = isDue;
    assertEquals([await look(...open), state.asked], [{ believedBelow: 0 }, 0]);
  });
}

Deno.test("a lane without room asks where newest blocks are read, too, and believes nothing but that", async () => {
  const { state, look } = openHead({ isHeadLeftOut: () => false });
  state.said = 5;
  const open = Array.from({ length: 12 }, (_, nonce) => promised(nonce));
  assertEquals(await look(...open), { usedBelow: 5, believedBelow: 0 });
});

Deno.test("a word is believed until the scan has read blocks of two minutes after it, then none is for an hour", async () => {
  const { state, look } = openHead();
  const believed = async (nonce: number) => (await look(promised(nonce))).believedBelow;
  state.said = 99;
  assertEquals(await believed(7), 99);
  state.now = 30 * MINUTE;
  assertEquals(await believed(7), 99, "the scan is behind");
  state.scanned = 2 * MINUTE;
  assertEquals(await believed(7), 99);
  state.scanned += 1;
  assertEquals(await believed(7), 0);
  state.now += 59 * MINUTE;
  state.scanned = state.now;
  assertEquals(await believed(8), 0, "nor of another nonce");
  state.now += MINUTE;
  assertEquals(await believed(9), 99);
});

Deno.test("a word is believed for six hours at most, where the scan stands", async () => {
  const { state, look } = openHead();
  state.said = 99;
  await look(promised(7));
  state.now = 6 * 60 * MINUTE;
  assertEquals((await look(promised(7))).believedBelow, 99);
  state.now += 3_000;
  assertEquals((await look(promised(7))).believedBelow, 0);
});

Deno.test("a word that is taken back begins anew, silence takes none back", async () => {
  const { state, look } = openHead();
  const at = async (minutes: number, said: number | undefined) => {
    state.now = minutes * MINUTE;
    state.said = said;
    return (await look(promised(7))).believedBelow;
  };
  assertEquals(await at(0, 8), 8);
  assertEquals(await at(1, 7), 7);
  assertEquals(await at(2, 8), 8);
  state.scanned = 2.5 * MINUTE;
  assertEquals(await at(3, undefined), 8);
  assertEquals(await at(4, 8), 8);
  state.scanned = 4 * MINUTE + 1;
  assertEquals(await at(5, undefined), 0);
  assertEquals(await at(6, 8), 0, "it was wrong");
});

/** Twelve signed payouts on a chain whose newest blocks are left out, in a quarter of an hour of polls. */
async function quarterOf(said: number) {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql);
  const merchantId = await addMerchant(sql);
  for (let nonce = 0; nonce < 12; nonce++) {
    await addNonce(sql, { payer: "hot", nonce, merchantId, ageS: 60 });
  }
  const fee = { fee: amount("1"), limit: amount("1"), terms: { price: 1 } };
  const ask = {
    isPassedOver: () => false,
    replacing: () => fee,
    cancelling: () => fee,
    within: () => ask,
  };
  const lane = calmLane({
    asks: () => Promise.resolve(ask),
    next: (_, view) => Promise.resolve(view === "head" ? said : 0),
  });
  let now = 0;
  const sent: string[] = [];
  const { lanes, poll } = lanesOn(sql, numberedChain(lane), {
    signer: numberedSigner(),
    monotonic: () => now,
    resendMs: 12_000,
    isHeadLeftOut: () => true,
    send: (transactions) => {
      for (const { txid } of transactions) {
        sent.push(txid);
        lanes.sent(txid);
      }
      return Promise.resolve();
    },
  });
  for (; now < 15 * MINUTE; now += 12_000) await poll();
  const rows = await sql<{ nonce: number; count: number }[]>`
    SELECT nonce::int, count(*)::int FROM book.attempt GROUP BY 1 ORDER BY 1`;
  return { attempts: rows.map(({ count }) => count), sent, room: lanes.room("hot") };
}

test("what a node's newest block has used is neither replaced nor sent again nor in the way, where newest blocks are left out", async () => {
  const { attempts, sent, room } = await quarterOf(12);
  assertEquals([attempts, sent, room], [Array(12).fill(1), [], 12]);
});

test("what it has not used is replaced and sent again, from the lowest such one on", async () => {
  const { attempts, sent, room } = await quarterOf(11);
  const [last = 0, ...others] = attempts.toReversed();
  assertEquals([others, room], [Array(11).fill(1), 11]);
  assertEquals([last > 10, sent.every((txid) => txid.includes("out_hot_0011"))], [true, true]);
});

test("a nonce that nothing is signed with is signed whatever a node says of it", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWallet(sql);
  const merchantId = await addMerchant(sql);
  await addNonce(sql, { payer: "hot", nonce: 0, merchantId });
  await addNonce(sql, { payer: "hot", nonce: 1, merchantId, isSigned: false });
  const lane = calmLane({ next: (_, view) => Promise.resolve(view === "head" ? 99 : 0) });
  const { sent, poll } = lanesOn(sql, numberedChain(lane), {
    signer: numberedSigner(),
    isHeadLeftOut: () => true,
  });
  await poll();
  assertEquals(sent.flat(), ["pay-out_hot_0001-1"]);
});

Deno.test("newest blocks are left out where finality is faster than a look, and while calls run low", () => {
  assertEquals(leavesHeadOut({ headReachedAt: null, restMs: 0 }), true);
  assertEquals(leavesHeadOut({ headReachedAt: 1, restMs: 15_000 }), true);
  assertEquals(leavesHeadOut({ headReachedAt: 1, restMs: 14_999 }), false);
});
