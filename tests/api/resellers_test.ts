import { assertEquals, assertMatch } from "@std/assert";
import { addressOf, HOT_WALLET, testsOfOneApi } from "../support/api.ts";
import { booksFaults, fund, SOMEWHERE } from "../support/books.ts";

const shared = testsOfOneApi("resellers");
const ADMIN = { permissions: ["read", "write", "payout", "admin:read", "admin:write"] };

shared(
  "an administrator makes a reseller, whose withdrawals are pinned to its address",
  async (api) => {
    const admin = await api.addKey(null, ADMIN);
    const made = await api.call("POST", "/api/resellers", {
      key: admin,
      body: { name: "Line", withdrawalAddress: SOMEWHERE, network: "TRX" },
    });
    assertEquals(made.status, 201);
    const { id, merchantId, createdAt, updatedAt, ...rest } = made.body;
    assertMatch(`${id} ${merchantId} ${createdAt} ${updatedAt}`, /^rsl_\S+ mer_\S+ \S+Z \S+Z$/);
    assertEquals(rest, { name: "Line", withdrawalAddress: SOMEWHERE, network: "TRX" });
    await fund(api.sql, api.journal, merchantId, "100");
    const key = (await api.call("POST", `/api/merchants/${merchantId}/api-keys`, {
      key: admin,
      body: { label: "reseller", permissions: ["read", "write", "payout"], role: "RESELLER" },
    })).body.apiKey;
    const withdraw = (destination: string) =>
      api.call("POST", "/api/withdrawals", {
        key,
        body: { amount: "10", currency: "USDT", network: "TRX", destination },
      });
    assertEquals((await withdraw(SOMEWHERE)).body.status, "PENDING_APPROVAL");
    const elsewhere = await withdraw(addressOf(5));
    assertEquals(
      [elsewhere.status, elsewhere.body.error],
      [400, "Destination does not match the registered withdrawal address"],
    );
    const path = `/api/resellers/${id}`;
    const own = await api.call("PUT", path, { key, body: { withdrawalAddress: addressOf(5) } });
    assertEquals(own.status, 403);
    assertEquals((await api.call("PUT", path, { key, body: { name: "Ours" } })).body.name, "Ours");
    const moved = await api.call("PUT", path, {
      key: admin,
      body: { withdrawalAddress: addressOf(5) },
    });
    assertEquals(moved.body.withdrawalAddress, addressOf(5));
    assertEquals((await withdraw(addressOf(5))).status, 201);
    assertEquals((await withdraw(SOMEWHERE)).status, 400);
  },
);

shared(
  "a reseller is not made of what is wrong, and an account has one at most",
  async (api, t) => {
    const admin = await api.addKey(null, ADMIN);
    const { id, key } = await api.addMerchant();
    const good = { name: "x", withdrawalAddress: SOMEWHERE, network: "TRX", merchantId: id };
    const post = (body: object, caller = admin) =>
      api.call("POST", "/api/resellers", { key: caller, body });
    const rows: readonly [object, number][] = [
      [{ ...good, withdrawalAddress: "nonsense" }, 400],
      [{ ...good, withdrawalAddress: HOT_WALLET }, 400],
      [{ ...good, network: "ETH" }, 400],
      [{ ...good, name: "" }, 400],
      [{ ...good, extra: 1 }, 400],
      [{ ...good, merchantId: "mer_none" }, 422],
      [good, 201],
      [good, 409],
    ];
    for (const [body, status] of rows) {
      await t.step(`${status} ${JSON.stringify(body)}`, async () => {
        assertEquals((await post(body)).status, status);
      });
    }
    assertEquals((await post({ ...good, name: "y" }, key)).status, 403);
  },
);

shared("a reseller sees its own line and earnings, and no other reseller's", async (api) => {
  const admin = await api.addKey(null, ADMIN);
  const make = async (name: string) =>
    (await api.call("POST", "/api/resellers", {
      key: admin,
      body: { name, withdrawalAddress: SOMEWHERE, network: "TRX" },
    })).body;
  const [mine, other] = [await make("mine"), await make("other")];
  const key = await api.addKey(mine.merchantId, { role: "RESELLER", permissions: ["read"] });
  const shop = await api.addMerchant("1000");
  const line = `/api/merchants/${shop.id}/reseller`;
  const put = (body: object, caller = admin) => api.call("PUT", line, { key: caller, body });
  assertEquals((await put({ resellerId: "rsl_none", marginRate: "0.5" })).status, 422);
  assertEquals((await put({ resellerId: mine.id, marginRate: "1.5" })).status, 400);
  assertEquals((await put({ resellerId: mine.id, marginRate: "0.5", x: 1 })).status, 400);
  assertEquals((await put({ resellerId: mine.id, marginRate: "0.5" }, shop.key)).status, 403);
  const attached = await put({ resellerId: mine.id, marginRate: "0.5", beneficiary: "reseller" });
  assertEquals(attached.body, {
    merchantId: shop.id,
    resellerId: mine.id,
    marginRate: "0.5",
    beneficiary: "reseller",
  });
  const own = `/api/merchants/${mine.merchantId}/reseller`;
  assertEquals(
    (await api.call("PUT", own, { key: admin, body: { resellerId: mine.id } })).status,
    422,
  );
  const withdrawn = await api.call("POST", "/api/withdrawals", {
    key: shop.key,
    body: { amount: "100", currency: "USDT", network: "TRX", destination: SOMEWHERE },
  });
  assertEquals(withdrawn.status, 201);
  const read = (path: string) => api.call("GET", path, { key });
  const merchants = await read(`/api/resellers/${mine.id}/merchants`);
  assertEquals(merchants.body.merchants.map((row: { id: string }) => row.id), [shop.id]);
  const earnings = await read(`/api/resellers/${mine.id}/earnings`);
  assertEquals(earnings.body, {
    resellerId: mine.id,
    merchantId: mine.merchantId,
    earnings: [{
      currency: "USDT",
      network: "TRX",
      feeEvents: 1,
      volume: "100",
      grossFeesCharged: "1",
      marginEarned: "0.5",
      reversed: "0",
      net: "0.5",
    }],
  });
  const list = await read("/api/resellers");
  assertEquals(list.body.resellers.map((row: { id: string }) => row.id), [mine.id]);
  for (const tail of ["", "/merchants", "/earnings"]) {
    assertEquals((await read(`/api/resellers/${mine.id}${tail}`)).status, 200);
    assertEquals((await read(`/api/resellers/${other.id}${tail}`)).status, 403);
    assertEquals((await read(`/api/resellers/rsl_none${tail}`)).status, 403);
    const asAdmin = await api.call("GET", `/api/resellers/rsl_none${tail}`, { key: admin });
    assertEquals(asAdmin.status, 404);
    const stranger = await api.call("GET", `/api/resellers/${mine.id}${tail}`, { key: shop.key });
    assertEquals(stranger.status, 403);
  }
  assertEquals((await api.call("GET", "/api/resellers", { key: shop.key })).status, 403);
  const detached = await put({ resellerId: null });
  assertEquals(detached.body, {
    merchantId: shop.id,
    resellerId: null,
    marginRate: null,
    beneficiary: null,
  });
  assertEquals((await api.call("GET", line, { key: admin })).body, detached.body);
  assertEquals((await read(`/api/resellers/${mine.id}/merchants`)).body.merchants, []);
  assertEquals(await booksFaults(api.sql), []);
});
