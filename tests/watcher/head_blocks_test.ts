import { assert, assertEquals } from "@std/assert";
import { KeptBlocks } from "../../actors/watcher/kept_blocks.ts";
import { watcherActors } from "../../actors/watcher/watcher_actor.ts";
import type { WatcherStatus } from "../../actors/watcher/scan_memory.ts";
import type { Block, Chain } from "../../chains/chain.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { readCursor, readScannedRanges } from "../../ledger/watcher/cursor.ts";
import { testDatabase } from "../support/database.ts";
import { newWallet } from "../dev_chain/support/chain.ts";
import { paperChain } from "../support/paper_chain.ts";
import { sparseBlock } from "../support/paper_family.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { adapterOver, addWatched } from "./support/watch.ts";
import { amount } from "../support/books.ts";

const test = testNeeding(DATABASE);
const tick = { type: "tick" } as const;

/** Heights of a chain that passes some by, each after its parent. */
const HEIGHTS = [10, 11, 13, 14, 17, 18, 19, 20];

/** The blocks of a branch, which the chain left after block 11. */
function blocksOf(branch = "b"): Block[] {
  const hashOf = (height: number) => `${height <= 11 ? "b" : branch}${height}`;
  return HEIGHTS.map((height, i) => {
    const parent = HEIGHTS[i - 1] ?? height - 1;
    return sparseBlock(height, parent, { hash: hashOf(height), parentHash: hashOf(parent) });
  });
}

/** A chain that counts what it is asked, and its two views. */
async function counted(sql: Sql, keptHeadBlocks?: number) {
  const all = blocksOf();
  const self = {
    head: all,
    solid: all,
    headAt: 10,
    solidAt: 10,
    asked: [] as string[],
    status: null as WatcherStatus | null,
  };
  const newest = (blocks: readonly Block[], at: number) => {
    const block = blocks.find(({ height }) => height === at);
    assert(block !== undefined);
    return Promise.resolve(block);
  };
  const paper = paperChain("TRX");
  const chain: Chain = {
    ...paper,
    capabilities: {
      ...paper.capabilities,
      ...(keptHeadBlocks === undefined ? {} : { keptHeadBlocks }),
    },
    head: () => newest(self.head, self.headAt),
    solid: () => newest(self.solid, self.solidAt),
    async *blocks(from, to, view) {
      const found = self[view].filter(({ height }) => height >= from && height <= to);
      self.asked.push(...found.map(({ height }) => `${view} ${height}`));
      for (const block of found) yield await { kind: "block", block };
    },
  };
  const { solid, head } = watcherActors({
    sql,
    chains: new Map([["TRX", chain]]),
    nodes: () => [],
    now: Date.now,
    monotonic: () => 1_000,
    wakeMerchants: () => {},
    onSolid: () => {},
    onStatus: (_network, told) => self.status = told,
    again: () => {},
  });
  const [scan, headView] = await Promise.all([solid.activate("TRX"), head.activate("TRX")]);
  await scan.receive(tick);
  self.asked.length = 0;
  return Object.assign(self, {
    see: () => headView.receive(tick),
    scan: () => scan.receive(tick),
    cursor: async () => (await readCursor(sql, "TRX", "solid"))?.height,
  });
}

test("blocks that the head view has read are not read again when they are solid, and count as read without a gap", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const chain = await counted(sql, 100);
  chain.headAt = 20;
  await chain.see();
  assertEquals(chain.asked, HEIGHTS.slice(1).map((height) => `head ${height}`));
  chain.asked.length = 0;
  chain.solidAt = 14;
  await chain.scan();
  chain.solidAt = 20;
  await chain.scan();
  assertEquals(chain.asked, [], "not one call for a solid block");
  assertEquals([await chain.cursor(), chain.status?.blocksRead], [20, 7]);
  assertEquals(await readScannedRanges(sql, "TRX"), [{ first: 11, last: 20 }]);
});

test("a block whose hash does not stand for its receipts is read again when it is solid, from who calls it so", async () => {
  await using database = await testDatabase();
  const chain = await counted(database.sql, 100);
  chain.head = blocksOf().map((block) =>
    block.height < 17 ? block : { ...block, isUnbound: true as const }
  );
  chain.headAt = 20;
  await chain.see();
  chain.asked.length = 0;
  chain.solidAt = 14;
  await chain.scan();
  assertEquals([await chain.cursor(), chain.asked], [14, []]);
  chain.solidAt = 20;
  await chain.scan();
  assertEquals(await chain.cursor(), 20);
  assertEquals(chain.asked, [17, 18, 19, 20].map((height) => `solid ${height}`));
});

