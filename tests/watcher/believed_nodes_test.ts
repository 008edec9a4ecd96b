import { assertEquals, assertStringIncludes } from "@std/assert";
import type { OpenChain } from "../../chains/family.ts";
import { createHmac } from "node:crypto";
import { newId } from "../../actors/runtime/ids.ts";
import { canonicalJson } from "../../api/upstream/webhook_event.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { readCursor, readScannedRanges } from "../../ledger/watcher/cursor.ts";
import { newWallet, type TestChain } from "../dev_chain/support/chain.ts";
import { HOT_WALLET, INGEST_SECRET, type TestApi, testApi } from "../support/api.ts";
import { booksFaults, SOMEWHERE, until } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { withFork } from "./support/fork.ts";
import { adapterOver, type Watch, watch } from "./support/watch.ts";

const test = testNeeding({ ...DATABASE, write: true });

/** A service whose nodes a test exchanges, on a chain that was forked. */
interface Scene {
  readonly right: TestChain;
  /** Has the blocks up to the fork and, until it mines, no others. */
  readonly fork: TestChain;
  readonly api: TestApi;
  readonly watcher: Watch;
  readonly merchantId: string;
  readonly key: string;
  /** An address of the merchant's. */
  readonly address: string;
  /** Reads from these nodes from now on. @returns the adapter */
  use(...nodes: readonly TestChain[]): OpenChain;
  /** Tells the interface what the scan says of itself. */
  tellStatus(): void;
  claim(txHash: string): Promise<{ status: number; body: { status: string; message: string } }>;
  rescan(from: number, to: number): ReturnType<TestApi["call"]>;
  confirm(withdrawalId: string, txHash: string): ReturnType<TestApi["call"]>;
  /** Says of an unexpected sweep that it moved what it should have. */
  settle(sweepId: string): ReturnType<TestApi["call"]>;
  available(): Promise<string>;
  /** Everything that a foreign block could have changed. */
  written(): Promise<unknown>;
}

async function scene(body: (at: Scene) => Promise<void>): Promise<void> {
  await withFork(async (right, fork) => {
    let chain = adapterOver([right.url], right.usdt, { checksIdentity: true });
    let stopped: () => ReturnType<Watch["status"]> | null = () => null;
    const chains = new Map<Network, OpenChain>([["TRX", chain]]);
    await using api = await testApi({
      chains,
      scanOf: () => ({ status: stopped(), nodes: [] }),
    });
    const { sql } = api;
    const watcher = watch(sql, () => chain);
    const admin = await api.addKey(null, { permissions: ["admin:read", "admin:write"] });
    const { id: merchantId, key } = await api.addMerchant("100");
    const address = newWallet().base58;
    await sql`
      INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
      VALUES (${address}, 'TRX', ${merchantId}, 'adr_test', 1)`;
    let events = 0;
    try {
      await body({
        right,
        fork,
        api,
        watcher,
        merchantId,
        key,
        address,
        use: (...nodes) => {
          const urls = nodes.map(({ url }) => url);
          chain = adapterOver(urls, right.usdt, { checksIdentity: true });
          chains.set("TRX", chain);
          watcher.restart();
          return chain;
        },
        tellStatus: () => stopped = () => watcher.status(),
        claim: (txHash) =>
          api.call("POST", "/api/deposits/claim", { key, body: { network: "TRX", txHash } }),
        rescan: (from, to) =>
          api.call("POST", "/api/admin/chains/TRX/rescan", { key: admin, body: { from, to } }),
        confirm: (withdrawalId, txHash) => {
          const event = {
            eventId: `e${++events}`,
            type: "withdrawal.confirmed",
            data: { withdrawalId, txHash },
          };
          const signature = createHmac("sha256", INGEST_SECRET).update(canonicalJson(event))
            .digest("hex");
          return api.call("POST", "/api/webhook/event", {
            key: admin,
            body: event,
            headers: { "x-signature": signature, "x-timestamp": String(Date.now()) },
          });
        },
        settle: (sweepId) =>
          api.call("POST", `/api/admin/sweeps/${sweepId}/settle`, {
            key: admin,
            body: { verdict: "moved", reason: "looked at it" },
          }),
        available: async () => {
          const path = "/api/balance?currency=USDT&network=TRX";
          return (await api.call("GET", path, { key })).body.available;
        },
        written: async () => [
          await readCursor(sql, "TRX", "solid"),
          await readScannedRanges(sql, "TRX"),
          await sql`SELECT txid, phase FROM book.inbox ORDER BY txid, phase`,
          await sql`SELECT id, status, txid FROM book.withdrawal ORDER BY id`,
          await sql`SELECT outgoing_id, verdict FROM book.sweep_verdict ORDER BY outgoing_id`,
          await sql`SELECT available, pending, reserved FROM book.balance ORDER BY currency, network`,
        ],
      });
      assertEquals(await booksFaults(sql), []);
    } finally {
      await watcher.journal.stop(1_000);
    }
  });
}

