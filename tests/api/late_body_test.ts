import { assertEquals } from "@std/assert";
import { until } from "../support/books.ts";
import { addressOf, EMPTY_CHAIN, type TestApi, testApi, testsOfOneApi } from "../support/api.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { NameLookups } from "../../webhooks/name_lookups.ts";

const test = testNeeding(DATABASE);
const shared = testsOfOneApi("requests whose bodies are late");

const PAYOUT = { amount: "1", currency: "USDT", network: "TRX", destination: addressOf(7) };
const TXID = "0123456789abcdef".repeat(4);
const KEY = { label: "new", permissions: ["read", "write"] };

/** Sends a request whose body waits; `finish` sends it and reads the answer. */
async function begin(api: TestApi, asked: { path: string; key: string; body: object }) {
  const wanted = Promise.withResolvers<void>();
  let rest: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => void (rest = controller),
    pull: () => wanted.resolve(),
  }, { highWaterMark: 0 });
  const request = new Request(api.url + asked.path, {
    method: "POST",
    headers: {
      ...{ host: "localhost", "content-type": "application/json" },
      authorization: asked.key,
    },
    body,
  });
  const answer = api.answer(request, { remoteAddr: { transport: "tcp", hostname: "127.0.0.1" } });
  // its key was found by now
  await wanted.promise;
  return async () => {
    rest?.enqueue(new TextEncoder().encode(JSON.stringify(asked.body)));
    rest?.close();
    const response = await answer;
    return [response.status, (await response.json()).error];
  };
}

shared("a key that is revoked while its body arrives makes no key and no payout", async (api) => {
  const { id, key } = await api.addMerchant("100");
  const owner = await api.addKey(id);
  const path = `/api/merchants/${id}/api-keys`;
  const late = [
    await begin(api, { path, key, body: KEY }),
    await begin(api, { path: "/api/withdrawals", key, body: PAYOUT }),
  ];
  const { body } = await api.call("GET", path, { key: owner });
  const [, stolen] = body.apiKeys;
  assertEquals((await api.call("DELETE", `${path}/${stolen.id}`, { key: owner })).status, 200);
  for (const finish of late) assertEquals(await finish(), [401, "Unauthorized"]);
  assertEquals((await api.call("GET", path, { key: owner })).body.apiKeys.length, 1);
  const payouts = await api.call("GET", "/api/withdrawals", { key: owner });
  assertEquals(payouts.body.withdrawals, []);
});

shared("a key of an account that is suspended while its body arrives makes no key", async (api) => {
  const { id, key } = await api.addMerchant();
  const admin = await api.addKey(null, { permissions: ["admin:write"] });
  const path = `/api/merchants/${id}`;
  const finish = await begin(api, { path: `${path}/api-keys`, key, body: KEY });
  const body = { status: "SUSPENDED" };
  assertEquals((await api.call("PATCH", path, { key: admin, body })).status, 200);
  assertEquals(await finish(), [403, "Merchant account is not active"]);
});

test("a key that expires while its body arrives makes no payout", async () => {
  let ahead = 0;
  await using api = await testApi({ clock: () => Date.now() + ahead });
  const { id } = await api.addMerchant("100");
  const key = await api.addKey(id, { expiresAt: new Date(Date.now() + 3_600_000) });
  const finish = await begin(api, { path: "/api/withdrawals", key, body: PAYOUT });
  ahead = 3_600_000;
  assertEquals(await finish(), [401, "Unauthorized"]);
});

shared("a body that is late and whose key lives is carried out", async (api) => {
  const { key } = await api.addMerchant("100");
  const finish = await begin(api, { path: "/api/withdrawals", key, body: PAYOUT });
  assertEquals(await finish(), [201, undefined]);
});

/** A name server that answers what it was `asked` once that is called. */
function slowNames() {
  const asked: (() => void)[] = [];
  const names = new NameLookups({
    resolve: (_name, _options, answer) =>
      void asked.push(() => answer(null, [{ address: "8.8.8.8", family: 4 }])),
  });
  return { names, asked };
}

