import { assert, assertEquals, assertRejects } from "@std/assert";
import { armCrashPoint } from "../../actors/runtime/crash_point.ts";
import { newId } from "../../actors/runtime/ids.ts";
import { treasuryActors } from "../../actors/treasury/treasury_actor.ts";
import { watcherActors } from "../../actors/watcher/watcher_actor.ts";
import { type Block, type Chain, ChainUnavailable } from "../../chains/chain.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { ZERO } from "../../ledger/money/amount.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { readInFlight } from "../../ledger/treasury/in_flight.ts";
import { readCursor } from "../../ledger/watcher/cursor.ts";
import { addMerchant } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { paperChain, paperSigner } from "../support/paper_chain.ts";
import { sparseBlock } from "../support/paper_family.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const OURS = "ab".repeat(32);

/** A signed payout whose bytes may be in a block. */
async function addSigned(sql: Sql, txid = OURS): Promise<void> {
  const merchantId = await addMerchant(sql);
  const id = newId("out");
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, attempts, created_at, updated_at)
    VALUES (${id}, ${merchantId}, 'payout', 'wd_1', 'TRX', 'USDT', 1, 'somewhere', 'signed', 1, now(), now())`;
  await sql`
    INSERT INTO book.attempt (outgoing_id, number, merchant_id, network, txid, bytes, expires_at, dies_after, created_at, fee_limit)
    VALUES (${id}, 1, ${merchantId}, 'TRX', ${txid}, 'bytes', now() + interval '1 day', ${
    Date.now() + 86_400_000
  }, now(), 0)`;
}

/** A block of a branch, with transactions of the service where they are named. */
function blockOf(branch: string, height: number, txids: readonly string[] = []): Block {
  return sparseBlock(height, height - 1, {
    hash: `${branch}${height}`,
    parentHash: `${height - 1 <= 10 ? "a" : branch}${height - 1}`,
    transactions: txids.map((txid) => ({ txid, success: true, failure: null, fee: ZERO })),
  });
}

/** A chain whose branch a test exchanges, and the two views of it. */
async function forked(sql: Sql, keptHeadBlocks = 0) {
  const self = {
    blocks: [blockOf("a", 10)] as readonly Block[],
    solid: 10,
    clock: 1_000,
    /** Looks at each block before it is given. */
    onRead: (_block: Block): Promise<void> => Promise.resolve(),
    isHeadRead: false,
  };
  const at = (height: number) => {
    const block = self.blocks.find((one) => one.height === height);
    assert(block !== undefined);
    return block;
  };
  const chain: Chain = paperChain("TRX", {
    capabilities: { ...paperChain("TRX").capabilities, keptHeadBlocks },
    head: () => Promise.resolve(at(Math.max(...self.blocks.map(({ height }) => height)))),
    solid: () => Promise.resolve(at(self.solid)),
    async *blocks(from, to) {
      for (const block of self.blocks) {
        if (block.height < from || block.height > to) continue;
        await self.onRead(block);
        yield { kind: "block", block };
      }
    },
  });
  const open = async () => {
    const { solid, head } = watcherActors({
      sql,
      chains: new Map([["TRX", chain]]),
      nodes: () => [],
      now: Date.now,
      monotonic: () => self.clock,
      wakeMerchants: () => {},
      onSolid: () => {},
      onStatus: (_, { isHeadRead }) => {
        self.isHeadRead = isHeadRead;
      },
      again: () => {},
    });
    return { scan: await solid.activate("TRX"), headView: await head.activate("TRX") };
  };
  const first = await open();
  await first.scan.receive({ type: "tick" });
  return Object.assign(self, { chain, open, ...first });
}

async function seenHeight(sql: Sql, txid = OURS): Promise<number | null> {
  const [row] = await sql<{ height: string | null; outcome: string | null }[]>`
    SELECT seen_height AS height, outcome FROM book.attempt WHERE txid = ${txid}`;
  assert(row !== undefined);
  assertEquals(row.outcome, null, "what is seen ends nothing");
  return row.height === null ? null : Number(row.height);
}

async function toBeSent(sql: Sql): Promise<readonly string[]> {
  return (await readInFlight(sql, "TRX", 10)).map(({ txid }) => txid);
}

const tick = { type: "tick" } as const;

test("what a newest block shows is not sent again, what none shows is, and nothing ends by being seen", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const other = "cd".repeat(32);
  await addSigned(sql);
  await addSigned(sql, other);
  const fork = await forked(sql);
  const sent: string[] = [];
  let clock = 0;
  const treasury = await treasuryActors({
    sql,
    chains: new Map<Network, Chain>([["TRX", {
      ...fork.chain,
      broadcast: ({ txid }) => {
        sent.push(txid);
        return Promise.resolve({ category: "accepted", retryable: true });
      },
    }]]),
    signer: paperSigner(),
    now: Date.now,
    monotonic: () => clock,
    node: "node",
    leaseMs: 60_000,
    resendMs: 1_000,
    attemptLimit: 3,
    wakeMerchants: () => {},
    onLook: () => {},
    onLiquidity: () => {},
    onSignerState: () => {},
  }).activate("TRX");
  const poll = async () => {
    clock += 1_000;
    sent.length = 0;
    await treasury.receive({ type: "poll" });
    return sent.toSorted();
  };
  assertEquals(await poll(), [OURS, other]);
  fork.blocks = [blockOf("a", 10), blockOf("a", 11), blockOf("a", 12, ["ef".repeat(32), OURS])];
  await fork.headView.receive(tick);
  assertEquals([await seenHeight(sql), await seenHeight(sql, other)], [12, null]);
  assertEquals(await poll(), [other]);
  // a reorganisation takes it out, and it is due at once
  fork.blocks = [blockOf("a", 10), blockOf("b", 11), blockOf("b", 12), blockOf("b", 13)];
  await fork.headView.receive(tick);
  assertEquals(await seenHeight(sql), null);
  clock -= 1_000;
  assertEquals(await poll(), [OURS]);
  // and it comes back in another block
  await fork.headView.receive(tick);
  fork.blocks = [...fork.blocks, blockOf("b", 14, [OURS])];
  await fork.headView.receive(tick);
  assertEquals([await seenHeight(sql), await poll()], [14, [other]]);
});

test("what is left of a branch after a reorganisation is seen again from the solid block up", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addSigned(sql);
  const fork = await forked(sql);
  const common = [blockOf("a", 10), { ...blockOf("a", 11, [OURS]) }];
  fork.blocks = [...common, blockOf("a", 12)];
  await fork.headView.receive(tick);
  const other = { ...blockOf("b", 12), parentHash: "a11" };
  fork.blocks = [...common, other, blockOf("b", 13)];
  // in the same look, or all that is still in a block would be sent meanwhile
  await fork.headView.receive(tick);
  assertEquals(await seenHeight(sql), 11);
});

test("a block that a node showed and all deny later holds nothing back for longer than the view believes it", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addSigned(sql);
  const fork = await forked(sql);
  const kept = [blockOf("a", 10), blockOf("a", 11)];
  fork.blocks = [...kept, blockOf("a", 12, [OURS])];
  await fork.headView.receive(tick);
  fork.blocks = kept;
  await fork.headView.receive(tick);
  assertEquals(await toBeSent(sql), [], "the chain may be longer than this node says");
  fork.clock += 61_000;
  await fork.headView.receive(tick);
  assertEquals(await toBeSent(sql), [OURS]);
});

test("a reorganisation while the service was down holds nothing back: marks above the kept place go, and the scan passes the others", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addSigned(sql);
  const fork = await forked(sql);
  fork.blocks = [blockOf("a", 10), blockOf("a", 11)];
  await fork.headView.receive(tick);
  // the service dies after the mark and before the place of the view is kept
  fork.blocks = [...fork.blocks, blockOf("a", 12, [OURS])];
  armCrashPoint("watcher.after-seen", () => {
    throw new Error("died");
  });
  await fork.headView.receive(tick).then(
    () => assert(false, "it did not die"),
    ({ message }) => assertEquals(message, "died"),
  );
  assertEquals([await seenHeight(sql), (await readCursor(sql, "TRX", "head"))?.height], [12, 11]);
  // the new branch continues the kept block, so that no reorganisation is to be seen
  fork.blocks = [blockOf("a", 10), blockOf("a", 11), { ...blockOf("b", 12), parentHash: "a11" }];
  const again = await fork.open();
  assertEquals(await toBeSent(sql), [OURS], "from the start on");
  await again.headView.receive(tick);
  assertEquals(await toBeSent(sql), [OURS]);

  // seen, kept, and taken back while nothing looks at newest blocks: the scan passes its height
  fork.blocks = [...fork.blocks, blockOf("b", 13, [OURS])];
  await again.headView.receive(tick);
  assertEquals(await toBeSent(sql), []);
  fork.blocks = [...fork.blocks.slice(0, 3), { ...blockOf("c", 13), parentHash: "b12" }];
  fork.solid = 13;
  const late = await fork.open();
  assertEquals(await toBeSent(sql), [], "it may be in the block that is read next");
  await late.scan.receive(tick);
  assertEquals([await seenHeight(sql), await toBeSent(sql)], [13, [OURS]]);
});

test("of two services one that has left a branch takes marks back, and one that comes late to it marks for no longer", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addSigned(sql);
  const fork = await forked(sql);
  const common = [blockOf("a", 10), blockOf("a", 11)];
  const lost = [...common, blockOf("a", 12, [OURS])];
  const right = [...common, { ...blockOf("b", 12), parentHash: "a11" }, blockOf("b", 13)];
  fork.blocks = common;
  await fork.headView.receive(tick);
  const other = await fork.open();
  fork.blocks = lost;
  await fork.headView.receive(tick);
  fork.blocks = right;
  await fork.headView.receive(tick);
  assertEquals(await seenHeight(sql), null);
  // the other one asks a node that still has the lost branch
  fork.blocks = lost;
  await other.headView.receive(tick);
  assertEquals(await seenHeight(sql), 12);
  fork.blocks = right;
  await other.headView.receive(tick);
  assertEquals(await toBeSent(sql), [OURS]);
});

test("a mark of blocks far ahead that a service left behind which is gone holds nothing back on the others", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addSigned(sql);
  const honest = await forked(sql);
  const gone = await forked(sql);
  const far = sparseBlock(1_000_000, 999_999, {
    hash: "far",
    parentHash: "farther",
    transactions: [{ txid: OURS, success: true, failure: null, fee: ZERO }],
  });
  gone.blocks = [blockOf("a", 10), far];
  await (await gone.open()).headView.receive(tick);
  assertEquals(await toBeSent(sql), []);
  // the other one has begun before, and sees nothing but honest blocks
  const { headView } = honest;
  for (let height = 11; height < 14; height++) {
    honest.blocks = [...honest.blocks, blockOf("a", height)];
    honest.clock += 61_000;
    await headView.receive(tick);
  }
  assertEquals(await toBeSent(sql), [OURS]);
});

test("after a reorganisation marks are taken back from the fork up alone, and none before its blocks are read", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const gone = "cd".repeat(32);
  await addSigned(sql);
  await addSigned(sql, gone);
  const fork = await forked(sql, 200);
  const common = [blockOf("a", 10), blockOf("a", 11, [OURS])];
  fork.blocks = [...common, blockOf("a", 12, [gone])];
  await fork.headView.receive(tick);
  assertEquals([await toBeSent(sql), fork.isHeadRead], [[], true]);
  fork.blocks = [...common, { ...blockOf("b", 12), parentHash: "a11" }, blockOf("b", 13)];
  const unseen: (readonly string[])[] = [];
  fork.onRead = async () => {
    unseen.push(await toBeSent(sql));
  };
  await fork.headView.receive(tick);
  assertEquals(unseen.flat(), []);
  assertEquals([await toBeSent(sql), fork.isHeadRead], [[gone], true]);
});

test("while a branch is not read to its end nothing counts as read, and marks stay", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addSigned(sql);
  const fork = await forked(sql, 200);
  const common = [blockOf("a", 10), blockOf("a", 11, [OURS])];
  fork.blocks = [...common, blockOf("a", 12)];
  await fork.headView.receive(tick);
  fork.blocks = [...common, { ...blockOf("b", 12), parentHash: "a11" }, blockOf("b", 13)];
  let reads = 0;
  fork.onRead = () => {
    // the first block shows that there is another branch, and then the node is away
    if (reads++ === 0) return Promise.resolve();
    return Promise.reject(
      new ChainUnavailable("network", "Cannot read a block as the node is away"),
    );
  };
  await assertRejects(() => fork.headView.receive(tick), ChainUnavailable);
  assertEquals([await toBeSent(sql), fork.isHeadRead], [[], false]);
  fork.onRead = () => Promise.resolve();
  await fork.headView.receive(tick);
  assertEquals([await toBeSent(sql), fork.isHeadRead], [[], true]);
});

test("a service whose nodes do not grow takes no marks back that another one has made, nor does it begin anew", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addSigned(sql);
  const fork = await forked(sql);
  fork.blocks = [blockOf("a", 10), blockOf("a", 11)];
  await fork.headView.receive(tick);
  // another one has seen it since, in a block that these nodes do not have
  await sql`UPDATE book.attempt SET seen_height = 20`;
  for (let minute = 0; minute < 3; minute++) {
    fork.clock += 61_000;
    await fork.headView.receive(tick);
    assertEquals(await toBeSent(sql), []);
  }
  // and has read on, so that the place of these nodes is behind what is solid
  await sql`UPDATE hub.cursor SET height = 15 WHERE network = 'TRX' AND view = 'solid'`;
  for (let minute = 0; minute < 3; minute++) {
    fork.clock += 61_000;
    await fork.headView.receive(tick);
    assertEquals(await toBeSent(sql), []);
  }
});
