import { assert, assertEquals, assertMatch } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import { type TestApi, testApi, testsOfOneApi } from "../support/api.ts";
import { addTransfer, booksFaults, until } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const shared = testsOfOneApi("manual deposits");

const DEPOSIT = { amount: "12.5", currency: "USDT", network: "TRX", source: "bank" };
const TXID = "0123456789abcdef".repeat(4);

/** Waits until the journal has consumed a transaction from a merchant's inbox. */
async function hear(api: TestApi, merchantId: string, txid: string): Promise<void> {
  api.journal.wake(merchantId);
  await until(async () => {
    const rows = await api.sql`
      SELECT 1 FROM book.inbox WHERE txid = ${txid} AND consumed_at IS NULL AND quarantine IS NULL`;
    return rows.length === 0;
  });
}

shared("a deposit by hand is pending, on the pending balance, and listed", async (api) => {
  const { key } = await api.addMerchant();
  const metadata = { invoice: 7, nested: { a: [1, null] } };
  const { status, body } = await api.call("POST", "/api/deposits", {
    key,
    body: { ...DEPOSIT, description: "by wire", metadata },
  });
  assertEquals(status, 201);
  const { id, createdAt, ...rest } = body;
  assertMatch(id, /^dep_/);
  assertMatch(createdAt, /Z$/);
  assertEquals(rest, {
    amount: "12.5",
    currency: "USDT",
    network: "TRX",
    status: "PENDING",
    source: "bank",
    description: "by wire",
    metadata,
  });
  const get = async (path: string) => (await api.call("GET", path, { key })).body;
  const balance = await get("/api/balance?currency=USDT&network=TRX");
  assertEquals([balance.available, balance.pending], ["0", "12.5"]);
  const { deposits, pagination } = await get("/api/deposits?status=PENDING");
  assertEquals([deposits[0].id, deposits[0].metadata, pagination.total], [id, metadata, 1]);
  const bare = await api.call("POST", "/api/deposits", { key, body: DEPOSIT });
  assertEquals([bare.body.description, bare.body.metadata], [null, {}]);
  assertEquals(await booksFaults(api.sql), []);
});

shared(
  "a deposit by hand above 10^12, or that the balance has no room for, is refused",
  async (api) => {
    const { key } = await api.addMerchant();
    const create = (amount: string) =>
      api.call("POST", "/api/deposits", { key, body: { ...DEPOSIT, amount } });
    const most = "1000000000000";
    assertEquals((await create(most)).status, 201);
    for (const amount of [`${most}.000000000000000001`, "9".repeat(20)]) {
      const { status, body } = await create(amount);
      assertEquals([status, body.error], [400, "Invalid request data"]);
      assertEquals([body.details[0].path, body.details[0].code], [["amount"], "too_big"]);
    }
    assertEquals((await create("1")).status, 201);
    assertEquals(await booksFaults(api.sql), []);
    // with what is there already
    await api.sql`UPDATE book.balance SET pending = 9999999999999999999`;
    await api.sql`UPDATE book.account SET version = version + 1`;
    const full = await create("2");
    assertEquals([full.status, full.body.details[0].code], [400, "too_big"]);
    // another pair has room of its own
    const other = { ...DEPOSIT, network: "TRX_SHASTA", amount: most };
    assertEquals((await api.call("POST", "/api/deposits", { key, body: other })).status, 201);
  },
);

shared("a deposit by hand claims the transaction it names, however it is spelled", async (api) => {
  const { id, key } = await api.addMerchant();
  const create = (txHash: unknown) =>
    api.call("POST", "/api/deposits", { key, body: { ...DEPOSIT, metadata: { txHash } } });
  const first = await create(`0x${TXID.toUpperCase()}`);
  assertEquals(first.status, 201);
  const again = await create(TXID);
  assertEquals([again.status, again.body.error, again.body.depositId], [
    409,
    "Conflict",
    first.body.id,
  ]);
  await addTransfer(api.sql, id, "12.5", { txid: TXID });
  await hear(api, id, TXID);
  const list = async () => (await api.call("GET", "/api/deposits", { key })).body.deposits;
  assertEquals((await list()).map(({ status }: { status: string }) => status), ["PENDING"]);
  // a null names no transaction and claims none, any number of times
  for (const txHash of [null, null]) assertEquals((await create(txHash)).status, 201);
});