async function withdraw({ api, key }: Scene): Promise<string> {
  const body = { amount: "10", currency: "USDT", network: "TRX", destination: SOMEWHERE };
  const { status, body: made } = await api.call("POST", "/api/withdrawals", { key, body });
  assertEquals(status, 201);
  return made.withdrawalId;
}

/** Effect of a sweep instead of its transfer, in the next block: half of it reached the hot wallet. */
async function sweepOn(chain: TestChain, usdt: string): Promise<string> {
  const from = adapterOver([chain.url], usdt).deriveAddress(1);
  const moved = { do: "event", token: usdt, from, to: HOT_WALLET, amount: "5000000" };
  return (await chain.post("/dev/emit", { steps: [moved] })).txid;
}

/** A sweep of 10 that the scan has read as unexpected. @returns its id */
async function unexpected({ api }: Scene, txid: string, height: number): Promise<string> {
  const id = newId("out");
  await api.sql`
    INSERT INTO book.outgoing
      (id, merchant_id, kind, network, currency, amount, wallet, destination, status, attempts, created_at, updated_at)
    VALUES (${id}, 'mer_platform', 'sweep', 'TRX', 'USDT', 10, '1', ${HOT_WALLET}, 'final', 1, now(), now())`;
  await api.sql`
    INSERT INTO book.attempt (outgoing_id, number, merchant_id, network, txid, bytes, expires_at, dies_after, created_at, fee_limit, outcome, height, fee)
    VALUES (${id}, 1, 'mer_platform', 'TRX', ${txid}, '{}', now(), extract(epoch FROM now()) * 1000, now(), 1, 'unexpected', ${height}, 1)`;
  return id;
}

/** Pays the merchant and the destination of its withdrawal on the fork alone, in solid blocks. */
async function payOnFork({ fork, address }: Scene): Promise<readonly [string, string]> {
  const credit = await fork.post("/dev/transfer", { to: address, amount: "1000" });
  const payout = await fork.post("/dev/transfer", { to: SOMEWHERE, amount: "10" });
  await fork.mine(40);
  return [credit.txid, payout.txid];
}

test("nothing is claimed, confirmed, settled or read again from a node that has another solid block than the scan", () =>
  scene(async (at) => {
    const withdrawalId = await withdraw(at);
    await at.right.post("/dev/transfer", { to: newWallet().base58, amount: "1" });
    await at.watcher.look();
    await at.right.mine(20);
    await at.watcher.look();
    const swept = await sweepOn(at.fork, at.right.usdt);
    const [credit, payout] = await payOnFork(at);
    const { readSolid } = at.watcher.status();
    const sweepId = await unexpected(at, swept, readSolid);
    const before = await at.written();

    const asks = [
      () => at.claim(credit),
      () => at.rescan(readSolid - 9, readSolid - 5),
      () => at.rescan(readSolid, readSolid),
      () => at.confirm(withdrawalId, payout),
      () => at.settle(sweepId),
    ];
    for (const ask of asks) {
      const chain = at.use(at.fork);
      const { status, body } = await ask();
      assertEquals(status, 503);
      assertStringIncludes(body.message, "cannot be relied on");
      assertEquals(chain.nodes.states.map(({ state }) => state), ["wrong-chain"]);
      assertStringIncludes(chain.nodes.states[0]?.failure ?? "", `solid block ${readSolid} is`);
    }
    assertEquals(await at.written(), before);
  }));

test("where one node is of another branch or behind, the next one that has our block answers", () =>
  scene(async (at) => {
    const early = await at.right.post("/dev/transfer", { to: at.address, amount: "3" });
    await at.right.mine(5);
    // the scan begins after it, so that only a claim or reading again finds it
    await at.watcher.look();
    const began = await readCursor(at.api.sql, "TRX", "solid");
    await at.right.mine(20);
    await at.watcher.look();
    const { readSolid } = at.watcher.status();

    const behind = at.use(at.fork);
    const alone = await at.claim(early.txid);
    assertEquals([alone.status, behind.nodes.states[0]?.state], [503, "ready"]);
    assertEquals((await at.rescan(readSolid - 3, readSolid)).status, 503);

    at.use(at.fork, at.right);
    const read = await at.rescan(readSolid - 3, readSolid);
    assertEquals([read.status, read.body.blocks], [200, 4]);
    assertEquals((await at.claim(early.txid)).body.status, "credited");
    assertEquals(await at.available(), "103");

    const [credit] = await payOnFork(at);
    const chain = at.use(at.fork, at.right);
    assertEquals((await at.claim(credit)).body.status, "not_found");
    assertEquals(chain.nodes.states.map(({ state }) => state), ["wrong-chain", "ready"]);
    assertEquals((await at.claim(early.txid)).body.status, "already_credited");
    const again = await at.rescan((began?.height ?? 0) - 2, readSolid);
    assertEquals([again.status, again.body.merchants], [200, 1]);
    assertEquals(await at.available(), "103");
  }));

