import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { createHash } from "node:crypto";
import { paymentLink } from "../../chains/evm/payment_link.ts";
import type { Rates } from "../../rates/rates.ts";
import { type Called, EMPTY_CHAIN, type TestApi, testApi, testsOfOneApi } from "../support/api.ts";
import { addTransfer, until } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const shared = testsOfOneApi("deposit page");

const BROWSER = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
const ONE_TO_SEVEN: Rates = { find: () => ({ rate: "7.15", at: Date.now() }) };
/** No source answers, or none for a long time, or none knows the currency. */
const NO_RATE: Rates = { find: () => null };

/** A page of a new merchant, what it shows, and what the chain tells of its address. */
async function openPage(api: TestApi, fields: object = {}, profile: object = {}) {
  const { id, key } = await api.addMerchant();
  const patched = await api.call("PATCH", `/api/merchants/${id}`, { key, body: profile });
  assertEquals(patched.status, 200);
  const { body } = await api.call("POST", "/api/deposit-url", {
    key,
    body: { network: "TRX", identifier: "alice", ...fields },
  });
  const [row] = await api.sql`SELECT address_id FROM hub.session WHERE address = ${body.address}`;
  const look = (query = "", headers: Record<string, string> = BROWSER) =>
    api.call("GET", `/deposit/${body.sessionToken}${query}`, { headers });
  return {
    id,
    key,
    address: body.address as string,
    token: body.sessionToken as string,
    url: body.url as string,
    look,
    hear: async (amount: string, phase: "seen" | "solid", txid?: string) => {
      const told = await addTransfer(api.sql, id, amount, {
        phase,
        to: body.address,
        addressId: row?.address_id,
        ...(txid === undefined ? {} : { txid }),
      });
      api.journal.wake(id);
      return told;
    },
    reach: (state: string) => until(async () => stateOf(await look()) === state),
    end: () => api.sql`UPDATE hub.session SET expires_at = now() WHERE address = ${body.address}`,
  };
}

function stateOf({ body }: Called): string | undefined {
  return /data-state="(\w+)"/.exec(body)?.[1];
}

const QUOTE = { requestedAmount: "100.50", requestedCurrency: "CNY", referenceId: "order 7&8" };