/** Texts and values that a person reads as a transaction's id, and that are none. */
const NO_ID = [
  `${TXID} `,
  `${TXID}\n`,
  ` ${TXID}`,
  `https://tronscan.org/#/transaction/${TXID}`,
  `\u200b${TXID}`,
  [TXID],
  { id: TXID },
  `${TXID},${TXID}`,
  TXID.slice(1),
  "wire 77",
  "",
  5,
  true,
];

shared(
  "a deposit by hand whose txHash is no id of its network is refused: the transfer that a person reads in it would be credited as well",
  async (api) => {
    const { id, key } = await api.addMerchant();
    for (const txHash of NO_ID) {
      const { status, body } = await api.call("POST", "/api/deposits", {
        key,
        body: { ...DEPOSIT, metadata: { txHash } },
      });
      assertEquals([status, body.code, body.details], [400, "invalid_request", [{
        path: ["metadata", "txHash"],
        message: "Not a transaction id of this network; leave it out where there is none",
        code: "invalid_string",
      }]], JSON.stringify(txHash));
    }
    const rows = await api.sql`SELECT FROM book.deposit WHERE merchant_id = ${id}`;
    assertEquals(rows.length, 0);
  },
);

test("a claim that came to nothing stands for its transaction no more", async () => {
  await using api = await testApi();
  const { id, key } = await api.addMerchant();
  const { body } = await api.call("POST", "/api/deposits", {
    key,
    body: { ...DEPOSIT, metadata: { txHash: TXID } },
  });
  await api.journal.ask(id, {
    type: "decide-deposit",
    at: Date.now(),
    depositId: body.id,
    to: "CANCELLED",
    reason: null,
    chargeIds: [newId("chg"), newId("chg")],
    eventIds: [newId("evt"), newId("evt")],
    ingestion: null,
  }, 60_000);
  await addTransfer(api.sql, id, "12.5", { txid: TXID });
  await hear(api, id, TXID);
  const { deposits } = (await api.call("GET", "/api/deposits", { key })).body;
  assertEquals(
    deposits.map(({ status, source }: { status: string; source: string }) => [
      status,
      source,
    ]),
    [["CONFIRMED", "onchain"], ["CANCELLED", "bank"]],
  );
  assertEquals(await booksFaults(api.sql), []);
});

