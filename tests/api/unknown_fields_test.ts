import { assertEquals } from "@std/assert";
import { ROUTES } from "../../api/routes.ts";
import { addressOf, testApi } from "../support/api.ts";
import { SOMEWHERE } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const ALL = ["read", "write", "payout", "admin:read", "admin:write"];

/** A body without fault for every route that both call, and what its merchant is answered. */
const BODIES: Readonly<Record<string, readonly [object, number]>> = {
  "PUT /api/resellers/{resellerId}": [{ name: "New name" }, 200],
  "PATCH /api/merchants/{merchantId}": [{ webhookEnabled: false }, 200],
  "POST /api/merchants/{merchantId}/api-keys": [{ label: "a", permissions: ["read"] }, 201],
  "POST /api/merchants/{merchantId}/api-keys/{keyId}/rotate": [{ overlapHours: 1 }, 201],
  "POST /api/merchants/{merchantId}/webhook/rotate-secret": [{ overlapHours: 1 }, 200],
  // without a URL there is nothing to deliver to
  "POST /api/merchants/{merchantId}/webhook/redeliver": [{
    startDate: "2026-01-01",
    endDate: "2026-01-31",
  }, 422],
  "POST /api/settlements": [{
    currency: "USDT",
    requestedAmount: "1",
    destinationAddress: addressOf(7),
    destinationNetwork: "TRX",
  }, 400],
};

test("unknown fields are ignored in merchants' bodies and refused in administrators'", async (t) => {
  await using api = await testApi();
  const admin = await api.addKey(null, { permissions: ALL });
  const made = await api.call("POST", "/api/resellers", {
    key: admin,
    body: { name: "Line", withdrawalAddress: SOMEWHERE, network: "TRX" },
  });
  const reseller = await api.addKey(made.body.merchantId, { role: "RESELLER" });
  const shop = await api.addMerchant();
  const [own] = await api.sql`SELECT id FROM hub.api_key WHERE merchant_id = ${shop.id}`;

  const shared = ROUTES.filter(({ access, body }) => body !== null && "adminAnyOf" in access)
    .map(({ method, path }) => `${method} ${path}`);
  assertEquals(shared.toSorted(), Object.keys(BODIES).toSorted());

  for (const [route, [body, status]] of Object.entries(BODIES)) {
    await t.step(route, async () => {
      const [method = "", template = ""] = route.split(" ");
      const path = template.replace("{resellerId}", made.body.id)
        .replace("{merchantId}", shop.id).replace("{keyId}", own?.id);
      const call = (key: string, fields: object) =>
        api.call(method, path, { key, body: { ...fields, zzz: 1 } });
      const named = route === "POST /api/settlements" ? { ...body, userId: shop.id } : body;
      const refused = await call(admin, named);
      assertEquals([refused.status, refused.body.error], [400, "Invalid request data"]);
      assertEquals(refused.body.details[0].code, "unrecognized_keys");
      const heard = await call(path.startsWith("/api/resellers") ? reseller : shop.key, body);
      assertEquals(heard.status, status);
      assertEquals("details" in heard.body && status === 400, false);
    });
  }
  const [renamed] = await api.sql`SELECT name FROM hub.reseller WHERE id = ${made.body.id}`;
  assertEquals(renamed?.name, "New name");
});
