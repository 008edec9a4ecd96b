import { HDKey } from "@scure/bip32";
import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { isAskedByRequest } from "../../chains/call_lane.ts";
import { createTronChain } from "../../chains/tron/tron_chain.ts";
import { networkKeys, publicAddresses } from "../../chains/wallet/network_keys.ts";
import { type TestChain, withChain } from "../dev_chain/support/chain.ts";
import { addressOf, HOT_WALLET, type TestApi, testApi } from "../support/api.ts";
import { addTransfer, booksFaults, until } from "../support/books.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/**
 * An interface over a real node that makes blocks on demand, read by the real adapter. The scan has
 * always just passed the newest solid block.
 */
async function withClaims(
  run: (api: TestApi, dev: TestChain) => Promise<void>,
  overrides: Parameters<typeof testApi>[0] = {},
): Promise<void> {
  await withChain(async (dev) => {
    const seed = crypto.getRandomValues(new Uint8Array(32));
    const chain = createTronChain({
      network: "TRX",
      nodeUrls: [dev.url],
      contracts: { USDT: dev.usdt },
      deposits: publicAddresses("TRX", {
        depositXpub: networkKeys(HDKey.fromMasterSeed(seed), "TRX").deposits.publicExtendedKey,
      }),
      hotWallet: HOT_WALLET,
    });
    await using api = await testApi({ chains: new Map([["TRX", chain]]), ...overrides });
    const scan = async () => {
      const { height, hash, time } = await chain.solid();
      await api.sql`
        INSERT INTO hub.cursor (network, view, height, hash, time, previous_time, tick, previous_tick)
        VALUES ('TRX', 'solid', ${height}, ${hash}, ${new Date(time)}, ${new Date(
        time,
      )}, ${time}, ${time})
        ON CONFLICT (network, view) DO UPDATE SET height = excluded.height, hash = excluded.hash`;
    };
    await scan();
    const mine = async (blocks = 1) => {
      const mined = await dev.mine(blocks);
      await scan();
      return mined;
    };
    await run(api, { ...dev, mine });
  });
}

async function issue(api: TestApi, key: string, identifier: string): Promise<string> {
  const body = { network: "TRX", identifier, referenceId: `of-${identifier}` };
  return (await api.call("POST", "/api/deposit-address", { key, body })).body.address;
}

async function pay(dev: TestChain, to: string, amount: string): Promise<string> {
  return (await dev.post("/dev/transfer", { to, amount, currency: "USDT" })).txid;
}

function claim(api: TestApi, key: string, txHash: string, network = "TRX") {
  return api.call("POST", "/api/deposits/claim", { key, body: { network, txHash } });
}

test("a final transfer that nobody told of is credited by a claim, once", async () => {
  await withClaims(async (api, dev) => {
    const { key } = await api.addMerchant();
    const address = await issue(api, key, "alice");
    const txid = await pay(dev, address, "12.5");
    await dev.mine(1);
    const early = await claim(api, key, txid);
    assertEquals([early.status, early.body], [200, { deposits: [], status: "not_final" }]);
    await dev.mine(20);
    // claimed five times at once, as tools write ids
    const answers = await Promise.all(
      [txid, txid.toUpperCase(), `0x${txid}`, txid, txid].map((text) => claim(api, key, text)),
    );
    for (const { status, body } of answers) {
      assertEquals([status, body.deposits.length], [200, 1]);
      assertMatch(body.status, /^(already_)?credited$/);
      const [deposit] = body.deposits;
      assertEquals(
        [deposit.status, deposit.amount, deposit.fee, deposit.referenceId, deposit.metadata.txHash],
        ["CONFIRMED", "12.5", "0.5", "of-alice", txid],
      );
    }
    assertEquals(answers.some(({ body }) => body.status === "credited"), true);
    assertEquals((await claim(api, key, txid)).body.status, "already_credited");
    const balance = await api.call("GET", "/api/balance?currency=USDT&network=TRX", { key });
    assertEquals(balance.body.available, "12");
    assertEquals(await booksFaults(api.sql), []);
  });
});

test("a claim credits what scanning has only seen, and leaves alone what it has credited", async () => {
  await withClaims(async (api, dev) => {
    const { id, key } = await api.addMerchant();
    const address = await issue(api, key, "alice");
    const steps = ["1000000", "2000000", "4000000"].map((amount) => ({
      do: "transfer",
      to: address,
      amount,
    }));
    const { txid } = await dev.post("/dev/emit", { steps });
    await dev.mine(20);
    const [row] = await api.sql`SELECT id FROM book.deposit_address`;
    const scanned = { txid, to: address, addressId: row?.["id"] };
    await addTransfer(api.sql, id, "1", { ...scanned, phase: "seen", logIndex: 0 });
    await addTransfer(api.sql, id, "2", { ...scanned, phase: "solid", logIndex: 1 });
    api.journal.wake(id);
    await until(async () => (await api.sql`SELECT 1 FROM book.deposit`).length === 2);
    const { body } = await claim(api, key, txid);
    assertEquals(body.status, "credited");
    assertEquals(
      body.deposits.map((deposit: { amount: string; status: string }) =>
        `${deposit.amount} ${deposit.status}`
      ),
      ["1 CONFIRMED", "2 CONFIRMED", "4 CONFIRMED"],
    );
    assertEquals(await booksFaults(api.sql), []);
  });
});

