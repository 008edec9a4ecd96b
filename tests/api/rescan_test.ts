import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Block, BlockAnswer } from "../../chains/chain.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { moveCursor, readCursor } from "../../ledger/watcher/cursor.ts";
import { EMPTY_CHAIN, testApi } from "../support/api.ts";
import { amount, booksFaults, SOMEWHERE, until } from "../support/books.ts";
import { eventAddressOf } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** Blocks 1 to 60; block 45 pays an address. */
function blockOf(height: number, to: string): Block {
  const txid = height.toString(16).padStart(64, "0");
  return {
    height,
    parentHeight: height - 1,
    hash: `h${height}`,
    parentHash: `h${height - 1}`,
    time: height * 1_000,
    tick: height * 1_000,
    transactions: [{ txid, success: true, failure: null, fee: amount("0") }],
    transfers: height !== 45 ? [] : [{
      txid,
      logIndex: 0,
      currency: "USDT",
      eventFrom: eventAddressOf(SOMEWHERE),
      eventTo: eventAddressOf(to),
      amount: amount("12"),
      diesAfter: 90_000,
      expiresAt: 90_000,
    }],
  };
}

test("blocks that are read again book what was missed, once, and what was not passed is refused", async (t) => {
  let address = "";
  const chain = {
    ...EMPTY_CHAIN,
    async *blocks(from: number, to: number): AsyncGenerator<BlockAnswer> {
      for (let height = from; height <= to; height++) {
        await Promise.resolve();
        yield { kind: "block", block: blockOf(height, address) };
      }
    },
  };
  await using api = await testApi({ chains: new Map<Network, typeof chain>([["TRX", chain]]) });
  const admin = await api.addKey(null, { permissions: ["admin:write", "admin:read"] });
  const { key } = await api.addMerchant();
  const issued = await api.call("POST", "/api/deposit-address", {
    key,
    body: { network: "TRX", identifier: "c" },
  });
  address = issued.body.address;
  await moveCursor(api.sql, "TRX", "solid", null, {
    height: 60,
    hash: "h60",
    time: 60_000,
    previousTime: 59_000,
    tick: 60_000,
    previousTick: 59_000,
  });
  const rescan = (body: object, network = "TRX", caller = admin) =>
    api.call("POST", `/api/admin/chains/${network}/rescan`, { key: caller, body });
  for (let i = 0; i < 2; i++) {
    const { status, body } = await rescan({ from: 1, to: 60 });
    assertEquals([status, body], [200, {
      network: "TRX",
      from: 1,
      to: 60,
      blocks: 60,
      merchants: 1,
    }]);
    await until(async () => {
      const { body } = await api.call("GET", "/api/balance?currency=USDT&network=TRX", { key });
      return body.available === "11.5";
    });
  }
  const rows: readonly [object, string, number][] = [
    [{ from: 1, to: 61 }, "TRX", 422],
    [{ from: 9, to: 1 }, "TRX", 422],
    [{ from: 1, to: 5_000 }, "TRX", 422],
    [{ from: 0, to: 1 }, "TRX", 400],
    [{ from: 1, to: 2, force: true }, "TRX", 400],
    [{ from: 1, to: 2 }, "ETH", 404],
    [{ from: 1, to: 2 }, "nonsense", 404],
  ];
  for (const [body, network, status] of rows) {
    await t.step(`${status} ${network} ${JSON.stringify(body)}`, async () => {
      assertEquals((await rescan(body, network)).status, status);
    });
  }
  assertEquals((await rescan({ from: 1, to: 2 }, "TRX", key)).status, 403);
  const { body } = await api.call("GET", "/api/admin/audit?action=chain.rescan", { key: admin });
  assertEquals(body.pagination.total, 2);
  assertEquals(await booksFaults(api.sql), []);
});

