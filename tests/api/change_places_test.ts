import { assert, assertEquals } from "@std/assert";
import type { Merchants } from "../../actors/merchant/merchants.ts";
import { CHANGE_PLACES } from "../../api/http/change_places.ts";
import { testApi } from "../support/api.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("a change that finds no place is a 503 with Retry-After, with its body unread", async () => {
  const answered = Promise.withResolvers<void>();
  let asked = 0;
  const merchants: Merchants = {
    ask: async () => {
      asked++;
      await answered.promise;
      return { kind: "withdrawn" };
    },
    wake: () => {},
  };
  await using api = await testApi({ merchantsOf: () => merchants });
  const [flooding, ordinary] = [await api.addMerchant(), await api.addMerchant()];
  const rateLimits = JSON.stringify({ withdrawals: 0, balance: 0 });
  await api.sql`UPDATE book.merchant SET rate_limits = ${rateLimits}::text::jsonb`;
  const withdraw = (key: string, referenceId: string) => {
    const body = {
      ...{ amount: "1", currency: "USDT", network: "TRX", referenceId },
      destination: "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH",
    };
    const request = new Request(`${api.url}/api/withdrawals`, {
      method: "POST",
      headers: { host: "localhost", authorization: key, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const remoteAddr = { transport: "tcp", hostname: "127.0.0.1" };
    return { request, answer: api.answer(request, { remoteAddr }) };
  };
  const share = CHANGE_PLACES / 2;
  const underWay = [];
  for (let n = 0; n < share; n++) underWay.push(withdraw(flooding.key, `a-${n}`).answer);
  const other = withdraw(ordinary.key, "b").answer;
  while (asked < share + 1) await new Promise((resolve) => setTimeout(resolve, 5));

  const refused = withdraw(flooding.key, "one too many");
  const answer = await refused.answer;
  assertEquals([answer.status, answer.headers.get("retry-after")], [503, "1"]);
  assertEquals((await answer.json()).error, "Service unavailable");
  assertEquals(refused.request.bodyUsed, false);
  assertEquals(asked, share + 1);
  // who only reads needs no place
  assertEquals((await api.call("GET", "/api/balance", { key: flooding.key })).status, 200);
  const metrics = String((await api.call("GET", "/metrics")).body);
  assert(
    metrics.includes(`engine_http_changes_under_way ${share + 1}\n`),
    "the places are not told",
  );
  assert(metrics.includes("engine_http_changes_refused_total 1\n"), "the refusal is not counted");

  // a made-up key takes none
  const invented = withdraw(`${ordinary.key.slice(0, -1)}!`, "c");
  assertEquals((await invented.answer).status, 401);
  assert(String((await api.call("GET", "/metrics")).body).includes(`under_way ${share + 1}\n`));

  // nor does a body that does not arrive
  const body = Promise.withResolvers<void>();
  const slow = api.answer(
    new Request(`${api.url}/api/withdrawals`, {
      method: "POST",
      headers: {
        host: "localhost",
        authorization: ordinary.key,
        "content-type": "application/json",
      },
      body: new ReadableStream({
        start: async (stream) => {
          stream.enqueue(new TextEncoder().encode("{"));
          await body.promise;
          stream.close();
        },
      }),
    }),
    { remoteAddr: { transport: "tcp", hostname: "127.0.0.1" } },
  );
  assert(String((await api.call("GET", "/metrics")).body).includes(`under_way ${share + 1}\n`));
  body.resolve();
  assertEquals((await slow).status, 400);

  answered.resolve();
  await Promise.all([...underWay, other]);
  assertEquals((await withdraw(flooding.key, "again").answer).status, 503);
  assertEquals(asked, share + 2);
});