/** Holds what the end of every batch writes, so that batches wait. Answers how to let go. */
async function holdBatches({ sql }: TestApi): Promise<() => Promise<void>> {
  const [held, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = sql.begin(async (tx) => {
    await tx`LOCK TABLE book.commit_log IN SHARE MODE`;
    held.resolve();
    await free.promise;
  });
  await held.promise;
  return async () => {
    free.resolve();
    await holding;
  };
}

/** Waits until a batch waits for what is held. */
async function untilBlocked({ sql }: TestApi): Promise<void> {
  await until(async () => {
    const rows = await sql`
      SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    return rows.length > 0;
  });
}

for (const when of ["of one batch", "of two batches"] as const) {
  test(`of two deposits by hand that name one transaction, confirmed at once by decisions ${when}, one is`, async () => {
    await using api = await testApi();
    const admin = await api.addKey(null, { permissions: ["admin:read", "admin:write"] });
    const bystander = await api.addMerchant();
    const merchants = [await api.addMerchant(), await api.addMerchant()];
    const deposits = await Promise.all(merchants.map(async ({ key }) => {
      const body = { ...DEPOSIT, metadata: { txHash: TXID } };
      return (await api.call("POST", "/api/deposits", { key, body })).body.id as string;
    }));
    const confirm = (id: string | undefined) =>
      api.call("POST", `/api/admin/deposits/${id}/confirm`, { key: admin, body: {} });

    const answers: ReturnType<typeof confirm>[] = [];
    const letGo = await holdBatches(api);
    // what is asked while a batch waits has been looked at by then, and is decided in the next one
    if (when === "of one batch") {
      const { key } = bystander;
      const before = api.call("POST", "/api/deposits", { key, body: DEPOSIT });
      await untilBlocked(api);
      answers.push(...deposits.map(confirm));
      await until(() => Promise.resolve(api.journal.figures.waiting === 2));
      await letGo();
      assertEquals((await before).status, 201);
    } else {
      answers.push(confirm(deposits[0]));
      await untilBlocked(api);
      answers.push(confirm(deposits[1]));
      await until(() => Promise.resolve(api.journal.figures.waiting === 1));
      await letGo();
    }

    const ended = (await Promise.all(answers)).sort((a, b) => a.status - b.status);
    assertEquals(ended.map(({ status }) => status), [200, 409]);
    assertEquals(ended[1]?.body, {
      error: "Conflict",
      code: "transfer_of_another",
      message: "Cannot move from PENDING to CONFIRMED: " +
        "the named transaction paid, or was booked by, another merchant.",
      from: "PENDING",
      to: "CONFIRMED",
    });
    const rows = await api
      .sql`SELECT status FROM book.deposit WHERE txid = ${TXID} ORDER BY status`;
    assertEquals(rows.map(({ status }) => status), ["CONFIRMED", "PENDING"]);
    const noted = await api.sql`
      SELECT action FROM hub.audit WHERE refused = 'transfer_of_another'`;
    assertEquals(noted.map(({ action }) => action), ["deposit.confirm"]);
    assertEquals(await booksFaults(api.sql), []);
    // the operator ends the other one; what it pretends to have is given back
    const left = deposits.find((id) => id !== ended[0]?.body.depositId);
    const cancel = { key: admin, body: { reason: "booked twice" } };
    assertEquals(
      (await api.call("POST", `/api/admin/deposits/${left}/cancel`, cancel)).status,
      200,
    );
    assertEquals(await booksFaults(api.sql), []);
  });
}

shared("a deposit by hand may be linked to an address of the merchant's", async (api) => {
  const { key, id } = await api.addMerchant();
  const stranger = await api.addMerchant();
  await api.call("POST", "/api/deposit-address", {
    key,
    body: { network: "TRX", identifier: "alice", referenceId: "r7" },
  });
  await api.call("GET", `/api/merchants/${id}/top-up-address?network=TRX`, { key });
  const addresses = await api.sql`SELECT id, kind FROM book.deposit_address`;
  const idOf = (kind: string) => addresses.find((row) => row.kind === kind)?.id;
  const create = (depositAddressId: string, change: object = {}, by = key) =>
    api.call("POST", "/api/deposits", {
      key: by,
      body: { ...DEPOSIT, depositAddressId, ...change },
    });
  assertEquals((await create(idOf("issued"))).status, 201);
  const [deposit] = (await api.call("GET", "/api/deposits?referenceId=r7", { key })).body.deposits;
  assertEquals(deposit.depositAddress.id, idOf("issued"));
  assertEquals((await create("adr_none")).status, 404);
  assertEquals((await create(idOf("issued"), {}, stranger.key)).status, 404);
  assertEquals((await create(idOf("issued"), { network: "TRX_SHASTA" })).status, 404);
  assertEquals((await create(idOf("top_up"))).status, 404);
});

test("every refusal of a deposit by hand has the status and the text of the interface", async (t) => {
  await using api = await testApi();
  const { id, key } = await api.addMerchant();
  const create = (change: object, by = key) =>
    api.call("POST", "/api/deposits", { key: by, body: { ...DEPOSIT, ...change } });
  for (
    const [change, text] of [
      [{ currency: "USDC" }, "Deposits of USDC on TRX are not supported"],
      [{ network: "ETH" }, "Deposits of USDT on ETH are not supported"],
    ] as const
  ) {
    await t.step(text, async () => {
      const { status, body } = await create(change);
      assertEquals([status, body], [400, { error: text, code: "deposits_not_supported" }]);
    });
  }
  const faults: readonly [object, string][] = [
    [{ amount: "0" }, "amount"],
    [{ amount: "-1" }, "amount"],
    [{ amount: 5 }, "amount"],
    [{ amount: "0.0000000000000000001" }, "amount"],
    [{ source: undefined }, "source"],
    [{ source: "" }, "source"],
    [{ source: "a\nb" }, "source"],
    [{ metadata: [] }, "metadata"],
    [{ metadata: "x" }, "metadata"],
    [{ description: 5 }, "description"],
    [{ currency: "EUR" }, "currency"],
  ];
  for (const [change, path] of faults) {
    await t.step(JSON.stringify(change), async () => {
      const { status, body } = await create(change);
      assertEquals([status, body.error, body.details[0].path], [400, "Invalid request data", [
        path,
      ]]);
    });
  }
  await t.step("keys that may not", async () => {
    for (const permissions of [["read"], ["read", "payout"]]) {
      const { status, body } = await create({}, await api.addKey(id, { permissions }));
      assertEquals([status, body], [403, {
        error: "Insufficient permissions",
        code: "insufficient_permissions",
      }]);
    }
  });
  await t.step("nothing was written", async () => {
    const [row] = await api.sql`SELECT count(*)::int AS n FROM book.deposit`;
    assertEquals(row?.n, 0);
  });
});

shared("a merchant has one top-up address per network, made on first use", async (api) => {
  const { id, key } = await api.addMerchant();
  const get = (query: string, by = key, merchant = id) =>
    api.call("GET", `/api/merchants/${merchant}/top-up-address${query}`, { key: by });
  const answers = await Promise.all(Array.from({ length: 5 }, () => get("?network=TRX")));
  const [first] = answers;
  assertEquals(first?.status, 200);
  assertEquals(first?.body, { address: first?.body.address, network: "TRX" });
  assertEquals(new Set(answers.map(({ body }) => body.address)).size, 1);
  const shasta = await get("?network=TRX_SHASTA");
  assertEquals([shasta.status, shasta.body.network], [200, "TRX_SHASTA"]);
  const admin = await api.addKey(null, { permissions: ["admin:read"] });
  assertEquals((await get("?network=TRX", admin)).body, first?.body);
  assertEquals((await get("?network=TRX", admin, "mer_none")).status, 404);
  const stranger = await api.addMerchant();
  const refused = await get("?network=TRX", stranger.key);
  assertEquals([refused.status, refused.body], [403, {
    error: "Insufficient permissions",
    code: "insufficient_permissions",
  }]);
  const eth = await get("?network=ETH");
  assertEquals([eth.status, eth.body], [400, {
    error: "Deposits on ETH are not currently supported",
    code: "deposits_not_supported_on_network",
  }]);
  for (const query of ["", "?network=", "?network=trx"]) {
    assertEquals((await get(query)).body.details[0].path, ["network"]);
  }
  // it is no address of a customer
  assertEquals((await api.call("GET", "/api/deposit-address", { key })).body.addresses, []);
});

test("what comes in on a top-up address stays pending, without percentage or activation", async () => {
  await using api = await testApi();
  const { id, key } = await api.addMerchant();
  await api
    .sql`UPDATE book.merchant SET deposit_commission_rate = 0.01 WHERE merchant_id = ${id}`;
  const { body: { address } } = await api.call(
    "GET",
    `/api/merchants/${id}/top-up-address?network=TRX`,
    { key },
  );
  const txid = await addTransfer(api.sql, id, "100", { to: address });
  await hear(api, id, txid);
  const [deposit] = (await api.call("GET", "/api/deposits", { key })).body.deposits;
  assertEquals([deposit.status, deposit.source, deposit.fee, deposit.commission], [
    "PENDING",
    "top_up",
    "0",
    "0",
  ]);
  assertEquals("depositAddress" in deposit, false);
  const balance = (await api.call("GET", "/api/balance?currency=USDT&network=TRX", { key })).body;
  assertEquals([balance.available, balance.pending], ["0", "100"]);
  assertEquals(await booksFaults(api.sql), []);
});

const WITH_METADATA = {
  amount: "5",
  currency: "USDT",
  network: "TRX",
  source: "bank transfer",
} as const;

/** Metadata of exactly so many bytes of JSON. */
function ofBytes(bytes: number): Record<string, string> {
  return { note: "é".repeat(Math.floor((bytes - 11) / 2)) + "x".repeat((bytes - 11) % 2) };
}

function keys(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]));
}

shared(
  "metadata is bounded in bytes, keys and depth, and a refusal changes nothing",
  async (api) => {
    const { id, key } = await api.addMerchant();
    const rows: readonly [string, object, number][] = [
      ["4096 bytes", ofBytes(4_096), 201],
      ["4097 bytes", ofBytes(4_097), 400],
      ["50 keys", keys(50), 201],
      ["51 keys", keys(51), 400],
      ["51 keys, within each other", { inner: keys(50) }, 400],
      ["3 levels", { a: { b: [1, "two", null] } }, 201],
      ["4 levels", { a: { b: [{}] } }, 400],
      ["numbers with digits", { a: [2 ** 53 - 1, 0.000001, 1 - 2 ** 53, 0, 123456.789] }, 201],
      ["2^53", { order: 2 ** 53 }, 400],
      ["-2^53", { a: { b: [-(2 ** 53)] } }, 400],
      ["1e20", { a: 1e20 }, 400],
      ["large numbers", { a: Array.from({ length: 500 }, () => 1e308) }, 400],
      ["1e21", { a: 1e21 }, 400],
      ["small numbers", { a: { b: [-1e-7] } }, 400],
      ["nothing", {}, 201],
    ];
    let stored = 0;
    for (const [what, metadata, status] of rows) {
      const answer = await api.call("POST", "/api/deposits", {
        key,
        body: { ...DEPOSIT, metadata },
      });
      assertEquals(answer.status, status, `${what}: ${JSON.stringify(answer.body)}`);
      if (status === 201) {
        stored++;
        assertEquals(answer.body.metadata, metadata);
        continue;
      }
      assertEquals(answer.body.error, "Invalid request data");
      assertEquals(answer.body.details.map(({ path }: { path: string[] }) => path), [["metadata"]]);
    }
    const [row] = await api.sql`SELECT count(*) FROM book.deposit WHERE merchant_id = ${id}`;
    assertEquals(Number(row?.count), stored);
  },
);

shared("a number of metadata is shown with the digits that were sent, or refused", async (api) => {
  const { key } = await api.addMerchant();
  const rows: readonly [string, number][] = [
    ["9007199254740993", 400],
    ["9007199254740991", 201],
    ["-9007199254740991", 201],
    ["123456789012345678", 400],
    ["0.1", 201],
    ["0.30000000000000004", 201],
    ["19.989999999999998", 201],
    ["0.10000000000000001", 201],
    ["1234.5599999999999", 201],
    ["0.123456789012345678", 400],
    ["0.1234567890123456789", 400],
    ["1234567890.1234567890", 400],
    ["1.0", 201],
    ["1.00000000000000000000", 201],
    ["-0", 201],
    ["0.0000000000000000000", 201],
    ["1e3", 201],
    ["1.5E+2", 201],
    ["2500e-2", 201],
    ["1e-400", 400],
    ["1e400", 400],
  ];
  for (const [number, status] of rows) {
    for (const metadata of [`{"n":${number}}`, `{"text":"1e9","in":{"list":[true,${number}]}}`]) {
      const raw = JSON.stringify(WITH_METADATA).replace(/\}$/, `,"metadata":${metadata}}`);
      const answer = await api.call("POST", "/api/deposits", { key, raw });
      assertEquals(answer.status, status, metadata);
      if (status === 201) {
        // in the text of the answer zeros may be fewer; the number is the same
        assertEquals(answer.body.metadata, JSON.parse(metadata.replace("-0", "0")));
        continue;
      }
      assertEquals(answer.body.error, "Invalid request data");
      assertEquals(answer.body.details.map(({ path }: { path: string[] }) => path), [["metadata"]]);
      assert(answer.body.details[0].message.endsWith("write others as text"));
    }
  }
});

shared(
  "larger metadata of before is still shown whole, and its list counts as what it weighs",
  async (api) => {
    const { id, key } = await api.addMerchant();
    const ROWS = 12;
    for (let i = 0; i < ROWS; i++) {
      const { status } = await api.call("POST", "/api/deposits", { key, body: WITH_METADATA });
      assertEquals(status, 201);
    }
    const metadata = { note: "x".repeat(58_000), deep: [[[[{ a: 1 }]]]] };
    await api.sql`
    UPDATE book.deposit SET metadata = ${api.sql.json(metadata)} WHERE merchant_id = ${id}`;
    const ask = (limit: number) => api.call("GET", `/api/deposits?limit=${limit}`, { key });
    const { status, body, headers } = await ask(100);
    assertEquals([status, body.deposits.length], [200, ROWS]);
    for (const deposit of body.deposits) assertEquals(deposit.metadata, metadata);
    const left = Number(headers.get("ratelimit-remaining"));
    // 12 rows of 58 kB are 35 portions of 16 KiB above the first 128 KiB
    assert(left >= 460 && left <= 466, `${left}`);
    assertEquals(Number((await ask(1)).headers.get("ratelimit-remaining")), left - 1);
  },
);