test("where only the parent of the newest solid block is kept, no more than that block is read", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const chain = await counted(sql, 100);
  chain.headAt = 18;
  await chain.see();
  chain.asked.length = 0;
  chain.solidAt = 19;
  await chain.scan();
  assertEquals([await chain.cursor(), chain.asked], [18, []]);
  await chain.scan();
  assertEquals([await chain.cursor(), chain.asked], [19, ["solid 19"]]);
});

test("a kept block that is not linked to the newest solid one is never taken, whatever its height", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const address = newWallet().base58;
  await addWatched(sql, address);
  const chain = await counted(sql, 100);
  const paid = (txid: string, blocks: Block[]) =>
    blocks.map((block) =>
      block.height !== 17 ? block : {
        ...block,
        transactions: [{ txid, success: true, failure: null, fee: amount("0") }],
        transfers: [{
          txid,
          logIndex: 0,
          currency: "USDT" as const,
          eventFrom: "somebody",
          eventTo: address,
          amount: amount("7"),
          diesAfter: Number.MAX_SAFE_INTEGER,
          expiresAt: 1_800_000_000_000,
        }],
      }
    );
  // another branch from block 13 on, with a payment that the solid one has not
  chain.head = paid("11".repeat(32), blocksOf("x"));
  chain.headAt = 20;
  await chain.see();
  assertEquals(chain.asked.at(-1), "head 20");
  assertEquals(chain.status?.readHead, 20);
  chain.asked.length = 0;
  chain.solidAt = 20;
  await chain.scan();
  assertEquals(chain.asked, HEIGHTS.slice(1).map((height) => `solid ${height}`));
  const solid = await sql`SELECT hash FROM hub.cursor WHERE network = 'TRX' AND view = 'solid'`;
  assertEquals(solid.map(({ hash }) => hash), ["b20"]);
  const rows = await sql`SELECT phase FROM book.inbox WHERE phase = 'solid'`;
  assertEquals(rows.length, 0);
});

test("a chain that keeps none has its solid blocks read as ever", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const chain = await counted(sql);
  chain.headAt = 20;
  await chain.see();
  chain.asked.length = 0;
  chain.solidAt = 20;
  await chain.scan();
  assertEquals(chain.asked, HEIGHTS.slice(1).map((height) => `solid ${height}`));
});

Deno.test("no more blocks are kept than there is room for, and what the scan has passed is forgotten", () => {
  const [first, ...rest] = blocksOf();
  assert(first !== undefined);
  const newest = rest[6] ?? first;
  const kept = new KeptBlocks(6);
  kept.keep(rest);
  assertEquals(kept.between(first, newest), [], "the oldest made room");
  assertEquals(
    kept.between(rest[0] ?? first, newest).map(({ height }) => height),
    HEIGHTS.slice(2),
  );
  kept.passed(14);
  assertEquals(kept.between(rest[0] ?? first, newest), []);
  assertEquals(kept.between(rest[2] ?? first, newest).length, 4);
});

Deno.test("blocks that name each other as parents, or a parent of another height, lead nowhere", () => {
  const one = sparseBlock(12, 13, { hash: "one", parentHash: "two" });
  const two = sparseBlock(13, 12, { hash: "two", parentHash: "one" });
  const kept = new KeptBlocks(10);
  kept.keep([one, two, sparseBlock(15, 14, { hash: "three", parentHash: "two" })]);
  assertEquals(kept.between({ height: 10, hash: "b10" }, two), []);
  const three = sparseBlock(15, 14, { hash: "three", parentHash: "two" });
  assertEquals(
    kept.between({ height: 12, hash: "one" }, three),
    [],
    "its parent is not at that height",
  );
  assertEquals(kept.between({ height: 12, hash: "one" }, { ...two, height: 14 }), []);
});

Deno.test("TRON's head blocks are not kept: their receipts are asked for by height, and nothing binds them to a hash", () => {
  const { capabilities } = adapterOver(
    ["http://127.0.0.1:1"],
    "TXLAQ63Xg1NAzckPwKHvzw7CSEmLMEqcdj",
  );
  assertEquals(capabilities.keptHeadBlocks, undefined);
});