test("what is above the scan's newest solid block is not final for anybody, what is in it is", () =>
  scene(async (at) => {
    const withdrawalId = await withdraw(at);
    await at.watcher.look();
    const claimed = await at.right.post("/dev/transfer", { to: at.address, amount: "5" });
    const paid = await at.right.post("/dev/transfer", { to: SOMEWHERE, amount: "10" });
    const swept = await sweepOn(at.right, at.right.usdt);
    const { head: height }: { head: number } = await at.right.mine(1);
    await at.right.mine(10);
    // the scan writes what ended before it goes on
    const sweepId = await unexpected(at, swept, height);
    const before = await at.written();
    assertEquals((await at.claim(claimed.txid)).body.status, "not_final");
    const early = await at.confirm(withdrawalId, paid.txid);
    assertEquals([early.status, early.body.details[0].code], [422, "not_final"]);
    const settled = await at.settle(sweepId);
    assertEquals(settled.status, 503);
    assertStringIncludes(settled.body.message, `is in block ${height}, the scan has passed`);
    assertEquals(await at.written(), before);

    // a scan that has just read that block, and whose writes this service has not made
    const block = await adapterOver([at.right.url], at.right.usdt).block(height, "solid");
    if (block.kind !== "block") throw new Error("Cannot go on as the block is not solid");
    await at.api.sql`
      UPDATE hub.cursor SET height = ${height}, hash = ${block.block.hash} WHERE view = 'solid'`;
    assertEquals((await at.claim(claimed.txid)).body.status, "credited");
    assertEquals((await at.confirm(withdrawalId, paid.txid)).status, 200);
    const { status, body } = await at.settle(sweepId);
    assertEquals([status, body.arrived], [200, "5"]);
  }));

test("while the scan has stopped nothing is claimed, confirmed, settled or read again, whoever answers", () =>
  scene(async (at) => {
    const withdrawalId = await withdraw(at);
    const early = await at.right.post("/dev/transfer", { to: at.address, amount: "3" });
    await at.right.mine(5);
    await at.watcher.look();
    const swept = await sweepOn(at.fork, at.right.usdt);
    const [credit, payout] = await payOnFork(at);
    const sweepId = await unexpected(at, swept, at.watcher.status().readSolid);
    at.use(at.fork);
    await at.watcher.look();
    assertStringIncludes(at.watcher.status().stopped ?? "", "does not continue block");
    at.tellStatus();
    const before = await at.written();
    const { readSolid } = at.watcher.status();
    for (const node of [at.fork, at.right]) {
      at.use(node);
      for (const txid of [credit, early.txid]) {
        const { status, body } = await at.claim(txid);
        assertEquals([status, body.message.includes("cannot be relied on")], [503, true]);
      }
      const again = await at.rescan(readSolid, readSolid);
      assertStringIncludes(again.body.message, "is read no further: solid block");
      const confirmed = await at.confirm(withdrawalId, payout);
      const settled = await at.settle(sweepId);
      assertStringIncludes(settled.body.message, "is read no further: solid block");
      assertEquals([again.status, confirmed.status, settled.status], [503, 503, 503]);
    }
    assertEquals(await at.written(), before);

    // once a right node is read again, everything is as ever
    at.use(at.right);
    await at.right.mine(1);
    await at.watcher.lookOn();
    assertEquals(at.watcher.status().stopped, null);
    assertEquals((await at.claim(early.txid)).body.status, "credited");
    assertEquals((await at.rescan(readSolid, readSolid)).status, 200);
  }));

test("a scan that another service has taken to the end goes on once its own node has that block", () =>
  scene(async (at) => {
    await at.right.mine(5);
    await at.watcher.look();
    await payOnFork(at);
    at.use(at.fork);
    await at.watcher.look();
    await at.watcher.look();
    const other = watch(at.api.sql, () => adapterOver([at.right.url], at.right.usdt));
    await at.right.mine(10);
    await other.look();
    at.use(at.right);
    await at.watcher.look();
    assertEquals(at.watcher.status().stopped, null);
    await until(() => at.watcher.status().readSolid === other.status().readSolid);
    await other.journal.stop(1_000);
  }));
