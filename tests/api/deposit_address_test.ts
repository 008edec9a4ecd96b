import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { AddressBook } from "../../actors/addresses/address_book.ts";
import { AddressGuard } from "../../actors/addresses/address_guard.ts";
import { withheld } from "../../api/http/checks.ts";
import { isSomethingAway } from "../../api/http/errors.ts";
import { addressOf, type TestApi, testApi, testsOfOneApi } from "../support/api.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const shared = testsOfOneApi("deposit address");

shared("one customer has one address per network, refreshed and not doubled", async (api) => {
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
  assertEquals([only.status, only.body], [409, {
    error: "Deposit address already exists",
    code: "deposit_address_exists",
  }]);
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

shared("concurrent requests for one customer answer one address", async (api) => {
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

shared("another merchant's customer of the same name has another address", async (api) => {
  const body = { network: "TRX", identifier: "dave" };
  const merchants = [await api.addMerchant(), await api.addMerchant()];
  const answers = await Promise.all(
    merchants.map(({ key }) => api.call("POST", "/api/deposit-address", { key, body })),
  );
  assertEquals(new Set(answers.map((answer) => answer.body.address)).size, 2);
  const list = await api.call("GET", "/api/deposit-address", { key: merchants[0]?.key ?? "" });
  assertEquals(list.body.addresses.length, 1);
});

shared("a network without deposits, and what is no identifier, are refused", async (api, t) => {
  const { key } = await api.addMerchant();
  for (const network of ["ETH", "SOL_DEVNET"]) {
    await t.step(network, async () => {
      const answer = await api.call("POST", "/api/deposit-address", {
        key,
        body: { network, identifier: "x" },
      });
      assertEquals(
        [answer.status, answer.body],
        [400, {
          error: `Deposits on ${network} are not currently supported`,
          code: "deposits_not_supported_on_network",
        }],
      );
    });
  }
  await t.step("switched off", async () => {
    await api.sql`UPDATE book.pair SET deposits_enabled = false WHERE network = 'TRX_SHASTA'`;
    const answer = await api.call("POST", "/api/deposit-address", {
      key,
      body: { network: "TRX_SHASTA", identifier: "x" },
    });
    assertEquals(answer.body, {
      error: "Deposits on TRX_SHASTA are not currently supported",
      code: "deposits_not_supported_on_network",
    });
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

shared("more requests for addresses than may wait are told that nothing was done", async (api) => {
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

const test = testNeeding(DATABASE);

/** An address that an attacker with write access to the database would put in place. */
const STRANGE = addressOf(0xbad);

interface Customer {
  readonly id: string;
  readonly key: string;
  /** Path of the hosted page. */
  readonly page: string;
}

/** A merchant with an issued address, a hosted page and a top-up address. */
async function customer(api: TestApi): Promise<Customer> {
  const { id, key } = await api.addMerchant();
  const body = { network: "TRX", identifier: "ann" };
  const issued = await api.call("POST", "/api/deposit-address", { key, body });
  const made = await api.call("POST", "/api/deposit-url", { key, body });
  const topUp = await api.call("GET", `/api/merchants/${id}/top-up-address?network=TRX`, { key });
  assertEquals([issued.status, made.status, topUp.status], [201, 201, 200]);
  return { id, key, page: new URL(made.body.url).pathname };
}

/** Status of every answer that has an address to pay to, and whether one has the strange one. */
async function answersOf(api: TestApi, { id, key, page }: Customer) {
  const answers = [
    await api.call("GET", "/api/deposit-address", { key }),
    await api.call("GET", "/api/deposit-url", { key }),
    await api.call("GET", page),
    await api.call("GET", `/api/merchants/${id}/top-up-address?network=TRX`, { key }),
  ];
  return {
    statuses: answers.map(({ status }) => status),
    isStrange: answers.some(({ body }) => JSON.stringify(body).includes(STRANGE)),
  };
}

test("an address of the database that is not the wallet's own leaves in no answer", async () => {
  await using api = await testApi();
  const { sql } = api;
  const [victim, other] = [await customer(api), await customer(api)];
  assertEquals(await answersOf(api, victim), { statuses: [200, 200, 200, 200], isStrange: false });

  await sql`UPDATE book.deposit_address SET address = ${STRANGE} || id WHERE merchant_id = ${victim.id}`;
  await sql`UPDATE hub.session SET address = ${STRANGE} WHERE merchant_id = ${victim.id}`;
  assertEquals(await answersOf(api, victim), { statuses: [503, 503, 503, 503], isStrange: false });
  // nor where the forger makes the rows fit each other
  await sql`
    INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
    VALUES (${STRANGE}, 'TRX', ${victim.id}, 'adr_strange', 3)`;
  assertEquals(await answersOf(api, victim), { statuses: [503, 503, 503, 503], isStrange: false });
  assertEquals(await answersOf(api, other), { statuses: [200, 200, 200, 200], isStrange: false });
});

test("while addresses are held back none is handed out, and none is spent", async () => {
  let held: string | null = null;
  await using api = await testApi({
    addresses: new AddressGuard({ derive: (_, index) => addressOf(index), held: () => held }),
  });
  const { sql } = api;
  const one = await customer(api);
  const count = async () => (await sql`SELECT FROM hub.address`).length;
  const before = await count();
  held = "the signer has another wallet";
  assertEquals((await answersOf(api, one)).statuses, [503, 503, 503, 503]);
  const { key } = await api.addMerchant();
  for (const path of ["/api/deposit-address", "/api/deposit-url"]) {
    const body = { network: "TRX", identifier: "bob" };
    const { status, headers, body: told } = await api.call("POST", path, { key, body });
    assertEquals([status, headers.has("retry-after")], [503, true]);
    assertEquals(told.error, "Service unavailable");
  }
  assertEquals(await count(), before);
  held = null;
  assertEquals((await answersOf(api, one)).statuses, [200, 200, 200, 200]);
});

Deno.test("the place of a list is given back before its addresses are compared", async () => {
  const seen: string[] = [];
  const context = {
    addresses: {
      clears: () => {
        seen.push("compares");
        return Promise.resolve("cleared" as const);
      },
    },
    doneReading: () => seen.push("gave back"),
  };
  const row = { network: "TRX", address: addressOf(1), walletIndex: 1 } as const;
  assertEquals(await withheld(context, "mer_1", [row]), null);
  assertEquals(await withheld(context, "mer_1"), null);
  assertEquals(seen, ["gave back", "compares", "compares"]);
});
