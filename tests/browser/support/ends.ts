/**
 * The ends of a page's story, looked at on pages that are opened afterwards: they are as they are,
 * whenever a customer comes back to them.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Service } from "../../support/service.ts";
import type { Customer, CustomerOptions } from "./customer.ts";
import type { Shop } from "./shop.ts";
import type { Bill, Till } from "./till.ts";

/** State that the story has left behind. */
export interface Stage {
  /** `paid` is completed, `short` was paid in part, `expiring` was not paid. */
  readonly bills: Readonly<Record<"paid" | "short" | "expiring", Bill>>;
  readonly come: (url: string, options?: Partial<CustomerOptions>) => Promise<Customer>;
  readonly step: (name: string, body: () => Promise<void> | void) => Promise<void>;
  readonly till: Till;
  readonly shop: Shop;
  readonly service: Service;
}

/** Messages of the browser itself about an answer that is an error, or a lost network. */
const EXPECTED = /status of 4(?:04|10|29)|ERR_INTERNET_DISCONNECTED/;

const WELL_OVER = "61 minutes";

/** Time by which a page's clock is set back before its pause: more than a slow browser needs. */
const CLOCK_LEAD_MS = 120_000;

/** Shows every end, and that each stays as it is. */
export async function showEnds({ bills, come, step, till, shop, service }: Stage): Promise<void> {
  const end = (bill: Bill, ago: string) =>
    service.sql`
      UPDATE hub.session SET expires_at = now() - ${ago}::interval WHERE address = ${bill.address}`;
  /** Opens a page on which time stands still until the test moves it. */
  const comeInStillTime = async (url: string) => {
    const one = await come("about:blank", { expected: EXPECTED });
    const now = Date.now();
    // it runs until it is paused, which is refused where it has run past that moment already
    await one.page.clock.install({ time: now - CLOCK_LEAD_MS });
    await one.page.clock.pauseAt(now + 1_000);
    await one.page.goto(url);
    return one;
  };
  const says = async (one: Customer, text: string) => assertStringIncludes(await one.reads(), text);

  await step(
    "completed while offline: the page says so until there is a shop to go to",
    async () => {
      const one = await comeInStillTime(bills.paid.url);
      const { page } = one;
      await page.context().setOffline(true);
      await page.clock.fastForward(6_000);
      await says(one, "Payment complete");
      assertEquals(page.url(), bills.paid.url);
      await page.context().setOffline(false);
      await page.clock.fastForward(2_000);
      await page.waitForURL(`${shop.url}/thanks`);
      await one.leaves();
    },
  );

  await step("who stays is not led away by what the page learns later", async () => {
    const one = await comeInStillTime(bills.expiring.url);
    const { page } = one;
    await says(one, "If you stay here, this page will show it");
    await page.click("#stay");
    await end(bills.expiring, WELL_OVER);
    await page.clock.fastForward(3_000);
    await page.waitForSelector('main[data-poll="none"]');
    assertEquals(await page.locator(".returning").count(), 0);
    assertEquals(await page.locator("#return").count(), 1);
    await one.leaves();
  });

  await till.profile({ successUrl: null, failureUrl: null });

  await step("a page that asks nothing any more says nothing of the connection", async () => {
    for (const [bill, state] of [[bills.paid, "completed"], [bills.expiring, "expired"]] as const) {
      const one = await come(bill.url, { expected: EXPECTED });
      const { page } = one;
      await one.reaches(state);
      // heard after the page's own listeners were called
      await page.evaluate(`
        for (const name of ["offline", "online"]) {
          addEventListener(name, () => {
            const { lost } = window;
            document.documentElement.dataset.heard = name + (lost.hidden ? "" : ", told");
          });
        }`);
      for (const name of ["offline", "online"]) {
        await page.context().setOffline(name === "offline");
        await page.waitForSelector(`html[data-heard="${name}"]`);
      }
      assertEquals(await page.innerText("#say"), "");
      if (state === "completed") {
        await one.photographs("completed");
        await one.isAccessible();
      }
      await one.leaves();
    }
  });

  await step("paid in part, and no time left: the shop is to be asked", async () => {
    await end(bills.short, "1 second");
    const one = await come(bills.short.url, { expected: EXPECTED });
    await one.reaches("short");
    await says(one, "Only a part arrived in time");
    assert(!(await one.page.content()).includes(bills.short.address), "an address to pay to");
    await one.photographs("short");
    await one.isAccessible();
    await one.leaves();
  });

  await step("a mistyped link, and one opened too often, are explained", async () => {
    const { baseUrl } = service.credentials;
    const mistyped = bills.paid.token.split("").reverse().join("");
    const one = await come(`${baseUrl}/deposit/${mistyped}`, { expected: EXPECTED });
    await says(one, "There is no such payment page");
    await one.photographs("unknown");
    await one.isAccessible();
    // a page has a limit of its own once it was found
    await Promise.all(Array.from({ length: 240 }, async () => {
      const response = await fetch(`${baseUrl}/api/deposit-page/status?token=${bills.paid.token}`);
      await response.body?.cancel();
    }));
    await one.page.goto(bills.paid.url);
    await says(one, "One moment, please");
    await one.photographs("too_often");
    await one.isAccessible();
    await one.leaves();
  });
}
