import { assertEquals, assertMatch } from "@std/assert";
import { addressOf, HOT_WALLET } from "../support/api.ts";
import { SOMEWHERE } from "../support/books.ts";
import { endPayout, eventsOf } from "./support/chain.ts";
import {
  issueAddress,
  openOffice,
  openReseller,
  openShop,
  PAYOUT,
  SETTLEMENT,
  whitelist,
} from "./support/shop.ts";
import { suite } from "./support/suite.ts";

const rule = suite("Withdrawals and settlements");

rule("POST /api/withdrawals: the checks come in their documented order", async (api) => {
  const shop = await openShop(api, { funds: "100" });
  await shop.post("/api/withdrawals", { ...PAYOUT, referenceId: "taken" });
  const ask = async (change: object) => {
    const { status, body } = await shop.post("/api/withdrawals", { ...PAYOUT, ...change });
    return `${status} ${body.error ?? body.status}`;
  };
  // each request breaks its own rule and every later one
  const later = { destination: "nowhere", referenceId: "taken" };
  assertEquals(await ask({ ...later, amount: "x", currency: "USDC" }), "400 Invalid request data");
  assertEquals(
    await ask({ ...later, amount: "-1", currency: "USDC" }),
    "400 Withdrawals of USDC on TRX are not supported",
  );
  assertEquals(
    await ask({ ...later, amount: "-1" }),
    "400 Withdrawal amount must be greater than zero",
  );
  assertEquals(await ask({ ...later, amount: "0.5" }), "400 Amount below minimum withdrawal");
  assertEquals(await ask({ ...later, amount: "1000" }), "400 Invalid request data");
  assertEquals(
    await ask({ referenceId: "taken", amount: "1000" }),
    "409 Duplicate referenceId",
  );
  assertEquals(await ask({ amount: "1000" }), "400 Insufficient balance");
  assertEquals(await ask({}), "201 PENDING");
});

rule(
  "POST /api/withdrawals: the destination is an address of the network and not the service's own",
  async (api) => {
    const shop = await openShop(api, { funds: "100" });
    const own = await issueAddress(shop);
    for (
      const destination of [
        own,
        HOT_WALLET,
        "0x52908400098527886E0F7030069857D2E4169EE7",
        SOMEWHERE.toLowerCase(),
        SOMEWHERE.slice(0, -1),
        ` ${SOMEWHERE}`,
      ]
    ) {
      const { status, body } = await shop.post("/api/withdrawals", { ...PAYOUT, destination });
      assertEquals([status, body.error, body.details[0].path], [400, "Invalid request data", [
        "destination",
      ]], destination);
    }
  },
);

rule(
  "POST /api/withdrawals: another merchant's deposit address is a destination like any, also of settlements",
  async (api) => {
    const [shop, other] = [await openShop(api, { funds: "100" }), await openShop(api)];
    const destination = await issueAddress(other);
    const { status, body } = await shop.post("/api/withdrawals", { ...PAYOUT, destination });
    assertEquals([status, body.status, body.destination], [201, "PENDING", destination]);
    const listed = await shop.post("/api/settlement-addresses", {
      address: destination,
      network: "TRX",
      label: "Supplier",
    });
    assertEquals(listed.status, 201);
    const own = await issueAddress(shop);
    const refused = await shop.post("/api/settlement-addresses", {
      address: own,
      network: "TRX",
      label: "Mine",
    });
    assertEquals([refused.status, refused.body.details[0].path], [400, ["address"]]);
    // an address of an account that a restore forgot has no account to credit, and an address of
    // another network is not watched on this one
    for (const change of [{ merchant_id: "mer_lost" }, { network: "TRX_SHASTA" }]) {
      const closed = await issueAddress(other, `closed-${Object.keys(change)[0]}`);
      await api.sql`UPDATE hub.address SET ${api.sql(change)} WHERE address = ${closed}`;
      const answer = await shop.post("/api/withdrawals", { ...PAYOUT, destination: closed });
      assertEquals([answer.status, answer.body.details?.[0].path], [400, ["destination"]]);
    }
  },
);

rule(
  "POST /api/withdrawals, rules 1 and 4: a referenceId is this merchant's alone, and callbacks carry it",
  async (api) => {
    const [shop, other] = [
      await openShop(api, { funds: "100" }),
      await openShop(api, { funds: "100" }),
    ];
    const request = { ...PAYOUT, referenceId: "Order #1 — ü" };
    const first = await shop.post("/api/withdrawals", request);
    assertEquals((await shop.post("/api/withdrawals", request)).status, 409);
    assertEquals(
      (await other.post("/api/withdrawals", request)).status,
      201,
      "unique per merchant",
    );
    await endPayout(api, first.body.withdrawalId, "paid");
    const events = (await eventsOf(api, shop.id)).filter(({ type }) =>
      type.startsWith("withdrawal")
    );
    assertEquals(
      events.map(({ type, body }) => [type, body.referenceId, body.identifier]),
      [["withdrawal.confirmed", "Order #1 — ü", "Order #1 — ü"]],
    );
    const bare = await shop.post("/api/withdrawals", PAYOUT);
    assertEquals(bare.status, 201, "optional");
    assertEquals((await shop.newest("withdrawals")).referenceId, null);
  },
);

