import { assertEquals, assertRejects } from "@std/assert";
import { createHmac } from "node:crypto";
import { canonicalJson } from "../../api/upstream/webhook_event.ts";
import { readSigningStop } from "../../ledger/failover/holds.ts";
import { INGEST_SECRET, testApi } from "../support/api.ts";
import { booksFaults, SOMEWHERE } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { addWallet } from "../support/wallet_row.ts";

const test = testNeeding(DATABASE);

test("no event of an upstream system is called like an operator's verdict, and none stands in its way", async () => {
  await using api = await testApi();
  const { sql } = api;
  await addWallet(sql, "TRX", "hot");
  const admin = await api.addKey(null, {
    permissions: ["admin:read", "admin:write", "admin:treasury"],
  });
  const upstream = await api.addKey(null, { permissions: ["admin:ingest"] });
  const { key } = await api.addMerchant("100");
  const { body: withdrawal } = await api.call("POST", "/api/withdrawals", {
    key,
    body: { amount: "10", currency: "USDT", network: "TRX", destination: SOMEWHERE },
  });
  const { body: deposit } = await api.call("POST", "/api/deposits", {
    key,
    body: { amount: "5", currency: "USDT", network: "TRX", source: "bank" },
  });
  await sql`
    INSERT INTO hub.unknown_spend
      (network, txid, log_index, height, block_time, wallet, sender, recipient, currency, amount, status)
    VALUES ('TRX', 'aa', 0, 7, now(), 'hot', 'hot', ${SOMEWHERE}, 'USDT', 10, 'open')`;
  const send = async (eventId: string) => {
    const body = { eventId, type: "deposit.cancelled", data: { depositId: deposit.id } };
    const headers = {
      "x-signature": createHmac("sha256", INGEST_SECRET).update(canonicalJson(body)).digest("hex"),
      "x-timestamp": String(Date.now()),
    };
    return (await api.call("POST", "/api/webhook/event", { key: upstream, body, headers })).status;
  };
  const { withdrawalId } = withdrawal;
  assertEquals(await send("failover/TRX/aa"), 400);
  assertEquals(await send(`verdict:${withdrawalId}`), 400);
  // what only looks like it is another name
  assertEquals(await send("up:failover/TRX/aa"), 200);
  const kept = await sql<{ event_id: string }[]>`SELECT event_id FROM book.ingested`;
  assertEquals(kept.map(({ event_id }) => event_id), ["up:up:failover/TRX/aa"]);
  for (const name of ["failover/TRX/aa", `verdict:${withdrawalId}`]) {
    await assertRejects(
      () => sql`UPDATE book.ingested SET event_id = ${name}`,
      Error,
      "ingested_verdict_is_the_services",
    );
  }
  const matched = await api.call("POST", "/api/admin/failover/match", {
    key: admin,
    body: { txid: "aa", withdrawalId },
  });
  assertEquals([matched.status, await readSigningStop(sql, "TRX")], [200, null]);
  assertEquals(await booksFaults(sql), []);
});
