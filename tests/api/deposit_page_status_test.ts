import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type TestApi, testsOfOneApi } from "../support/api.ts";
import { addTransfer, until } from "../support/books.ts";

const shared = testsOfOneApi("deposit page status");

const NOT_FOUND = '{"error":"Not found","code":"not_found"}';

/** A page of a new merchant, and what the service hears of its address. */
async function openPage(api: TestApi) {
  const { id, key } = await api.addMerchant();
  const { body } = await api.call("POST", "/api/deposit-url", {
    key,
    body: { network: "TRX", identifier: "alice" },
  });
  const [row] = await api.sql`SELECT address_id FROM hub.session WHERE address = ${body.address}`;
  const look = () => api.call("GET", `/api/deposit-page/status?token=${body.sessionToken}`);
  return {
    id,
    look,
    hear: (amount: string, fields: { phase: "seen" | "solid"; txid?: string }) =>
      addTransfer(api.sql, id, amount, {
        ...fields,
        to: body.address,
        addressId: row?.address_id,
      }).then((txid) => {
        api.journal.wake(id);
        return txid;
      }),
    reach: (status: string) => until(async () => (await look()).body.status === status),
  };
}

shared("waiting, received, completed: each with what is known by then", async (api) => {
  const page = await openPage(api);
  const waiting = await page.look();
  assertEquals(waiting.headers.get("cache-control"), "no-store");
  assertEquals([waiting.status, waiting.body], [200, { status: "waiting" }]);
  const txid = await page.hear("5", { phase: "seen" });
  await page.reach("received");
  const { receivedAt, ...received } = (await page.look()).body.deposit;
  assertMatch(receivedAt, /^\d{4}-.*Z$/);
  assertEquals(received, { amount: "5", currency: "USDT", txHash: txid, creditedAt: null });
  await page.hear("5", { phase: "solid", txid });
  await page.reach("completed");
  const { creditedAt, ...completed } = (await page.look()).body.deposit;
  assertMatch(creditedAt, /^\d{4}-.*Z$/);
  assertEquals(completed, { amount: "5", currency: "USDT", txHash: txid, receivedAt });
});

shared(
  "a payment that came to nothing is failed, and one that is credited counts more",
  async (api) => {
    const page = await openPage(api);
    const txid = await page.hear("5", { phase: "seen" });
    await page.reach("received");
    await api.sql`
    INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data)
    VALUES (${page.id}, 'TRX', ${txid}, 0, 'vanished', ${
      api.sql.json({ reason: "expired", to: "x" })
    })`;
    api.journal.wake(page.id);
    await page.reach("failed");
    assertEquals((await page.look()).body.deposit.txHash, txid);
    const credited = await page.hear("7", { phase: "solid" });
    await page.reach("completed");
    assertEquals((await page.look()).body.deposit.txHash, credited);
    await page.hear("9", { phase: "seen" });
    await page.reach("completed");
    assertEquals((await page.look()).body.deposit.txHash, credited);
  },
);

shared(
  "no token is 400, an unknown one 404, one whose time is over 410 whatever was paid",
  async (api) => {
    const page = await openPage(api);
    const call = (query: string) => api.call("GET", `/api/deposit-page/status${query}`);
    for (const query of ["", "?token=", "?other=1"]) {
      const { status, body, headers } = await call(query);
      assertEquals([status, body], [400, { error: "Token is required", code: "token_required" }]);
      assertEquals(headers.get("cache-control"), "no-store");
    }
    for (const token of ["x", "A".repeat(43), "ä", "a".repeat(5_000)]) {
      const { status, body } = await call(`?token=${token}`);
      assertEquals([status, body], [404, { error: "Invalid token", code: "invalid_token" }]);
    }
    await page.hear("5", { phase: "solid" });
    await page.reach("completed");
    await api.sql`UPDATE hub.session SET expires_at = now()`;
    const { status, body, headers } = await page.look();
    assertEquals([status, body], [410, { error: "Session expired", code: "session_expired" }]);
    assertEquals(headers.get("cache-control"), "no-store");
  },
);

const BROWSER = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

async function newToken(api: TestApi): Promise<string> {
  const { key } = await api.addMerchant();
  const { body } = await api.call("POST", "/api/deposit-url", {
    key,
    body: { network: "TRX", identifier: "alice" },
  });
  return body.sessionToken;
}

