import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Request as BrowserRequest } from "playwright-core";
import { launchChromium, testNeedingChromium } from "./support/chromium.ts";
import type { Customer, CustomerOptions } from "./support/customer.ts";

const test = testNeedingChromium();

/** Kept as test output; no test compares them. */
const PICTURES = new URL("../output/hosted_page/", import.meta.url);

/** Messages of the browser itself when a page's time is over, or the network is away. */
const GONE = /status of 410/;
const OFFLINE = /ERR_INTERNET_DISCONNECTED/;

const NARROW = { width: 320, height: 640 };
const WIDE = { width: 1100, height: 800 };

// One service, one browser, and all customers at the same time. Blocks are made between the acts, for
// everybody, so that no page misses a state and every run passes the same points.
test("hosted page: what customers see in a real browser", async (t) => {
  const { TWO_NETWORKS, withService } = await import("../support/service.ts");
  const { openPage } = await import("./support/customer.ts");
  const { openTill } = await import("./support/till.ts");
  const { openShop } = await import("./support/shop.ts");
  const { showEnds } = await import("./support/ends.ts");
  await Deno.mkdir(PICTURES, { recursive: true });
  await using shop = openShop();

  await withService(async (service) => {
    const [browser] = await Promise.all([launchChromium(), service.start()]);
    await using _browser = { [Symbol.asyncDispose]: () => browser.close() };
    const till = await openTill(service);
    await till.profile({ successUrl: `${shop.url}/thanks`, logoColor: "#0b6e4f" });
    const origins = [new URL(service.credentials.baseUrl).origin, shop.url];
    const opened: Customer[] = [];
    const come = async (url: string, options: Partial<CustomerOptions> = {}) => {
      const one = await openPage(browser, url, { origins, pictures: PICTURES, ...options });
      opened.push(one);
      return one;
    };
    const step = async (name: string, body: () => Promise<void> | void) => {
      if (!await t.step(name, body)) throw new Error("Cannot go on after a step that went wrong");
    };

    const bills = {
      calm: await till.ask({ price: "100.5" }),
      paid: await till.ask({ price: "25" }),
      parts: await till.ask({ price: "30" }),
      over: await till.ask({ price: "40" }),
      late: await till.ask({ price: "50" }),
      short: await till.ask({ price: "80" }),
      // no source has a rate for the code that ISO 4217 keeps for tests
      unpriced: await till.ask({ price: "100.5", currency: "BWP" }),
      dropped: await till.ask({ price: "60", network: "TRX_SHASTA" }),
      free: await till.ask(),
      long: await till.ask({ price: "999999999999.123456" }),
      expiring: await till.ask({ price: "70", secondsLeft: 5 }),
    };
    const expiring = await come(bills.expiring.url, { expected: GONE });
    const calm = await come(bills.calm.url);
    const paid = await come(bills.paid.url);
    const parts = await come(bills.parts.url);
    const over = await come(bills.over.url, { viewport: WIDE });
    const late = await come(bills.late.url, { expected: GONE });
    const dropped = await come(bills.dropped.url);
    const unpriced = await come(bills.unpriced.url);

    await step("waiting: address, exact amount, network; the clock runs", async () => {
      await calm.reaches("waiting");
      const text = await calm.reads();
      assertStringIncludes(text, "Demo Merchant");
      assertStringIncludes(text, "order-1001");
      assertStringIncludes(text, "Send only \u2068USDT\u2069 on the \u2068TRON (TRC-20)\u2069");
      assertMatch(await calm.page.innerText("[data-countdown]"), /^1\d:\d\d$/);
      assertEquals(await calm.page.textContent("#address"), bills.calm.address);
      await calm.photographs("waiting");
      await calm.isAccessible();
    });

    await step(
      "who asks for less motion sees none, also where the clock's line shrinks",
      async () => {
        const moving = await calm.page.evaluate(`
        new Promise((resolve) => {
          const seen = () => resolve(document.getAnimations().map(({ effect }) =>
            effect.target.className + (effect.pseudoElement ?? "")));
          new MutationObserver(seen).observe(document.querySelector("[data-countdown]"), {
            childList: true, characterData: true, subtree: true,
          });
        })`);
        assertEquals(moving, []);
      },
    );

    await step("what is copied is the whole address and the exact amount", async () => {
      const { page } = calm;
      await page.click("#copy-amount");
      assertEquals(await page.evaluate("navigator.clipboard.readText()"), "100.5");
      assertEquals(await page.innerText("#copy-amount"), "Copied");
      await page.click("#copy-address");
      assertEquals(await page.evaluate("navigator.clipboard.readText()"), bills.calm.address);
      const selected = await page.evaluate(`
        getSelection().selectAllChildren(document.querySelector("#address"));
        getSelection().toString()`);
      assertEquals(selected, bills.calm.address);
    });

    await step("a copy that fails is told, in words and to those who do not see it", async () => {
      const { page } = calm;
      await page.evaluate(`
        navigator.clipboard.writeText = () => Promise.reject(new Error("refused"));
        document.execCommand = () => false`);
      for (const button of ["#copy-amount", "#copy-address"]) {
        await page.click(button);
        await page.waitForSelector(`${button}:has-text("Not copied: select it by hand")`);
        assertEquals(
          await page.innerText("#say"),
          "Not copied: select it by hand",
        );
      }
      await calm.photographs("not_copied");
      await calm.fits();
    });

    await step("no rate: the price is shown, and who knows the amount of the token", async () => {
      await unpriced.reaches("waiting");
      const text = await unpriced.reads();
      assertMatch(text, /Amount due\s+100\.50 BWP/);
      assertStringIncludes(text, "tells you how much \u2068USDT\u2069 to send");
      assert(!text.includes("any amount"), "any amount was asked for");
      assertEquals(await unpriced.page.locator("#copy-amount").count(), 0);
      await unpriced.photographs("no_rate");
      await unpriced.isAccessible();
    });

    await step("dark, narrow, wide, from right to left, in four languages: it fits", async () => {
      const looks = [
        [
          "dark",
          bills.calm,
          { colorScheme: "dark", reducedMotion: "no-preference" },
          "Waiting for your payment",
        ],
        ["desktop", bills.calm, { viewport: WIDE }, "Waiting for your payment"],
        ["narrow", bills.long, { viewport: NARROW, locale: "es-ES" }, "Esperando su pago"],
        ["narrow_arabic", bills.long, { viewport: NARROW, locale: "ar-EG" }, "بانتظار دفعتك"],
        ["chinese", bills.free, { locale: "zh-CN" }, "等待您的付款"],
      ] as const;
      for (const [name, bill, options, title] of looks) {
        const one = await come(bill.url, options);
        assertStringIncludes(await one.reads(), title);
        await one.photographs(name);
        await one.fits();
        if (name === "dark" || name === "narrow_arabic") await one.isAccessible();
        await one.leaves();
      }
    });

    await step("the language is changed by a link, and nothing else is", async () => {
      await calm.page.click("nav >> text=Español");
      assertStringIncludes(await calm.reads(), "Esperando su pago");
      assertEquals(await calm.page.textContent("#address"), bills.calm.address);
      await calm.leaves();
    });

    await step("without JavaScript the essentials are there, and no idle button", async () => {
      const one = await come(bills.calm.url, { javaScriptEnabled: false });
      const text = await one.reads();
      assertEquals(await one.page.textContent("#address"), bills.calm.address);
      assertStringIncludes(text, "100.5 USDT");
      assertMatch(text, /Open until \u2068\d\d:\d\d UTC/);
      assertStringIncludes(text, "Without JavaScript this page does not update by itself");
      assertEquals(await one.page.locator("button:visible").count(), 0);
      await one.photographs("without_script");
      await one.leaves();
    });

    await step("the page weighs less than 50 kB and is one request", async () => {
      const one = await come("about:blank");
      const requests: BrowserRequest[] = [];
      one.page.on("requestfinished", (request) => requests.push(request));
      await one.page.goto(bills.calm.url, { waitUntil: "load" });
      const own = requests.filter((request) => request.url().startsWith("http"));
      const sizes = await Promise.all(own.map((request) => request.sizes()));
      const bytes = sizes.map((size) => size.responseHeadersSize + size.responseBodySize);
      assertEquals(bytes.length, 1);
      assert(bytes.every((size) => size > 5_000 && size < 50_000), `${bytes}`);
      await one.leaves();
    });

    await step("a hidden page asks nothing; when it is shown again it asks at once", async () => {
      const one = await come("about:blank");
      const { page } = one;
      let asked = 0;
      page.on("request", (request) => asked += request.url().includes("status?") ? 1 : 0);
      await page.clock.install();
      await page.goto(bills.calm.url);
      await Promise.all([page.waitForResponse(/status\?/), page.clock.fastForward(3_000)]);
      const turn = (hidden: boolean) =>
        page.evaluate(`
          Object.defineProperty(document, "hidden", { value: ${hidden}, configurable: true });
          document.dispatchEvent(new Event("visibilitychange"))`);
      await turn(true);
      const before = asked;
      for (let minute = 0; minute < 5; minute++) await page.clock.fastForward(60_000);
      assertEquals(asked, before);
      await Promise.all([page.waitForResponse(/status\?/), turn(false)]);
      assert(asked > before);
      await one.leaves();
    });

    await step("framed: only by an origin that the merchant has named", async () => {
      const url = `${shop.url}/?frame=${encodeURIComponent(bills.calm.url)}`;
      const refused = await come(url, { expected: /frame-ancestors/ });
      assertEquals(await refused.page.frameLocator("iframe").locator("#address").count(), 0);
      await till.profile({ pageOrigins: [shop.url] });
      const allowed = await come(url);
      const address = allowed.page.frameLocator("iframe").locator("#address");
      assertEquals(await address.textContent(), bills.calm.address);
      await Promise.all([refused.leaves(), allowed.leaves()]);
    });

    await step("offline: the payment is said to be safe; back: it goes on by itself", async () => {
      const one = await come(bills.calm.url, { expected: OFFLINE });
      await one.page.context().setOffline(true);
      await one.page.waitForSelector("#lost:visible");
      assertStringIncludes(await one.reads(), "Connection lost, your payment is safe");
      assertMatch(await one.page.innerText("#say"), /^Connection lost/);
      await one.photographs("offline");
      await one.page.context().setOffline(false);
      await one.page.waitForSelector("#lost", { state: "hidden" });
      assertEquals(await one.page.innerText("#say"), "Connected again");
      await one.leaves();
    });

    await step("expired: when the countdown ends the address is gone", async () => {
      await expiring.reaches("expired");
      const html = await expiring.page.content();
      assert(!html.includes(bills.expiring.address), "an address to pay to");
      assertStringIncludes(await expiring.reads(), "This payment page has expired");
      assertStringIncludes(await expiring.reads(), "Already sent? Your payment is safe");
      await expiring.photographs("expired");
      await expiring.isAccessible();
      await expiring.leaves();
    });

    // act 1: everybody pays, the transfers are in a block
    await paid.page.focus("#copy-address");
    await till.pay(bills.paid, "25");
    await till.pay(bills.parts, "10.5");
    await till.pay(bills.over, "42.25");
    await till.pay(bills.late, "50");
    await till.pay(bills.short, "30");
    await till.pay(bills.unpriced, "1.5");
    await till.pay(bills.dropped, "60", { network: "TRX_SHASTA", expiresInMs: 6_000 });
    await Promise.all([till.mine(1), till.mine(1, { network: "TRX_SHASTA" })]);

    await step("detected: it says so by itself, also to those who do not see it", async () => {
      await paid.reaches("received");
      assertStringIncludes(await paid.reads(), "Payment detected");
      assertMatch(await paid.page.innerText("#say"), /^Payment detected\. /);
      assertEquals(await paid.page.evaluate("document.activeElement.id"), "title");
      await paid.photographs("detected");
      await paid.isAccessible();
    });

    await step("underpaid: what is missing is asked for, exactly", async () => {
      await parts.reaches("partial");
      assertStringIncludes(await parts.reads(), "missing \u206819.5\u00a0USDT");
      assertEquals(await parts.page.getAttribute("#copy-amount", "data-copy"), "19.5");
      await parts.photographs("underpaid");
      await parts.isAccessible();
    });

    await step("seen in time: after the page's time it says it will be credited", async () => {
      await late.reaches("received");
      await service.sql`
        UPDATE hub.session SET expires_at = now() WHERE address = ${bills.late.address}`;
      await late.page.waitForSelector("text=Your payment will be credited");
      await late.photographs("will_be_credited");
    });

    // act 2: the transfers are final; the one that was forgotten can no longer land
    await dropped.reaches("received");
    await till.drop("TRX_SHASTA");
    await till.mine(2, { network: "TRX_SHASTA", apartMs: 10_000 });
    const staying = over.reaches("completed").then(async () => {
      await over.page.click("#stay");
    });
    const leaving = paid.page.waitForURL(`${shop.url}/thanks`);
    await Promise.all([
      staying,
      leaving,
      till.mine(3),
      till.mine(4, { network: "TRX_SHASTA" }),
    ]);

    await step("completed: the page has led back to the shop, and not told where from", () => {
      assertEquals(shop.referrers(), []);
      assert(shop.visits() > 0);
    });

    await step(
      "overpaid: complete, and the surplus is named; who wants to stay stays",
      async () => {
        assertStringIncludes(await over.reads(), "You sent \u20682.25\u00a0USDT\u2069 more");
        assertEquals(await over.page.evaluate("document.activeElement.id"), "return");
        await over.photographs("completed_overpaid");
        await over.isAccessible();
        assertEquals(over.page.url(), bills.over.url);
        await over.leaves();
      },
    );

    await step("no rate: what arrived is for the shop to check, and leads to no end", async () => {
      await unpriced.reaches("unchecked");
      const text = await unpriced.reads();
      assertStringIncludes(text, "Payment received");
      assertStringIncludes(text, "check it against the amount due, \u2068100.50\u00a0BWP\u2069");
      assertEquals(await unpriced.page.locator("[data-go], #return").count(), 0);
      assertEquals(unpriced.page.url(), bills.unpriced.url);
      await unpriced.photographs("no_rate_received");
      await unpriced.isAccessible();
      await unpriced.leaves();
    });

    await step("failed: nothing was taken, and the shop's page for it follows", async () => {
      await dropped.reaches("failed");
      assertStringIncludes(await dropped.reads(), "nothing was transferred");
      await dropped.photographs("failed");
      await dropped.isAccessible();
      await till.profile({ failureUrl: `${shop.url}/sorry` });
      await dropped.page.clock.install();
      await dropped.page.reload();
      await dropped.page.clock.fastForward(11_000);
      await dropped.page.waitForURL(`${shop.url}/sorry`);
      await dropped.leaves();
    });

    await step("topped up until the quote is reached: only then success, and back", async () => {
      await till.pay(bills.parts, "9.5");
      await till.mine(1);
      await parts.page.waitForSelector('[data-copy="10"]');
      await till.pay(bills.parts, "10");
      await till.mine(1);
      await parts.reaches("received");
      assertEquals(parts.page.url(), bills.parts.url);
      await till.mine(3);
      await parts.page.waitForURL(`${shop.url}/thanks`);
    });

    await step("credited after the page's time: it is told, and leads back too", async () => {
      await late.page.waitForURL(`${shop.url}/thanks`);
    });

    await showEnds({ bills, come, step, till, shop, service });

    await step("no page had an error, broke its policy, or asked anybody else", () => {
      assert(opened.length > 15);
      for (const one of opened) assertEquals(one.faults(), [], one.page.url());
    });

    await step("no token is in the log or in the metrics", async () => {
      const metrics = await (await fetch(`${service.credentials.baseUrl}/metrics`)).text();
      assertStringIncludes(metrics, 'route="/deposit/{token}"');
      const log = await service.log();
      for (const { token } of Object.values(bills)) {
        assert(!metrics.includes(token) && !log.includes(token), "a token was written down");
      }
    });
  }, { env: TWO_NETWORKS });
});
