import { AddressBook } from "../../actors/addresses/address_book.ts";
import { isSomethingAway } from "../../api/http/errors.ts";
import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { testApi } from "../support/api.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("one customer has one address per network, refreshed and not doubled", async () => {
  await using api = await testApi();
  const { id, key } = await api.addMerchant();
  const create = (body: object, headers: Record<string, string> = {}) =>
    api.call("POST", "/api/deposit-address", { key, body, headers });
  const first = await create({ network: "TRX", identifier: "alice@shop" });
  assertEquals(first.status, 201);
  const { address } = first.body;
  assertMatch(address, /^T[1-9A-HJ-NP-Za-km-z]{33}$/);
  assertEquals(first.body, {
    address,
    identifier: `${id}_alice@shop`,
    network: "TRX",
    networkSymbol: "TRX",
  });
  const again = await create({ network: "TRX", identifier: "alice@shop", referenceId: "order-7" });
  assertEquals(again.status, 201);
  assertEquals(again.body, { ...first.body, referenceId: "order-7" });
  const only = await create({ network: "TRX", identifier: "alice@shop" }, { "if-none-match": "*" });
  assertEquals([only.status, only.body], [409, { error: "Deposit address already exists" }]);
  const shasta = await create({ network: "TRX_SHASTA", identifier: "alice@shop" });
  const bob = await create({ network: "TRX", identifier: "bob" }, { "if-none-match": "*" });
  assertEquals([shasta.status, bob.status], [201, 201]);
  assertNotEquals(bob.body.address, address);

  const all = await api.call("GET", "/api/deposit-address", { key });
  assertEquals(all.body.addresses.length, 3);
  assertEquals(all.body.addresses[0].address, bob.body.address);
  const [row] = (await api.call("GET", "/api/deposit-address?network=TRX&page=2&limit=1", { key }))
    .body.addresses;
  assertEquals(Object.keys(row), ["id", "address", "networkSymbol", "createdAt", "deposits"]);
  assertEquals([row.address, row.networkSymbol, row.deposits], [address, "TRX", []]);
  const [kept] = await api.sql`
    SELECT reference_id FROM book.deposit_address WHERE address = ${address}`;
  assertEquals(kept?.reference_id, "order-7");
});

test("concurrent requests for one customer answer one address", async () => {
  await using api = await testApi();
  const { key } = await api.addMerchant();
  const answers = await Promise.all(
    Array.from({ length: 10 }, () =>
      api.call("POST", "/api/deposit-address", {
        key,
        body: { network: "TRX", identifier: "carol" },
      })),
  );
  assertEquals(new Set(answers.map(({ status }) => status)), new Set([201]));
  assertEquals(new Set(answers.map(({ body }) => body.address)).size, 1);
});

test("another merchant's customer of the same name has another address", async () => {
  await using api = await testApi();
  const body = { network: "TRX", identifier: "dave" };
  const merchants = [await api.addMerchant(), await api.addMerchant()];
  const answers = await Promise.all(
    merchants.map(({ key }) => api.call("POST", "/api/deposit-address", { key, body })),
  );
  assertEquals(new Set(answers.map((answer) => answer.body.address)).size, 2);
  const list = await api.call("GET", "/api/deposit-address", { key: merchants[0]?.key ?? "" });
  assertEquals(list.body.addresses.length, 1);
});

test("a network without deposits, and what is no identifier, are refused", async (t) => {
  await using api = await testApi();
  const { key } = await api.addMerchant();
  for (const network of ["ETH", "SOL_DEVNET"]) {
    await t.step(network, async () => {
      const answer = await api.call("POST", "/api/deposit-address", {
        key,
        body: { network, identifier: "x" },
      });
      assertEquals(
        [answer.status, answer.body],
        [400, { error: `Deposits on ${network} are not currently supported` }],
      );
    });
  }
  await t.step("switched off", async () => {
    await api.sql`UPDATE book.pair SET deposits_enabled = false WHERE network = 'TRX_SHASTA'`;
    const answer = await api.call("POST", "/api/deposit-address", {
      key,
      body: { network: "TRX_SHASTA", identifier: "x" },
    });
    assertEquals(answer.body, { error: "Deposits on TRX_SHASTA are not currently supported" });
  });
  for (const identifier of ["", "a\n", "x".repeat(129), 5, null, undefined]) {
    await t.step(`identifier ${identifier}`, async () => {
      const answer = await api.call("POST", "/api/deposit-address", {
        key,
        body: { network: "TRX", identifier },
      });
      assertEquals([answer.status, answer.body.error], [400, "Invalid request data"]);
      assertEquals(answer.body.details[0].path, ["identifier"]);
    });
  }
});

test("more requests for addresses than may wait are told that nothing was done", async () => {
  await using api = await testApi();
  const book = new AddressBook(api.sql, new Map([["TRX", paperChain("TRX")]]));
  const asked = Array.from(
    { length: 2_010 },
    () => book.take("TRX", "mer_1").then(() => null, (fault: unknown) => fault),
  );
  const turnedAway = (await Promise.all(asked)).filter((fault) =>
    isSomethingAway(fault) && String(fault).includes("too many requests")
  );
  assertEquals(turnedAway.length, 10);
  const [fault] = turnedAway;
  await using full = await testApi({ addressBook: { take: () => Promise.reject(fault) } });
  const { key } = await full.addMerchant();
  const body = { network: "TRX", identifier: "me" };
  const answer = await full.call("POST", "/api/deposit-url", { key, body });
  assertEquals([answer.status, answer.headers.get("retry-after")], [503, "1"]);
});