/** The answer to a browser that follows no redirect. */
async function open(api: TestApi, path: string, headers: Record<string, string> = BROWSER) {
  const response = await fetch(`${api.url}${path}`, { headers, redirect: "manual" });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

shared("a link that lost its end is explained to people, and JSON to programs", async (api) => {
  const token = await newToken(api);
  const incomplete = [
    "/deposit",
    "/deposit/",
    "/deposit//",
    "/deposit?ref=1",
    `/deposit/${token}/x`,
    `/deposit/${token}//`,
    "/api/deposit-page/x",
  ];
  for (const path of incomplete) {
    const page = await open(api, path);
    assertEquals([page.status, page.headers.get("content-type")], [
      404,
      "text/html; charset=utf-8",
    ], path);
    assertStringIncludes(page.body, "There is no such payment page");
    assertStringIncludes(
      page.headers.get("content-security-policy") ?? "",
      "frame-ancestors 'none'",
    );
    assertEquals(page.headers.get("cache-control"), "no-store");
    const program = await open(api, path, {});
    assertEquals([program.status, program.body], [404, NOT_FOUND], path);
  }
  // what is none of the page's, and what is no look at a page, stays as it was
  for (const path of ["/deposits", "/api/deposit", "/nothing"]) {
    assertEquals((await open(api, path)).body, NOT_FOUND, path);
  }
  assertEquals((await api.call("POST", "/deposit", { headers: BROWSER })).body, {
    error: "Not found",
    code: "not_found",
  });
  assertEquals((await api.call("POST", "/deposit/x", { headers: BROWSER })).status, 405);
});

shared(
  "a slash at the end of a link leads to the page, with what else the link says",
  async (api) => {
    const token = await newToken(api);
    const slashed = [
      [`/deposit/${token}/?ref=a%20b&lang=es`, `../${token}?ref=a%20b&lang=es`],
      [`/api/deposit-page/?token=${token}&lang=es`, `../deposit-page?token=${token}&lang=es`],
    ] as const;
    for (const [path, to] of slashed) {
      const moved = await open(api, path);
      assertEquals([moved.status, moved.headers.get("location"), moved.body], [308, to, ""]);
      assertEquals(moved.headers.get("referrer-policy"), "no-referrer");
      const page = await fetch(`${api.url}${path}`, { headers: BROWSER });
      assertEquals(page.status, 200);
      assertStringIncludes(await page.text(), '<html lang="es"');
      const head = await fetch(`${api.url}${path}`, { method: "HEAD", redirect: "manual" });
      assertEquals(head.status, 308);
    }
    // never to another host
    const outside = await open(api, "/deposit/%2F%2Fevil.example/");
    assertEquals(outside.headers.get("location"), "../%2F%2Fevil.example");
  },
);

shared("what a link gathered on its way does not keep people from the page", async (api) => {
  const token = await newToken(api);
  const gathered = [
    "ref=a&ref=b",
    "amount=5&amount=6",
    "ref=%ZZ",
    "ref=%C3%28",
    "%00=1&ref=%ED%A0%80",
    "token=x&utm_source=mail&&=",
  ];
  for (const query of gathered) {
    const page = await open(api, `/deposit/${token}?${query}&lang=es&lang=ar`);
    assertEquals(page.status, 200, query);
    assertStringIncludes(page.body, '<html lang="es"');
  }
  const page = await open(api, `/api/deposit-page?token=${token}&ref=a&ref=%ZZ`);
  assertEquals(page.status, 200);
  const status = await api.call("GET", `/api/deposit-page/status?token=${token}&ref=%ZZ`);
  assertEquals(status.status, 400, "what programs send is read strictly");
});

shared("pages of any origin may read the status, whatever it is, and nothing else", async (api) => {
  const token = await newToken(api);
  const origin = { origin: "https://shop.example" };
  const ask = (query: string) =>
    api.call("GET", `/api/deposit-page/status${query}`, { headers: origin });
  const seen = [await ask(`?token=${token}`), await ask(""), await ask("?token=unknown")];
  await api.sql`UPDATE hub.session SET expires_at = now()`;
  seen.push(await ask(`?token=${token}`));
  await Promise.all(Array.from({ length: 240 }, () => ask(`?token=${token}`)));
  seen.push(await ask(`?token=${token}`));
  assertEquals(seen.map(({ status }) => status), [200, 400, 404, 410, 429]);
  for (const { status, headers } of seen) {
    assertEquals(headers.get("access-control-allow-origin"), "*", `${status}`);
    assertEquals(headers.get("access-control-allow-credentials"), null);
    assertEquals(headers.get("set-cookie"), null);
    assertEquals(headers.get("cache-control"), "no-store");
  }
  for (const path of ["/deposit/x", "/api/deposit-page?token=x", "/api/balance", "/deposit/"]) {
    const { headers } = await open(api, path, { ...BROWSER, ...origin });
    assertEquals(headers.get("access-control-allow-origin"), null, path);
  }
});