test("blocks that do not end in the scan's newest one, or do not continue each other, are not booked", async () => {
  let broken = 0;
  let address = "";
  const chain = {
    ...EMPTY_CHAIN,
    async *blocks(from: number, to: number): AsyncGenerator<BlockAnswer> {
      for (let height = from; height <= to; height++) {
        await Promise.resolve();
        const block = blockOf(height, address);
        yield { kind: "block", block: height === broken ? { ...block, parentHash: "x" } : block };
      }
    },
  };
  await using api = await testApi({ chains: new Map<Network, typeof chain>([["TRX", chain]]) });
  const admin = await api.addKey(null, { permissions: ["admin:write"] });
  const { key } = await api.addMerchant();
  const body = { network: "TRX", identifier: "c" };
  address = (await api.call("POST", "/api/deposit-address", { key, body })).body.address;
  const passed = {
    height: 60,
    hash: "another",
    time: 60_000,
    previousTime: 59_000,
    tick: 60_000,
    previousTick: 59_000,
  };
  await moveCursor(api.sql, "TRX", "solid", null, passed);
  const rescan = (from: number, to: number) =>
    api.call("POST", "/api/admin/chains/TRX/rescan", { key: admin, body: { from, to } });
  const other = await rescan(41, 60);
  assertEquals(other.status, 503);
  assertStringIncludes(other.body.message, "0 blocks were read again and no more");
  assertStringIncludes(other.body.message, "solid block 60 is h60, not another");
  broken = 46;
  const gap = await rescan(41, 50);
  assertEquals(gap.status, 503);
  assertStringIncludes(gap.body.message, "block 46 does not continue block 45");
  assertEquals((await api.sql`SELECT FROM book.inbox`).length, 0);
  assertEquals((await api.sql`SELECT FROM hub.scanned_range`).length, 0);
});

test("what left a wallet before the scan began says nothing, however often its blocks are read again", async () => {
  const chain = {
    ...EMPTY_CHAIN,
    async *blocks(from: number, to: number): AsyncGenerator<BlockAnswer> {
      for (let height = from; height <= to; height++) {
        await Promise.resolve();
        const block = blockOf(height, "");
        const txid = block.transactions[0]?.txid ?? "";
        const spend = {
          txid,
          logIndex: 0,
          currency: "USDT" as const,
          eventFrom: eventAddressOf(EMPTY_CHAIN.hotWallet),
          eventTo: eventAddressOf(SOMEWHERE),
          amount: amount("1"),
          diesAfter: 90_000,
          expiresAt: 90_000,
        };
        yield { kind: "block", block: { ...block, transfers: [spend] } };
      }
    },
  };
  await using api = await testApi({ chains: new Map<Network, typeof chain>([["TRX", chain]]) });
  const admin = await api.addKey(null, { permissions: ["admin:write"] });
  const at = (height: number) => ({
    height,
    hash: `h${height}`,
    time: height * 1_000,
    previousTime: height * 1_000 - 1_000,
    tick: height * 1_000,
    previousTick: height * 1_000 - 1_000,
  });
  await moveCursor(api.sql, "TRX", "solid", null, at(40));
  const told = async (from: number, to: number) => {
    const path = "/api/admin/chains/TRX/rescan";
    const { status } = await api.call("POST", path, { key: admin, body: { from, to } });
    assertEquals(status, 200);
    const rows = await api.sql<{ height: string }[]>`
      SELECT height FROM hub.unknown_spend ORDER BY height`;
    return rows.map(({ height }) => Number(height));
  };
  assertEquals(await told(1, 40), [], "nothing was scanned yet");
  const begun = await readCursor(api.sql, "TRX", "solid");
  assertEquals(await moveCursor(api.sql, "TRX", "solid", begun, at(60), 20), true);
  const scanned = Array.from({ length: 20 }, (_, index) => 41 + index);
  assertEquals(await told(33, 60), scanned);
  assertEquals(await told(1, 60), scanned, "what is read again moves no beginning");
});
