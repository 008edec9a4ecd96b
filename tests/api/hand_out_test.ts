import { assertEquals } from "@std/assert";
import { AddressGuard } from "../../actors/addresses/address_guard.ts";
import { withheld } from "../../api/http/checks.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { addressOf, type TestApi, testApi } from "../support/api.ts";

const test = testNeeding(DATABASE);

/** An address of somebody who can write to the database. */
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
