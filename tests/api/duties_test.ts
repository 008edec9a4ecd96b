import { assertEquals, assertRejects } from "@std/assert";
import { hashApiKey } from "../../api/http/key_ring.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import { storeDuties } from "../../ledger/duties.ts";
import type { Duties } from "../../ledger/money/duties.ts";
import { booksFaults, SOMEWHERE } from "../support/books.ts";
import {
  approve,
  book,
  confirm,
  installation,
  issue,
  keyIdOf,
  NOT_YOURS,
  settler,
} from "../support/duties.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const ADMIN = { permissions: ["read", "write", "payout", "admin:read", "admin:write"] };
const KEYS: Duties = { fourEyes: "keys", aloneUpTo: amountOf("1000") };
const PERSONS: Duties = { fourEyes: "persons", aloneUpTo: amountOf("1000") };
const SETTLEMENT = {
  currency: "USDT",
  requestedAmount: "50",
  destinationAddress: SOMEWHERE,
  destinationNetwork: "TRX",
};

/** The steps of an approval, for the history. */
const STEPS = JSON.stringify(["APPROVED", "PROCESSING"].map((status) => ({ status, at: "now" })));

test("a settlement is approved by another key than the one that made it, and audited", async () => {
  await using api = await installation(KEYS);
  const [one, other] = [await api.addKey(null, ADMIN), await api.addKey(null, ADMIN)];
  const { id: userId } = await settler(api);
  const { body } = await api.call("POST", "/api/settlements", {
    key: one,
    body: { ...SETTLEMENT, userId },
  });
  assertEquals(body.status, "APPROVAL_REQUIRED");
  assertEquals(await approve(api, one, body.id), NOT_YOURS);
  const [row] = await api.sql`SELECT count(*)::int AS n FROM book.outgoing`;
  assertEquals(row?.n, 0);
  await assertRejects(
    () =>
      api.sql`
        UPDATE book.settlement SET status = 'PROCESSING', history = history || ${STEPS}::text::jsonb,
          approved_by = created_by WHERE id = ${body.id}`,
    Error,
    "the one who made it",
  );
  await assertRejects(
    () =>
      api.sql`
        UPDATE book.settlement SET status = 'PROCESSING', history = history || ${STEPS}::text::jsonb
        WHERE id = ${body.id}`,
    Error,
    "no key is named",
  );
  assertEquals(await approve(api, other, body.id), [200, "PROCESSING"]);
  const { audit } =
    (await api.call("GET", `/api/admin/audit?subject=${body.id}`, { key: other })).body;
  assertEquals(
    audit.map((line: { action: string; refused: string | null }) => [line.action, line.refused]),
    [
      ["settlement.approve", null],
      ["settlement.approve", "same_administrator"],
      ["settlement.create", null],
    ],
  );
  assertEquals(await booksFaults(api.sql), []);
});

test("keys that one administrator makes are that administrator, merchants' keys included", async () => {
  await using api = await installation(PERSONS);
  const [one, other] = [await api.addKey(null, ADMIN), await api.addKey(null, ADMIN)];
  const made = await issue(api, one, "/api/admin/api-keys", ADMIN.permissions);
  const grandchild = await issue(api, made, "/api/admin/api-keys", ["admin:read", "admin:write"]);
  const { id } = await settler(api);
  const path = `/api/merchants/${id}/api-keys`;
  const issued = await issue(api, one, path, ["read", "write"]);
  const ofMerchant = await issue(api, issued, path, ["read", "write"]);
  for (const key of [issued, ofMerchant]) {
    const at = `${path}/${await keyIdOf(api, key)}/approve`;
    for (const same of [one, made, grandchild]) {
      assertEquals((await api.call("POST", at, { key: same })).status, 403);
    }
    assertEquals((await api.call("POST", at, { key: other })).status, 200);
    const { body } = await api.call("POST", "/api/settlements", { key, body: SETTLEMENT });
    for (const same of [one, made, grandchild]) {
      assertEquals(await approve(api, same, body.id), NOT_YOURS);
    }
    assertEquals(await approve(api, other, body.id), [200, "PROCESSING"]);
    const deposit = await book(api, key, "5");
    assertEquals(await confirm(api, grandchild, deposit), NOT_YOURS);
  }
  // rotation does not make a stranger of a key
  const [kept] = await api.sql`
    SELECT id FROM hub.api_key WHERE hash = decode(${hashApiKey(made)}, 'hex')`;
  const rotated = await api.call("POST", `/api/admin/api-keys/${kept?.id}/rotate`, { key: made });
  const last = await api.call("POST", "/api/settlements", { key: issued, body: SETTLEMENT });
  assertEquals(await approve(api, rotated.body.apiKey, last.body.id), NOT_YOURS);
});

