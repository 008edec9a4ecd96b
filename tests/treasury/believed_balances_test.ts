import { assertEquals } from "@std/assert";
import { HDKey } from "@scure/bip32";
import { signQueued } from "../../actors/treasury/sign_queued.ts";
import { createTronChain } from "../../chains/tron/tron_chain.ts";
import { publicAddresses } from "../../chains/wallet/network_keys.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { moveCursor } from "../../ledger/watcher/cursor.ts";
import { testDatabase } from "../support/database.ts";
import { nodeOf } from "../support/node_of.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { block, blockId, HEIGHT, PAYER, USDT, word } from "../tron/support/block_fixture.ts";
import { type ScriptedNode, startScriptedNode } from "../tron/support/scripted_node.ts";
import { addQueued } from "./support/add_queued.ts";

const test = testNeeding(DATABASE);

const BALANCE = "/walletsolidity/triggerconstantcontract";
const BEHIND = "queued: waiting for a node that is up to date";
const BRANCH = HDKey.fromMasterSeed(new Uint8Array(32).fill(9)).derive("m/44'/195'/0'/0");
const badGateway = () => new Response("bad gateway", { status: 502 });

/** A node's view of the chain; changing it takes effect at once. */
interface View {
  height: number;
  usdt: number;
  isForeign?: boolean;
}

/** A node that is at a height, where the hot wallet holds so much. */
function startNode(view: View): ScriptedNode {
  const blockAt = (height: number) => ({
    ...block([], height),
    ...(view.isForeign ? { blockID: blockId(height).replaceAll("5e", "f0") } : {}),
  });
  const known = (height: unknown) => Number(height) <= view.height;
  return startScriptedNode({
    "/walletsolidity/getblock": () => blockAt(view.height),
    "/walletsolidity/getblockbynum": ({ num }) => known(num) ? blockAt(Number(num)) : {},
    "/walletsolidity/getblockbylimitnext": ({ startNum }) =>
      known(startNum) ? { block: [blockAt(Number(startNum))] } : {},
    "/walletsolidity/getaccount": ({ address }) => ({ address, balance: 1_000_000_000 }),
    [BALANCE]: () => ({
      result: { result: true },
      constant_result: [word(view.usdt * 1_000_000)],
    }),
  });
}

/** A chain that is read over nodes, and costs what paper costs. */
function chainOver(...nodes: readonly ScriptedNode[]) {
  const tron = createTronChain({
    network: "TRX",
    nodeUrls: nodes.map(({ url }) => url),
    contracts: { USDT },
    deposits: publicAddresses("TRX", { depositXpub: BRANCH.publicExtendedKey }),
    hotWallet: PAYER,
  });
  const { solid, blocks, balanceOf } = tron;
  return paperChain("TRX", { hotWallet: PAYER, solid, blocks, balanceOf });
}

/** Queues transfers, and sets the scan to {@linkcode HEIGHT}. */
async function addQueuedAndScan(sql: Sql, count: number): Promise<void> {
  await addQueued(sql, count);
  const cursor = {
    height: HEIGHT,
    hash: blockId(HEIGHT),
    time: 2,
    previousTime: 1,
    tick: 2,
    previousTick: 1,
  };
  await moveCursor(sql, "TRX", "solid", null, cursor);
}

/** A function that tries to sign two of the queued transfers, and counts all by state. */
function signing(sql: Sql, chain: ReturnType<typeof paperChain>) {
  const deps = nodeOf(sql, chain);
  return async () => {
    await sql`UPDATE book.outgoing SET lease_until = NULL WHERE status = 'queued'`;
    await signQueued(chain, deps, 2);
    const rows = await sql<{ state: string; count: number }[]>`
      SELECT concat_ws(': ', status, reason) AS state, count(*)::int AS count
      FROM book.outgoing GROUP BY 1 ORDER BY 1`;
    return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
  };
}

const doubtful: Readonly<Record<string, Partial<View>>> = {
  "is behind": { height: HEIGHT - 40 },
  "is of another chain": { isForeign: true },
};
for (const [what, view] of Object.entries(doubtful)) {
  test(`nothing is signed on the balance of a node that ${what} while the first one fails`, async () => {
    await using database = await testDatabase();
    const { sql } = database;
    await addQueuedAndScan(sql, 2);
    await using first = startNode({ height: HEIGHT, usdt: 0 });
    const told = first.scripts[BALANCE];
    first.scripts[BALANCE] = badGateway;
    await using second = startNode({ height: HEIGHT, usdt: 4, ...view });
    assertEquals(await signing(sql, chainOver(first, second))(), { [BEHIND]: 2 });
    // the first one answers again
    if (told !== undefined) first.scripts[BALANCE] = told;
    const waiting = { "queued: waiting for USDT": 2 };
    assertEquals(await signing(sql, chainOver(first, second))(), waiting);
  });
}

test("payouts are signed on the balance of any node that has what was read of the chain", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addQueuedAndScan(sql, 2);
  await using behind = startNode({ height: HEIGHT - 40, usdt: 0 });
  await using good = startNode({ height: HEIGHT, usdt: 4 });
  assertEquals(await signing(sql, chainOver(behind, good))(), { "signed": 2 });
});

test("an end that was recorded counts, also while the cursor stands before its block", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addQueuedAndScan(sql, 4);
  await using first = startNode({ height: HEIGHT, usdt: 2 });
  const view = { height: HEIGHT, usdt: 2 };
  await using second = startNode(view);
  const sign = signing(sql, chainOver(first, second));
  assertEquals(await sign(), { "queued": 2, "signed": 2 });
  await sql`UPDATE book.attempt SET outcome = 'paid', height = ${HEIGHT + 1}, fee = 1`;
  await sql`UPDATE book.outgoing SET status = 'final' WHERE status = 'signed'`;
  // both still show what has left
  assertEquals(await sign(), { "final": 2, [BEHIND]: 2 });
  // one of them has the block by which it left: the other one's balance is passed over
  view.height = HEIGHT + 1;
  view.usdt = 0;
  assertEquals(await sign(), { "final": 2, "queued: waiting for USDT": 2 });
  view.usdt = 2;
  assertEquals(await sign(), { "final": 2, "signed": 2 });
});
