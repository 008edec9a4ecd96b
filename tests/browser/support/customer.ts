/**
 * A customer in front of a hosted page: what the page shows, and everything that it must not do.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import axe from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { z } from "zod";

/** Time that a page may take to show something. */
const PATIENCE_MS = 120_000;

const Violations = z.array(z.object({
  id: z.string(),
  impact: z.string().nullable(),
  nodes: z.array(z.object({ html: z.string(), failureSummary: z.string().optional() })),
}));

/** An open page. */
export interface Customer {
  readonly page: Page;
  /** Waits until the page is in a state, for example `received`. */
  reaches(state: string): Promise<void>;
  /** The text that people read. */
  reads(): Promise<string>;
  /** Keeps a picture of the page as test output. */
  photographs(name: string): Promise<void>;
  /** Nothing is wider than the screen. */
  fits(): Promise<void>;
  /** Nothing that axe-core calls serious or critical. */
  isAccessible(): Promise<void>;
  /** Goes away: a page that is open asks and paints on; what went wrong in it is kept. */
  leaves(): Promise<void>;
  /** Faults in the page so far: errors, refused by its policy, requests to others. */
  faults(): readonly string[];
}

/** Options with which a page is opened. */
export interface CustomerOptions extends BrowserContextOptions {
  /** Origin of the service, and of the shop that the page may lead to. */
  readonly origins: readonly string[];
  /** Errors of the network that the story brings about, for example `410`. */
  readonly expected?: RegExp;
  readonly pictures: URL;
}

/** Opens a page in a browser profile of its own, with no memory of any other. */
export async function openPage(
  browser: Browser,
  url: string,
  { origins, expected, pictures, ...options }: CustomerOptions,
): Promise<Customer> {
  const context = await browser.newContext({
    viewport: { width: 390, height: 844 },
    locale: "en-US",
    permissions: ["clipboard-read", "clipboard-write"],
    // without a graphics card every frame of an animation is painted by the processor
    reducedMotion: "reduce",
    ...options,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() !== "error" && message.type() !== "warning") return;
    if (expected?.test(message.text()) !== true) faults.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol === "data:" || origins.includes(origin)) return;
    faults.push(`request to ${request.url()}`);
  });
  await page.goto(url);
  return {
    page,
    reaches: (state) => page.waitForSelector(`main[data-state="${state}"]`).then(() => {}),
    reads: () => page.innerText("body"),
    photographs: async (name) => {
      await page.screenshot({ path: new URL(`${name}.png`, pictures).pathname, fullPage: true });
    },
    isAccessible: async () => {
      await page.evaluate(axe.source);
      const found = Violations.parse(
        await page.evaluate("axe.run().then(({ violations }) => violations)"),
      );
      const serious = found.filter(({ impact }) => impact === "serious" || impact === "critical");
      assertEquals(serious, [], page.url());
    },
    fits: async () => {
      const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      assertEquals(Math.max(Number(overflow), 0), 0, "the page is wider than the screen");
    },
    leaves: () => context.close(),
    faults: () => faults,
  };
}