test("a key that ends while a name server takes its time sets no URL", async () => {
  const { names, asked } = slowNames();
  await using api = await testApi({ names });
  const admin = await api.addKey(null, { permissions: ["admin:write"] });
  const webhookUrl = "https://slow.example/callbacks";
  const ends: readonly ((path: string) => Promise<unknown>)[] = [
    () => api.sql`UPDATE hub.api_key SET expires_at = now() WHERE merchant_id IS NOT NULL`,
    (path) => api.call("PATCH", path, { key: admin, body: { status: "SUSPENDED" } }),
    () => Promise.resolve(),
  ];
  const answers = [];
  for (const end of ends) {
    const { id, key } = await api.addMerchant();
    const path = `/api/merchants/${id}`;
    const setting = api.call("PATCH", path, { key, body: { webhookUrl } });
    await until(() => asked.length > 0);
    await end(path);
    // what the key was a moment ago is not remembered for long
    await api.call("PATCH", path, { key: admin, body: { name: "Another Name" } });
    asked.pop()?.();
    const { status } = await setting;
    answers.push([status, (await api.call("GET", path, { key: admin })).body.webhookUrl]);
  }
  assertEquals(answers, [[401, null], [403, null], [200, webhookUrl]]);
});

test("an administrator's key that ends while a name server takes its time makes no merchant", async () => {
  const { names, asked } = slowNames();
  await using api = await testApi({ names });
  const admin = await api.addKey(null, { permissions: ["admin:write"] });
  const [maker] = await api.sql`SELECT id FROM hub.api_key`;
  const other = await api.addKey(null, { permissions: ["admin:write"] });
  const body = { name: "New", webhookUrl: "https://slow.example/callbacks" };
  const making = api.call("POST", "/api/admin/merchants", { key: admin, body });
  await until(() => asked.length > 0);
  const revoked = await api.call("DELETE", `/api/admin/api-keys/${maker?.["id"]}`, { key: other });
  assertEquals(revoked.status, 200);
  asked.pop()?.();
  assertEquals((await making).status, 401);
  assertEquals((await api.sql`SELECT FROM book.merchant`).count, 0);
});

test("an administrator's key that ends while nodes are asked decides nothing", async () => {
  const asked: (() => void)[] = [];
  const missing = { kind: "missing" as const, txid: TXID };
  const transaction = () => {
    const { promise, resolve } = Promise.withResolvers<typeof missing>();
    asked.push(() => resolve(missing));
    return promise;
  };
  await using api = await testApi({ chains: new Map([["TRX", { ...EMPTY_CHAIN, transaction }]]) });
  const { key } = await api.addMerchant();
  const deposit = {
    amount: "12.5",
    currency: "USDT",
    network: "TRX",
    source: "bank",
    metadata: { txHash: TXID },
  };
  const made = await api.call("POST", "/api/deposits", { key, body: deposit });
  const path = `/api/admin/deposits/${made.body.id}/confirm`;
  const admin = await api.addKey(null, { permissions: ["admin:write", "admin:approve"] });
  const [maker] = await api.sql`SELECT id FROM hub.api_key WHERE merchant_id IS NULL`;
  const other = await api.addKey(null, { permissions: ["admin:write", "admin:approve"] });
  const confirming = api.call("POST", path, { key: admin, body: {} });
  await until(() => asked.length > 0);
  const revoked = await api.call("DELETE", `/api/admin/api-keys/${maker?.["id"]}`, { key: other });
  assertEquals(revoked.status, 200);
  asked.pop()?.();
  assertEquals((await confirming).status, 401);
  const [row] = await api.sql`SELECT status, endorsed_by FROM book.deposit`;
  assertEquals({ ...row }, { status: "PENDING", endorsed_by: null });
});
