import { assertEquals } from "@std/assert";
import { testApi } from "../support/api.ts";
import { addTransfer, booksFaults, until } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("what was quarantined is listed, tried again or dealt with, and money is never waved away", async () => {
  await using api = await testApi();
  const { sql } = api;
  const { id: merchantId, key: own } = await api.addMerchant();
  const key = await api.addKey(null, { permissions: ["admin:read", "admin:write"] });
  const { body: issued } = await api.call("POST", "/api/deposit-address", {
    key: own,
    body: { network: "TRX", identifier: "c" },
  });
  const txid = "a".repeat(64);
  const [address] = await sql`SELECT id FROM book.deposit_address`;
  await addTransfer(sql, merchantId, "10", { txid, to: issued.address, addressId: address?.id });
  const solid = { merchantId, network: "TRX", txid, logIndex: 0, phase: "solid" };
  const quarantine = (phase: string, reason: string) =>
    sql`UPDATE book.inbox SET quarantine = ${reason} WHERE txid = ${txid} AND phase = ${phase}`;
  await quarantine("solid", "bug: broken");
  await sql`
    INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, quarantine, data)
    VALUES (${merchantId}, 'TRX', ${txid}, -1, 'outcome', 'unexpected: no transfer', '{"a":1}')`;
  const outcome = { ...solid, logIndex: -1, phase: "outcome" };
  const list = async (query = "") =>
    (await api.call("GET", `/api/admin/inbox${query}`, { key })).body;
  const act = (verb: string, body: unknown) =>
    api.call("POST", `/api/admin/inbox/${verb}`, { key, body });

  const all = await list();
  assertEquals(all.pagination.total, 2);
  const { rows: [row] } = await list("?kind=unexpected");
  const { createdAt: _, ...rest } = row;
  assertEquals(rest, { ...outcome, reason: "unexpected: no transfer", data: { a: 1 } });
  assertEquals((await list("?network=TRX_SHASTA")).rows, []);
  assertEquals((await list("?merchantId=mer_nobody")).rows, []);

  assertEquals((await act("retry", outcome)).status, 409);
  assertEquals((await act("acknowledge", { ...solid, reason: "x" })).status, 409);
  assertEquals((await act("acknowledge", { ...outcome, reason: " " })).status, 400);
  assertEquals((await act("retry", { ...solid, logIndex: 7 })).status, 404);
  assertEquals((await act("acknowledge", { ...outcome, reason: "paid by hand" })).status, 200);
  assertEquals((await act("acknowledge", { ...outcome, reason: "again" })).status, 404);
  const [kept] = await sql`SELECT quarantine FROM book.inbox WHERE phase = 'outcome'`;
  assertEquals(kept?.quarantine, "acknowledged: paid by hand; unexpected: no transfer");

  assertEquals((await act("retry", solid)).status, 200);
  await until(async () =>
    (await api.call("GET", "/api/balance?currency=USDT&network=TRX", { key: own })).body
      .available ===
      "9.5"
  );
  assertEquals((await list()).rows, []);
  const audit = (await api.call("GET", "/api/admin/audit?limit=2", { key })).body.audit;
  assertEquals(audit.map((line: { action: string }) => line.action), [
    "inbox.retry",
    "inbox.acknowledge",
  ]);
  assertEquals(audit[0].subject, `TRX/${txid}/0/solid`);
  assertEquals(await booksFaults(sql), []);
});