test("a large deposit by hand is credited when two administrators have confirmed it", async () => {
  await using api = await installation(PERSONS);
  const [one, other] = [await api.addKey(null, ADMIN), await api.addKey(null, ADMIN)];
  const made = await issue(api, one, "/api/admin/api-keys", ADMIN.permissions);
  const { key } = await api.addMerchant();
  const id = await book(api, key, "900000");
  for (const same of [one, made, one]) assertEquals(await confirm(api, same, id), [200, "PENDING"]);
  const balance = async () =>
    (await api.call("GET", "/api/balance?currency=USDT&network=TRX", { key })).body;
  assertEquals([(await balance()).available, (await balance()).pending], ["0", "900000"]);
  for (
    const { keyId, why } of [
      { keyId: null, why: "no key is named" },
      { keyId: "key_x", why: "two administrators are needed" },
    ]
  ) {
    await assertRejects(
      () =>
        api.sql`
          UPDATE book.deposit SET status = 'CONFIRMED', approved_by = ${keyId}, endorsed_by = NULL
          WHERE id = ${id}`,
      Error,
      why,
    );
  }
  assertEquals(await confirm(api, other, id), [200, "CONFIRMED"]);
  assertEquals((await balance()).available, "900000");
  assertEquals(await booksFaults(api.sql), []);
});

test("many small deposits by hand are no way around the limit of one administrator", async () => {
  await using api = await installation(KEYS);
  const [one, other] = [await api.addKey(null, ADMIN), await api.addKey(null, ADMIN)];
  const { key } = await api.addMerchant();
  const ids: string[] = [];
  for (let i = 0; i < 6; i++) ids.push(await book(api, key, "300"));
  // all at once, and one after the other
  const atOnce = await Promise.all(ids.slice(0, 4).map((id) => confirm(api, one, id)));
  assertEquals(atOnce.filter(([, status]) => status === "CONFIRMED").length, 3);
  assertEquals(await confirm(api, one, ids[4] ?? ""), [200, "PENDING"]);
  assertEquals(await confirm(api, other, ids[4] ?? ""), [200, "CONFIRMED"]);
  assertEquals(await confirm(api, other, ids[5] ?? ""), [200, "CONFIRMED"]);
});

test("who confirmed the money by hand does not approve that it leaves", async () => {
  await using api = await installation(PERSONS);
  const [one, other] = [await api.addKey(null, ADMIN), await api.addKey(null, ADMIN)];
  const { key } = await settler(api);
  assertEquals(await confirm(api, one, await book(api, key, "200")), [200, "CONFIRMED"]);
  const { body } = await api.call("POST", "/api/settlements", { key, body: SETTLEMENT });
  assertEquals(await approve(api, one, body.id), NOT_YOURS);
  const [oneKey] = await api.sql`
    SELECT id FROM hub.api_key WHERE hash = decode(${hashApiKey(one)}, 'hex')`;
  await assertRejects(
    () =>
      api.sql`
        UPDATE book.settlement SET status = 'PROCESSING', history = history || ${STEPS}::text::jsonb,
          approved_by = ${oneKey?.id ?? null} WHERE id = ${body.id}`,
    Error,
    "confirmed its money",
  );
  assertEquals(await approve(api, other, body.id), [200, "PROCESSING"]);
});

test("where one administrator runs everything, the rules are off and the change is audited", async () => {
  const duties: Duties = { fourEyes: "off", aloneUpTo: amountOf("1000") };
  await using api = await installation(duties);
  const admin = await api.addKey(null, ADMIN);
  const { id: userId, key } = await settler(api);
  assertEquals(await confirm(api, admin, await book(api, key, "900000")), [200, "CONFIRMED"]);
  const { body } = await api.call("POST", "/api/settlements", {
    key: admin,
    body: { ...SETTLEMENT, userId },
  });
  assertEquals(await approve(api, admin, body.id), [200, "PROCESSING"]);
  await storeDuties(api.sql, duties, "aud_again");
  const lines = await api.sql`
    SELECT actor, before, after FROM hub.audit WHERE action = 'duties.set'`;
  assertEquals(lines.map(({ actor, before, after }) => [actor, before, after]), [[
    "configuration",
    { fourEyes: "keys", aloneUpTo: "100000" },
    { fourEyes: "off", aloneUpTo: "1000" },
  ]]);
});

test("an address is activated by another administrator than the one behind its merchant's key", async () => {
  await using api = await installation(PERSONS);
  const [one, other] = [await api.addKey(null, ADMIN), await api.addKey(null, ADMIN)];
  const { id } = await api.addMerchant();
  const key = await issue(api, one, `/api/merchants/${id}/api-keys`, ["read", "write"]);
  const { body } = await api.call("POST", "/api/settlement-addresses", {
    key,
    body: { address: SOMEWHERE, network: "TRX", label: "cold" },
  });
  const path = `/api/admin/settlement-addresses/${body.id}/activate`;
  assertEquals((await api.call("POST", path, { key: one })).status, 403);
  assertEquals((await api.call("POST", path, { key: other })).status, 200);
});

