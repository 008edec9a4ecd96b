import { assert, assertEquals } from "@std/assert";
import { testApi } from "../support/api.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("rates are per network that takes deposits, as decimal strings", async () => {
  const at = Date.parse("2026-08-01T12:00:00Z");
  await using api = await testApi({
    rates: { find: (_, fiat) => fiat === "CNY" ? { rate: "7.1525", at } : null },
  });
  const { key } = await api.addMerchant();
  const get = (query: string) => api.call("GET", `/api/exchange-rates${query}`, { key });
  const { status, body } = await get("?requestedCurrency=CNY");
  assertEquals([status, body], [200, {
    baseCurrency: "CNY",
    rates: { TRX: "7.1525", TRX_SHASTA: "7.1525" },
    timestamp: "2026-08-01T12:00:00.000Z",
  }]);
  await api.sql`UPDATE book.pair SET deposits_enabled = false WHERE network = 'TRX_SHASTA'`;
  assertEquals((await get("?requestedCurrency=CNY")).body.rates, { TRX: "7.1525" });
  for (
    const code of [null, "", "USDT", "1", "usd", "ABC", "ZZZ", "XBA", "XTS", "XAU", "XDR"]
  ) {
    const query = code === null ? "" : `?requestedCurrency=${code}`;
    const answer = await get(query);
    assertEquals([answer.status, answer.body.error], [400, "Invalid request data"]);
    assertEquals(answer.body.details[0].path, ["requestedCurrency"]);
  }
  for (const code of ["EUR", "XOF", "SLE"]) {
    const stale = await get(`?requestedCurrency=${code}`);
    assertEquals(stale.status, 503, code);
    assert(stale.headers.has("retry-after"));
  }
  assertEquals((await api.call("GET", "/api/exchange-rates?requestedCurrency=CNY")).status, 401);
});
