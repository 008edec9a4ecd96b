import { assertEquals } from "@std/assert";
import { EMPTY_CHAIN, type TestApi, testApi } from "../support/api.ts";
import { addTransfer, booksFaults, until } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const TXID = "ab".repeat(32);

/** Books 100 by hand with a transaction's id, in a spelling that no node of TRON uses. */
function book(api: TestApi, key: string) {
  return api.call("POST", "/api/deposits", {
    key,
    body: {
      amount: "100",
      currency: "USDT",
      network: "TRX",
      source: "customer",
      metadata: { txHash: `0x${TXID.toUpperCase()}` },
    },
  });
}

/** Records what the scan of another node finds, and waits until the journal has taken it in. */
async function scanElsewhere({ sql, journal }: TestApi, merchantId: string): Promise<void> {
  await addTransfer(sql, merchantId, "100", { txid: TXID });
  journal.wake(merchantId);
  await until(async () => {
    const rows = await sql`
      SELECT FROM book.inbox WHERE txid = ${TXID} AND consumed_at IS NULL AND quarantine IS NULL`;
    return rows.length === 0;
  });
}

/** Available and pending of a merchant. */
async function balancesOf(api: TestApi, key: string): Promise<readonly string[]> {
  const { body } = await api.call("GET", "/api/balance?currency=USDT&network=TRX", { key });
  return [body.available, body.pending];
}

test("a deposit by hand claims its transaction at a node that does not serve the network as well: it is credited once", async () => {
  const chains = new Map<"TRX", typeof EMPTY_CHAIN>();
  await using api = await testApi({ chains });
  const { sql } = api;
  const { id, key } = await api.addMerchant();
  const admin = await api.addKey(null, { permissions: ["admin:read", "admin:write"] });
  const booked = await book(api, key);
  assertEquals(booked.status, 201);
  const [row] = await sql`SELECT txid, log_index FROM book.deposit WHERE id = ${booked.body.id}`;
  assertEquals([row?.["txid"], row?.["log_index"]], [TXID, -1]);
  const again = await book(api, key);
  assertEquals([again.status, again.body.error], [409, "Conflict"]);

  await scanElsewhere(api, id);
  assertEquals(await balancesOf(api, key), ["0", "100"]);
  // the node that serves the network decides
  chains.set("TRX", EMPTY_CHAIN);
  const path = `/api/admin/deposits/${booked.body.id}/confirm`;
  assertEquals((await api.call("POST", path, { key: admin })).status, 200);
  assertEquals(await balancesOf(api, key), ["100", "0"]);
  assertEquals((await sql`SELECT FROM book.deposit`).length, 1);
  assertEquals(await booksFaults(sql), []);
});

test("whom a named transaction paid is seen before a deposit by hand is confirmed: a node without the network answers 503", async () => {
  const chains = new Map<"TRX", typeof EMPTY_CHAIN>();
  await using api = await testApi({ chains });
  const { key } = await api.addMerchant();
  const admin = await api.addKey(null, { permissions: ["admin:read", "admin:write"] });
  const { id } = (await book(api, key)).body;
  const confirm = () => api.call("POST", `/api/admin/deposits/${id}/confirm`, { key: admin });

  const refused = await confirm();
  assertEquals(refused.status, 503);
  assertEquals(refused.headers.has("retry-after"), true);
  assertEquals(await balancesOf(api, key), ["0", "100"]);
  chains.set("TRX", EMPTY_CHAIN);
  assertEquals((await confirm()).status, 200);
  const [available, pending] = await balancesOf(api, key);
  assertEquals([available !== "0", pending], [true, "0"]);
});