test("a claimed top-up is pending until its sweep, without fees", async () => {
  await withClaims(async (api, dev) => {
    const { id, key } = await api.addMerchant();
    const path = `/api/merchants/${id}/top-up-address?network=TRX`;
    const { body: { address } } = await api.call("GET", path, { key });
    const txid = await pay(dev, address, "50");
    await dev.mine(20);
    for (const status of ["credited", "already_credited"]) {
      const { body } = await claim(api, key, txid);
      const [deposit] = body.deposits;
      assertEquals([body.status, body.deposits.length], [status, 1]);
      assertEquals(
        [deposit.status, deposit.source, deposit.fee, deposit.commission, deposit.clearedAt],
        ["PENDING", "top_up", "0", "0", null],
      );
    }
    const { body } = await api.call("GET", "/api/balance?currency=USDT&network=TRX", { key });
    assertEquals([body.available, body.pending], ["0", "50"]);
    assertEquals(await booksFaults(api.sql), []);
  });
});

test("what paid nobody, or another merchant, is not credited to who claims it", async () => {
  await withClaims(async (api, dev) => {
    const [alice, bob] = [await api.addMerchant(), await api.addMerchant()];
    const address = await issue(api, alice.key, "alice");
    const txid = await pay(dev, address, "5");
    const elsewhere = await pay(dev, addressOf(0xabcdef), "5");
    await dev.mine(1);
    assertEquals((await claim(api, bob.key, txid)).body.status, "not_ours");
    await dev.mine(20);
    for (const id of [txid, elsewhere]) {
      const { status, body } = await claim(api, bob.key, id);
      assertEquals([status, body], [200, { deposits: [], status: "not_ours" }]);
    }
    assertEquals((await api.sql`SELECT 1 FROM book.inbox`).length, 0);
    assertEquals((await claim(api, alice.key, txid)).body.status, "credited");
  });
});

test("what the chain does not know is not found; what is no transaction id is refused", async () => {
  await withClaims(async (api) => {
    const { id, key } = await api.addMerchant();
    const unknown = await claim(api, key, "ab".repeat(32));
    assertEquals([unknown.status, unknown.body], [200, { deposits: [], status: "not_found" }]);
    for (const text of ["", "ab", "zz".repeat(32), `${"ab".repeat(32)} `]) {
      const { status, body } = await claim(api, key, text);
      assertEquals([status, body.details[0].path], [400, ["txHash"]]);
    }
    const closed = await claim(api, key, "ab".repeat(32), "ETH");
    assertEquals(closed.status, 400);
    assertStringIncludes(closed.body.error, "Deposits on ETH are not currently supported");
    const reader = await api.addKey(id, { permissions: ["read"] });
    assertEquals((await claim(api, reader, "ab".repeat(32))).status, 403);
  });
});

test("a claimed transfer of a pair that is closed is kept for when it opens", async () => {
  await withClaims(async (api, dev) => {
    const { key } = await api.addMerchant();
    const txid = await pay(dev, await issue(api, key, "alice"), "5");
    await dev.mine(20);
    await api.sql`UPDATE book.pair SET deposits_enabled = false WHERE network = 'TRX'`;
    for (let i = 0; i < 2; i++) {
      const { status, body } = await claim(api, key, txid);
      assertEquals([status, body.error], [400, "Deposits of USDT on TRX are not supported"]);
    }
    const kept = await api.sql`SELECT 1 FROM book.inbox WHERE quarantine LIKE 'unclaimed:%'`;
    assertEquals(kept.length, 1);
  });
});

test("a claim whose merchant does not get to it in time is recorded and credited later", async () => {
  await withClaims(async (api, dev) => {
    const { id, key } = await api.addMerchant();
    await api.sql`
      INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
      VALUES (${addressOf(77)}, 'TRX', ${id}, 'adr_77', 77)`;
    const txid = await pay(dev, addressOf(77), "5");
    await dev.mine(20);
    const { status, headers } = await claim(api, key, txid);
    assertEquals([status, headers.has("retry-after")], [503, true]);
    api.journal.wake(id);
    await until(async () => (await api.sql`SELECT 1 FROM book.deposit`).length === 1);
    assertEquals((await claim(api, key, txid)).body.status, "already_credited");
  }, {
    askTimeoutMs: 1_000,
    // a merchant whose wake-up is lost
    merchantsOf: (journal) => ({ ask: journal.ask.bind(journal), wake: () => {} }),
  });
});

test("a node that is away says nothing about a transaction", async () => {
  await withClaims(async (api, dev) => {
    const { key } = await api.addMerchant();
    const faults = [{ path: "*", kind: "error-500", probability: 1 }];
    await dev.post("/dev/config", { faults });
    assertEquals((await claim(api, key, "ab".repeat(32))).status, 503);
  });
});