test("payments name the key that asked for them", async () => {
  await using api = await installation(KEYS);
  const { id, key } = await settler(api);
  const [kept] = await api.sql`SELECT id FROM hub.api_key WHERE merchant_id = ${id}`;
  const paid = await api.call("POST", "/api/withdrawals", {
    key,
    body: { amount: "5", currency: "USDT", network: "TRX", destination: SOMEWHERE },
  });
  assertEquals(paid.status, 201);
  assertEquals((await api.call("POST", "/api/settlements", { key, body: SETTLEMENT })).status, 201);
  await book(api, key, "5");
  for (const list of ["withdrawals", "settlements", "deposits"]) {
    const { body } = await api.call("GET", `/api/${list}`, { key });
    assertEquals(body[list][0].createdBy, kept?.id, list);
  }
  await assertRejects(
    () => api.sql`UPDATE book.withdrawal SET created_by = 'key_other'`,
    Error,
    "Cannot change who made",
  );
});

test("a key ends what it could have made, and itself", async () => {
  await using api = await installation(KEYS);
  const { id, key: strong } = await api.addMerchant();
  const weak = await api.addKey(id, { permissions: ["write"] });
  const path = `/api/merchants/${id}/api-keys`;
  const idOf = async (key: string) => {
    const [row] = await api.sql`
      SELECT id FROM hub.api_key WHERE hash = decode(${hashApiKey(key)}, 'hex')`;
    return row?.id as string;
  };
  const revoke = async (by: string, keyId: string) =>
    (await api.call("DELETE", `${path}/${keyId}`, { key: by })).status;
  assertEquals(await revoke(weak, await idOf(strong)), 403);
  assertEquals((await api.call("GET", "/api/balance", { key: strong })).status, 200);
  const made = await issue(api, weak, path, ["write", "deposit"]);
  assertEquals(await revoke(weak, await idOf(made)), 200);
  assertEquals(await revoke(weak, await idOf(weak)), 200);
});

test("a suspended merchant makes no keys and changes no callbacks, and can still end keys", async () => {
  await using api = await installation(KEYS);
  const admin = await api.addKey(null, ADMIN);
  const { id, key } = await api.addMerchant();
  const spare = await api.addKey(id, { permissions: ["read"] });
  await api.call("PATCH", `/api/merchants/${id}`, { key: admin, body: { status: "SUSPENDED" } });
  const keys = `/api/merchants/${id}/api-keys`;
  const { body } = await api.call("GET", keys, { key });
  const spareId =
    body.apiKeys.find((row: { permissions: string[] }) => row.permissions.length === 1).id;
  const tries: readonly [string, string, object][] = [
    ["POST", keys, { label: "x", permissions: ["read"] }],
    ["POST", `${keys}/${spareId}/rotate`, {}],
    ["PATCH", `/api/merchants/${id}`, { webhookUrl: "http://127.0.0.1:9/hook" }],
    ["POST", `/api/merchants/${id}/webhook/rotate-secret`, {}],
  ];
  for (const [method, path, body] of tries) {
    const refused = await api.call(method, path, { key, body });
    assertEquals([refused.status, refused.body.error], [403, "Merchant account is not active"]);
    const done = await api.call(method, path, { key: admin, body });
    assertEquals(done.status < 300, true, path);
  }
  assertEquals((await api.call("DELETE", `${keys}/${spareId}`, { key })).status, 200);
  assertEquals((await api.call("GET", "/api/balance", { key: spare })).status, 401);
});

test("a key that only makes addresses makes them, and neither pays out nor reads", async () => {
  await using api = await installation(KEYS);
  const { id, key: writer } = await api.addMerchant("100");
  const key = await issue(api, writer, `/api/merchants/${id}/api-keys`, ["deposit"]);
  const made = await api.call("POST", "/api/deposit-address", {
    key,
    body: { network: "TRX", identifier: "customer" },
  });
  assertEquals(made.status, 201);
  const payout = { amount: "5", currency: "USDT", network: "TRX", destination: SOMEWHERE };
  const paid = await api.call("POST", "/api/withdrawals", { key, body: payout });
  assertEquals([paid.status, paid.body.error], [
    403,
    "Insufficient permissions to initiate a withdrawal",
  ]);
  assertEquals((await api.call("GET", "/api/balance", { key })).status, 403);
  assertEquals(
    (await api.call("POST", "/api/withdrawals", { key: writer, body: payout })).status,
    201,
  );
});