test("the page shows merchant, order, exact amount, network and the whole address", async () => {
  await using api = await testApi({ rates: ONE_TO_SEVEN });
  const page = await openPage(api, QUOTE, { logoColor: "#FFD400" });
  await api.sql`UPDATE book.merchant SET name = '<b>Bob</b>' WHERE merchant_id = ${page.id}`;
  const { status, headers, body } = await page.look();
  assertEquals(status, 200);
  assertEquals(headers.get("content-type"), "text/html; charset=utf-8");
  assertEquals(headers.get("cache-control"), "no-store");
  assertEquals(headers.get("referrer-policy"), "no-referrer");
  assertEquals(stateOf({ status, headers, body }), "waiting");
  assertStringIncludes(body, "&lt;b&gt;Bob&lt;/b&gt;");
  assert(!body.includes("<b>Bob"));
  assertStringIncludes(body, "order 7&amp;8");
  assertStringIncludes(body, 'fill="#ffd400"');
  // 14.05594406 has 8 decimals; USDT carries 6, and rounding down would pay too little
  assertStringIncludes(body, 'value="14.05594406"');
  assertStringIncludes(body, 'data-copy="14.055945"');
  assertStringIncludes(body, "100.50 CNY");
  assertStringIncludes(body, "1 USDT = 7.15 CNY");
  assertStringIncludes(body, "TRON (TRC-20)");
  assertStringIncludes(body, `data-copy="${page.address}"`);
  const code = /<code id="address"[^>]*>(.*?)<\/code>/.exec(body)?.[1] ?? "";
  assertEquals(code.replaceAll(/<[^>]+>/g, ""), page.address);
  assertMatch(body, /<svg class="qr"[^>]*><rect[^>]*><\/rect><path d="M4 4h7v1h-7z/);
  assertStringIncludes(body, "Test page: do not send real money");
  const same = await api.call("GET", `/api/deposit-page?token=${page.token}`, { headers: BROWSER });
  assertEquals([same.status, stateOf(same)], [200, "waiting"]);
  assertStringIncludes(same.body, `href="?token=${page.token}&amp;lang=zh"`);
});

shared(
  "only our own script and styles run, and only origins of the merchant's may frame it",
  async (api) => {
    const page = await openPage(api);
    const { headers, body } = await page.look();
    const policy = headers.get("content-security-policy") ?? "";
    const hashOf = (tag: string) => {
      const text = new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(body)?.[1] ?? "";
      assert(text.length > 1_000, tag);
      return createHash("sha256").update(text).digest("base64");
    };
    assertEquals(policy.split("; "), [
      "default-src 'none'",
      `script-src 'sha256-${hashOf("script")}'`,
      `style-src 'sha256-${hashOf("style")}'`,
      "img-src data:",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
    assertEquals(headers.get("x-frame-options"), "DENY");
    assert(!/\s(?:style|on\w+)="|(?:src|href)="https?:/.test(body), "inline code or another host");
    const framed = await openPage(api, {}, {
      pageOrigins: ["https://shop.example", "https://pay.shop.example:8443"],
    });
    const answer = await framed.look();
    assertMatch(
      answer.headers.get("content-security-policy") ?? "",
      /; frame-ancestors https:\/\/shop\.example https:\/\/pay\.shop\.example:8443$/,
    );
    assertEquals(answer.headers.get("x-frame-options"), null);
  },
);

shared(
  "the language is the one that was clicked, otherwise the browser's, otherwise English",
  async (api) => {
    const page = await openPage(api, {}, { successUrl: "https://shop.example/done" });
    const langOf = async (query: string, accept?: string) => {
      const { body } = await page.look(query, {
        ...BROWSER,
        ...(accept === undefined ? {} : { "accept-language": accept }),
      });
      return /<html lang="(\w+)" dir="(\w+)"/.exec(body)?.slice(1).join(" ");
    };
    assertEquals(await langOf(""), "en ltr");
    assertEquals(await langOf("", "de, fr;q=0.5"), "en ltr");
    assertEquals(await langOf("", "zh-Hant-TW"), "zh ltr");
    assertEquals(await langOf("", "en;q=0.2, ar-EG;q=0.9, es;q=0.5"), "ar rtl");
    assertEquals(await langOf("", "es;q=0, *"), "en ltr");
    assertEquals(await langOf("?lang=es", "ar"), "es ltr");
    assertEquals(await langOf("?lang=xx", "ar"), "ar rtl");
    assertEquals(await langOf("?lang=constructor"), "en ltr");
  },
);

test("paid in parts: each time what is missing, and success only when the quote is reached", async () => {
  await using api = await testApi({ rates: ONE_TO_SEVEN });
  const page = await openPage(api, QUOTE, { successUrl: "https://shop.example/done" });
  await page.hear("4.055945", "solid");
  await page.reach("partial");
  const { body: part } = await page.look();
  assertStringIncludes(part, 'data-copy="10"');
  assertStringIncludes(part, page.address);
  assert(!part.includes("data-go="), "sent away before the quote was reached");
  const status = async () =>
    (await api.call("GET", `/api/deposit-page/status?token=${page.token}`)).body;
  assertEquals((await status()).progress, {
    currency: "USDT",
    amount: "14.05594406",
    received: "4.055945",
    credited: "4.055945",
    missing: "10",
  });
  const txid = await page.hear("12", "seen");
  await page.reach("received");
  const { body: received } = await page.look();
  assert(!received.includes("data-go=") && !received.includes(page.address));
  await page.hear("12", "solid", txid);
  await page.reach("completed");
  const { body: done } = await page.look();
  assertStringIncludes(done, 'data-go="https://shop.example/done"');
  assertStringIncludes(done, "2\u00a0USDT\u2069 more than was asked");
  assertEquals((await status()).progress.missing, "0");
});

shared("without a quote the first credited payment completes", async (api) => {
  const page = await openPage(api);
  const { body: waiting } = await page.look();
  assertStringIncludes(waiting, "Send any amount of USDT");
  const txid = await page.hear("5", "seen");
  await page.reach("received");
  await page.hear("5", "solid", txid);
  await page.reach("completed");
  const { body } = await page.look();
  assertStringIncludes(body.replaceAll(/<[^>]+>/g, ""), txid);
});

test("without a rate the page shows the price, and calls no payment of it complete", async () => {
  await using api = await testApi({ rates: NO_RATE });
  const page = await openPage(api, { requestedAmount: "100.5", requestedCurrency: "BWP" }, {
    successUrl: "https://shop.example/done",
    failureUrl: "https://shop.example/sorry",
  });
  await api.sql`UPDATE book.merchant SET name = 'Bob' WHERE merchant_id = ${page.id}`;
  const textIn = async (lang: string) =>
    (await page.look(`?lang=${lang}`)).body.replaceAll(/<style>.*?<\/style>|<[^>]+>/gs, "");
  const said = {
    en: ["Amount due", "No exchange rate is at hand just now: \u2068Bob\u2069 tells you how much"],
    zh: ["应付金额", "目前没有可用的汇率"],
    es: ["Importe a pagar", "Ahora mismo no hay tipo de cambio"],
    ar: ["المبلغ المستحق", "لا يتوفر سعر صرف الآن"],
  };
  for (const [lang, texts] of Object.entries(said)) {
    const text = await textIn(lang);
    for (const one of [...texts, "100.50 BWP", page.address]) assertStringIncludes(text, one);
  }
  assert(!(await page.look()).body.includes("any amount"), "any amount was asked for");
  const txid = await page.hear("1.5", "seen");
  await page.reach("received");
  await page.hear("1.5", "solid", txid);
  await page.reach("unchecked");
  const { body } = await page.look();
  assertStringIncludes(body, "1.5\u00a0USDT\u2069 has arrived. \u2068Bob\u2069 will check it");
  assertStringIncludes(body, "the amount due, \u2068100.50\u00a0BWP\u2069");
  assert(!body.includes("data-go=") && !body.includes("shop.example"), "led to an end");
  // the interface has no other word for a credited payment
  const status = await api.call("GET", `/api/deposit-page/status?token=${page.token}`);
  assertEquals([status.body.status, status.body.progress.amount], ["completed", null]);
  // another part changes what has arrived, also after the page's time
  await page.hear("2", "solid");
  await until(async () => (await textIn("en")).includes("3.5\u00a0USDT\u2069 has arrived"));
  await page.end();
  const over = await page.look();
  assertEquals([over.status, stateOf(over)], [410, "unchecked"]);
});

shared(
  "an expired page says where a late payment will be seen, and only what is so",
  async (api) => {
    const staying = await openPage(api);
    const leaving = await openPage(api, {}, { failureUrl: "https://shop.example/sorry" });
    await Promise.all([staying.end(), leaving.end()]);
    const here = "and this page will show it";
    assertStringIncludes((await staying.look()).body, here);
    const { body } = await leaving.look();
    assertStringIncludes(body, "If you stay here, this page will show it");
    assert(!body.includes(here), "a page that leaves shows nothing");
    await api.sql`UPDATE hub.session SET expires_at = now() - interval '61 minutes'`;
    assert(!(await staying.look()).body.includes("will show it"), "a page that asks nothing");
  },
);

test("after its time the page shows no address, and goes on telling of what was paid", async () => {
  await using api = await testApi({ rates: ONE_TO_SEVEN });
  const profile = {
    failureUrl: "https://shop.example/sorry",
    successUrl: "https://shop.example/ok",
  };
  const nothing = await openPage(api, QUOTE, profile);
  const part = await openPage(api, QUOTE, profile);
  const late = await openPage(api, QUOTE, profile);
  await part.hear("1", "solid");
  await part.reach("partial");
  const txid = await late.hear("14.055945", "seen");
  await late.reach("received");
  for (const page of [nothing, part, late]) await page.end();

  const expired = await nothing.look();
  assertEquals([expired.status, stateOf(expired)], [410, "expired"]);
  assert(!expired.body.includes(nothing.address), "an address to pay to");
  assertStringIncludes(expired.body, 'data-go="https://shop.example/sorry"');
  const short = await part.look();
  assertEquals([short.status, stateOf(short)], [410, "short"]);
  assert(!short.body.includes(part.address) && !short.body.includes("data-go="));
  assertStringIncludes(short.body, "13.055945\u00a0USDT\u2069 is missing");
  const credited = await late.look();
  assertEquals([credited.status, stateOf(credited)], [410, "received"]);
  assertStringIncludes(credited.body, "Your payment will be credited");
  assert(!credited.body.includes("data-go="));
  await late.hear("14.055945", "solid", txid);
  await late.reach("completed");
  assertStringIncludes((await late.look()).body, 'data-go="https://shop.example/ok"');
  // programs are told what the interface says of an expired session
  const { status, body } = await late.look("", { accept: "*/*" });
  assertEquals([status, body], [410, { error: "Session expired", code: "session_expired" }]);
});

shared(
  "unknown pages and other errors are explained to people, and JSON to programs",
  async (api) => {
    const page = await openPage(api);
    for (const path of ["/deposit/unknown", "/api/deposit-page?token=unknown"]) {
      const { status, headers, body } = await api.call("GET", path, {
        headers: { ...BROWSER, "accept-language": "es" },
      });
      assertEquals([status, headers.get("content-type")], [404, "text/html; charset=utf-8"]);
      assertStringIncludes(body, "Esta página de pago no existe");
      assertMatch(headers.get("content-security-policy") ?? "", /frame-ancestors 'none'$/);
      assertEquals(headers.get("referrer-policy"), "no-referrer");
      const program = await api.call("GET", path);
      assertEquals([program.status, program.body], [404, {
        error: "Invalid token",
        code: "invalid_token",
      }]);
    }
    const bare = await api.call("GET", "/api/deposit-page", { headers: BROWSER });
    assertEquals(bare.status, 400);
    assertStringIncludes(bare.body, "There is no such payment page");
    const program = await api.call("GET", "/api/deposit-page");
    assertEquals([program.status, program.body], [400, {
      error: "Token is required",
      code: "token_required",
    }]);
    await Promise.all(Array.from({ length: 240 }, () => page.look("", { accept: "*/*" })));
    const limited = await page.look();
    assertEquals([limited.status, limited.headers.get("retry-after") !== null], [429, true]);
    assertStringIncludes(limited.body, "One moment, please");
    const { status } = await api.call("GET", `/api/deposit-page/status?token=${page.token}`);
    assertEquals(status, 429, "page and status share the session's limit");
  },
);

test("outside development only test networks say that it is a test", async () => {
  await using api = await testApi({ environment: "production" });
  const { id } = await api.addMerchant();
  const key = await api.addKey(id, { environment: "production" });
  for (const [network, isTest] of [["TRX", false], ["TRX_SHASTA", true]] as const) {
    const { body } = await api.call("POST", "/api/deposit-url", {
      key,
      body: { network, identifier: "alice" },
    });
    const page = await api.call("GET", `/deposit/${body.sessionToken}`, { headers: BROWSER });
    assertEquals(page.body.includes("do not send real money"), isTest, network);
  }
});

test("amounts of any length are whole, and copied without what sets their digits apart", async () => {
  await using api = await testApi({ rates: { find: () => ({ rate: "1", at: Date.now() }) } });
  const page = await openPage(api, {
    requestedAmount: "123456789012.123456",
    requestedCurrency: "USD",
  });
  const { body } = await page.look();
  assertStringIncludes(body, 'data-copy="123456789012.123456"');
  const shown = /<data value="123456789012\.12345600">(.*?)<\/data>/.exec(body)?.[1] ?? "";
  assertEquals(shown.replaceAll(/<[^>]+>/g, ""), "123456789012.123456");
});

test("the page asks for the token that was named where it is taken, and is not made for another", async () => {
  await using api = await testApi({ rates: ONE_TO_SEVEN });
  const shop = await api.addMerchant();
  for (const token of ["USDC", "usdc"]) {
    const { status, body } = await api.call("POST", "/api/deposit-url", {
      key: shop.key,
      body: { network: "TRX", identifier: "a", token },
    });
    assertEquals([status, body], [400, {
      error: "Deposits of USDC on TRX are not supported",
      code: "deposits_not_supported",
    }]);
  }
  assertEquals((await api.sql`SELECT FROM hub.session`).length, 0);
  await api.sql`
    UPDATE book.pair SET deposits_enabled = true WHERE currency = 'USDC' AND network = 'TRX'`;
  const page = await openPage(api, { ...QUOTE, token: "usdc" });
  assertStringIncludes((await page.look()).body, "Send only \u2068USDC\u2069");
  // what came is not what was asked for: it is credited, and the page goes on asking
  await page.hear("14.055945", "solid");
  await page.reach("partial");
  const { body } = await page.look();
  assertStringIncludes(
    body,
    "14.055945\u00a0USDT\u2069 of \u206814.055945\u00a0USDC\u2069 received",
  );
  assertStringIncludes(body, 'data-copy="14.055945"');
});

shared(
  "the page tells in every language what becomes of other tokens, and calls nothing lost",
  async (api) => {
    const page = await openPage(api);
    const said = {
      en: "Another token is credited where it is supported, otherwise it is set aside.",
      zh: "其他代币若受支持则会入账，否则会被单独留存。",
      es: "Otra moneda se abona si se admite aquí; si no, queda apartada.",
      ar: "أي عملة أخرى تُقيَّد إن كانت مدعومة هنا، وإلا فتُحفظ جانبًا.",
    };
    for (const [lang, text] of Object.entries(said)) {
      assertStringIncludes((await page.look(`?lang=${lang}`)).body, text);
    }
  },
);

shared("who provides the page to the merchant is named", async (api) => {
  const page = await openPage(api);
  const { id } = await api.addMerchant();
  await api.sql`
    INSERT INTO hub.reseller (id, merchant_id, name, withdrawal_address, network)
    VALUES ('rsl_1', ${id}, 'Pay & Partner', ${page.address}, 'TRX')`;
  assert(!(await page.look()).body.includes("Payments by"));
  await api.sql`UPDATE book.merchant SET reseller_id = 'rsl_1' WHERE merchant_id = ${page.id}`;
  assertStringIncludes((await page.look()).body, "Payments by Pay &amp; Partner");
});

shared(
  "a page whose time is long over stops asking, one whose payment is on its way does not",
  async (api) => {
    const left = await openPage(api);
    const late = await openPage(api);
    await late.hear("5", "seen");
    await late.reach("received");
    await api.sql`UPDATE hub.session SET expires_at = now() - interval '61 minutes'`;
    assertStringIncludes((await left.look()).body, 'data-poll="none"');
    assertStringIncludes((await late.look()).body, 'data-poll="page"');
  },
);

test("a wallet is opened with what is still to be sent, where its network has links for that", async () => {
  const token = { contract: "0xdAC17F958D2ee523a2206206994597C13D831ec7", decimals: 6 };
  const linking = {
    ...EMPTY_CHAIN,
    paymentLink: (to: string, _: string, due: Parameters<typeof paymentLink>[3]) =>
      paymentLink(1, token, to, due),
  };
  await using api = await testApi({
    rates: ONE_TO_SEVEN,
    chains: new Map([["TRX", linking], ["TRX_SHASTA", EMPTY_CHAIN]]),
  });
  const linkOf = ({ body }: Called) =>
    /id="open-in-wallet"[^>]* href="([^"]+)"/.exec(body)?.[1]?.replaceAll("&amp;", "&");
  const page = await openPage(api, QUOTE);
  const link = `ethereum:${token.contract}@1/transfer?address=${page.address}`;
  assertEquals(linkOf(await page.look()), `${link}&uint256=14055945`);
  await page.hear("10", "seen");
  await page.reach("partial");
  assertEquals(linkOf(await page.look()), `${link}&uint256=4055945`);
  // a deposit by hand is finer than the token: the rest is rounded up, as less would not meet the quote
  const [{ addressId } = {}] = await api.sql`
    SELECT address_id AS "addressId" FROM hub.session WHERE address = ${page.address}`;
  const byHand = await api.call("POST", "/api/deposits", {
    key: page.key,
    body: {
      amount: "1.0000001",
      currency: "USDT",
      network: "TRX",
      source: "bank",
      depositAddressId: addressId,
    },
  });
  assertEquals(byHand.status, 201);
  const rest = await page.look();
  assertEquals([rest.status, linkOf(rest)], [200, `${link}&uint256=3055945`]);
  assertStringIncludes(rest.body, 'data-copy="3.055945"');
  assertEquals(linkOf(await (await openPage(api)).look())?.includes("uint256"), false);
  assertEquals(linkOf(await (await openPage(api, { network: "TRX_SHASTA" })).look()), undefined);
  await page.end();
  assertEquals(linkOf(await page.look()), undefined);
});