test("a transaction of another merchant is confirmed by hand for nobody else", async () => {
  await withClaims(async (api, dev) => {
    const [alice, bob] = [await api.addMerchant(), await api.addMerchant()];
    const admin = await api.addKey(null, { permissions: ["admin:read", "admin:write"] });
    const book = async (key: string, txHash: string): Promise<string> => {
      const body = {
        amount: "5",
        currency: "USDT",
        network: "TRX",
        source: "s",
        metadata: { txHash },
      };
      return (await api.call("POST", "/api/deposits", { key, body })).body.id;
    };
    const confirm = (id: string) =>
      api.call("POST", `/api/admin/deposits/${id}/confirm`, { key: admin, body: {} });

    const paid = await pay(dev, await issue(api, alice.key, "alice"), "5");
    await dev.mine(20);
    const refused = await confirm(await book(bob.key, paid));
    assertEquals([refused.status, refused.body.error], [409, "Conflict"]);
    assertStringIncludes(refused.body.message, "another merchant");
    assertEquals([refused.body.from, refused.body.to], ["PENDING", "CONFIRMED"]);

    const elsewhere = await pay(dev, HOT_WALLET, "5");
    await dev.mine(20);
    const [first, second] = [await book(alice.key, elsewhere), await book(bob.key, elsewhere)];
    assertEquals((await confirm(first)).status, 200);
    assertEquals((await confirm(second)).status, 409);
    // and the database says so where two confirm at once
    await assertRejects(
      () =>
        api
          .sql`UPDATE book.deposit SET status = 'CONFIRMED', cleared_at = now(), approved_by = 'key_admin' WHERE id = ${second}`,
      Error,
      "deposit_by_hand",
    );
    assertEquals((await confirm(first)).status, 200);
    assertEquals(await booksFaults(api.sql), []);
  });
});

test("a merchant's claims wait behind themselves, whatever keys it has, and keep no other's from being read", async () => {
  const hanging = Promise.withResolvers<void>();
  const lanes = new Set<boolean>();
  const chain = paperChain("TRX", {
    transaction: async (txid) => {
      lanes.add(isAskedByRequest());
      if (txid.startsWith("slow")) await hanging.promise;
      return { kind: "missing", txid };
    },
  });
  await using api = await testApi({ chains: new Map([["TRX", chain]]) });
  await api.sql`
    INSERT INTO hub.cursor (network, view, height, hash, time, previous_time, tick, previous_tick)
    VALUES ('TRX', 'solid', 7, '7', now(), now(), 7, 6)`;
  const busy = await api.addMerchant();
  const calm = await api.addMerchant();
  const keys = [busy.key];
  for (let n = 0; n < 4; n++) {
    keys.push(await api.addKey(busy.id, { role: "MERCHANT", permissions: ["write"] }));
  }
  const claim = (key: string, txHash: string) =>
    api.call("POST", "/api/deposits/claim", { key, body: { network: "TRX", txHash } });
  const claims = keys.map((key, n) => claim(key, `slow-${n}`));
  assertEquals((await claim(calm.key, "other")).body, { deposits: [], status: "not_found" });
  const refused = await Promise.all(claims.slice(1));
  for (const { status, headers } of refused) {
    assertEquals([status, headers.get("retry-after") !== null], [503, true]);
  }
  hanging.resolve();
  assertEquals((await claims[0])?.body, { deposits: [], status: "not_found" });
  assertEquals((await claim(busy.key, "again")).body.status, "not_found");
  assertEquals([...lanes], [true]);
});

test("claims of a network whose nodes hang use up no places of another network", async () => {
  const hanging = Promise.withResolvers<void>();
  const slow = paperChain("ETH", {
    transaction: async (txid) => {
      await hanging.promise;
      return { kind: "missing", txid };
    },
  });
  await using api = await testApi({
    chains: new Map([["ETH", slow], ["TRX", paperChain("TRX")]]),
  });
  await api.sql`
    INSERT INTO hub.cursor (network, view, height, hash, time, previous_time, tick, previous_tick)
    SELECT network, 'solid', 7, '7', now(), now(), 7, 6 FROM unnest(ARRAY['ETH', 'TRX']) network`;
  const merchants = await Promise.all(Array.from({ length: 5 }, () => api.addMerchant()));
  const [first, ...others] = merchants.map(({ key }) => claim(api, key, "slow", "ETH"));
  try {
    // one of five finds no place, and by then four hold theirs
    const refused = await Promise.any([first, ...others]);
    assertEquals([refused?.status, refused?.headers.has("retry-after")], [503, true]);
    for (const { key } of merchants) {
      assertEquals((await claim(api, key, "other")).body, { deposits: [], status: "not_found" });
    }
  } finally {
    hanging.resolve();
  }
  const statuses = await Promise.all(
    [first, ...others].map(async (asked) => (await asked)?.status),
  );
  assertEquals(statuses.toSorted(), [200, 200, 200, 200, 503]);
});