rule(
  "POST /api/withdrawals, rule 3: a RESELLER key is pinned and waits; a MERCHANT key is not",
  async (api) => {
    const reseller = await openReseller(api, "100");
    const pinned = await reseller.post("/api/withdrawals", {
      ...PAYOUT,
      destination: addressOf(1_234),
    });
    assertEquals([pinned.status, pinned.body.error], [
      400,
      "Destination does not match the registered withdrawal address",
    ]);
    assertEquals((await reseller.post("/api/withdrawals", PAYOUT)).body.status, "PENDING_APPROVAL");
    const ordinary = await api.addKey(reseller.id);
    const { body } = await api.call("POST", "/api/withdrawals", {
      key: ordinary,
      body: { ...PAYOUT, destination: addressOf(1_234) },
    });
    assertEquals(body.status, "PENDING");
    const { id } = await api.addMerchant("100");
    const unregistered = await api.addKey(id, { role: "RESELLER" });
    const refused = await api.call("POST", "/api/withdrawals", { key: unregistered, body: PAYOUT });
    assertEquals([refused.status, refused.body.error], [
      403,
      "Insufficient permissions to initiate a withdrawal",
    ]);
  },
);

rule(
  "GET /api/withdrawals: newest first, by status, and settlements are not among them",
  async (api) => {
    const shop = await openShop(api, { funds: "200" });
    await whitelist(api, shop);
    const ids: string[] = [];
    for (const end of ["paid", "failed", null] as const) {
      const { body } = await shop.post("/api/withdrawals", PAYOUT);
      ids.unshift(body.withdrawalId);
      if (end !== null) await endPayout(api, body.withdrawalId, end);
      assertEquals((await shop.post("/api/settlements", SETTLEMENT)).status, 201);
    }
    const get = async (query: string) =>
      (await shop.get(`/api/withdrawals?${query}`)).body.withdrawals
        .map(({ id }: { id: string }) => id);
    assertEquals(await get(""), ids);
    assertEquals(await get("status=PENDING"), [ids[0]]);
    assertEquals(await get("status=FAILED"), [ids[1]]);
    assertEquals(await get("status=CONFIRMED"), [ids[2]]);
    assertEquals(await get("status=CANCELLED"), []);
    assertEquals((await shop.get("/api/withdrawals?status=DONE")).status, 400);
  },
);

rule(
  "POST /api/settlements: only to a whitelisted, active address of this merchant and network",
  async (api) => {
    const [shop, other] = [
      await openShop(api, { funds: "100" }),
      await openShop(api, { funds: "100" }),
    ];
    const office = await openOffice(api);
    const settle = async (by = shop) => {
      const { status, body } = await by.post("/api/settlements", SETTLEMENT);
      return `${status} ${body.error ?? body.status}`;
    };
    const refused = "400 Destination address is not whitelisted for this merchant";
    assertEquals(await settle(), refused);
    const { body } = await shop.post("/api/settlement-addresses", {
      address: SOMEWHERE,
      network: "TRX",
      label: "cold",
    });
    assertEquals([body.active, await settle()], [false, refused]);
    assertEquals(
      (await office.post(`/api/admin/settlement-addresses/${body.id}/activate`)).body.active,
      true,
    );
    assertEquals([await settle(), await settle(other)], ["201 PROCESSING", refused]);
    await office.post(`/api/admin/settlement-addresses/${body.id}/deactivate`);
    assertEquals(await settle(), refused);
    await office.post(`/api/admin/settlement-addresses/${body.id}/activate`);
    const path = `/api/settlement-addresses/${body.id}`;
    assertEquals((await api.call("DELETE", path, { key: other.key })).status, 404);
    assertEquals((await api.call("DELETE", path, { key: shop.key })).status, 204);
    assertEquals(await settle(), refused);
  },
);

rule(
  "POST /api/settlements: userId is the caller's own, or an administrator's choice",
  async (api) => {
    const [shop, other] = [await openShop(api, { funds: "100" }), await openShop(api)];
    const office = await openOffice(api);
    await whitelist(api, shop);
    const own = await shop.post("/api/settlements", { ...SETTLEMENT, userId: shop.id });
    assertEquals(own.status, 201);
    const foreign = await shop.post("/api/settlements", { ...SETTLEMENT, userId: other.id });
    assertEquals(foreign.status, 403);
    const chosen = await office.post("/api/settlements", { ...SETTLEMENT, userId: shop.id });
    assertEquals(chosen.status, 201);
    assertEquals((await shop.get("/api/settlements")).body.pagination.total, 2);
  },
);

rule("GET /api/settlements: each of the nine statuses is a filter", async (api) => {
  const shop = await openShop(api, { funds: "100" });
  await whitelist(api, shop);
  await shop.post("/api/settlements", SETTLEMENT);
  const statuses = [
    "PENDING",
    "APPROVAL_REQUIRED",
    "APPROVED",
    "PROCESSING",
    "SUBMITTED_TO_LEDGER",
    "COMPLETED",
    "FAILED",
    "CANCELLED",
    "REJECTED",
  ];
  for (const status of statuses) {
    const { body } = await shop.get(`/api/settlements?status=${status}`);
    assertEquals(body.pagination.total, status === "PROCESSING" ? 1 : 0, status);
  }
  assertEquals((await shop.get("/api/settlements?status=CONFIRMED")).status, 400);
});

rule(
  "POST /api/settlements: an Idempotency-Key answers the same, another body 409",
  async (api) => {
    const shop = await openShop(api, { funds: "100" });
    await whitelist(api, shop);
    const headers = { "idempotency-key": "k-1" };
    const first = await shop.post("/api/settlements", SETTLEMENT, headers);
    const again = await shop.post("/api/settlements", SETTLEMENT, headers);
    assertEquals([again.status, again.body], [201, first.body]);
    const other = await shop.post(
      "/api/settlements",
      { ...SETTLEMENT, requestedAmount: "11" },
      headers,
    );
    assertEquals(other.status, 409);
    assertMatch(other.body.message, /Idempotency-Key/);
    assertEquals(await shop.balance(), ["88", "0"]);
  },
);
