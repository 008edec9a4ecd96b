/**
 * Chromium, where there is one. Without it the browser suite says so and the rest runs.
 *
 * @module
 */

import type { Browser } from "playwright-core";
import { DATABASE, needs } from "../../support/permissions.ts";

/** Paths at which Debian, Ubuntu and Google install the browser. */
const KNOWN_PLACES = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome-stable",
  "/usr/bin/google-chrome",
];

/** File that playwright-core reads while loading; the runtime opens it to `--allow-all` only. */
const LOOKED_AT = "/proc/sys/fs/binfmt_misc/WSLInterop";

/** Path of the browser: `CHROMIUM`, otherwise where it is usually found; null where it is not. */
export function findChromium(): string | null {
  const named = Deno.env.get("CHROMIUM");
  const places = named === undefined || named === "" ? KNOWN_PLACES : [named];
  return places.find(isFile) ?? null;
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      return false;
    }
    throw error;
  }
}

/** True when the permissions allow reading a path, whether the file exists or not. */
function isOpen(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    return !(error instanceof Deno.errors.NotCapable);
  }
}

/** `Deno.test` for suites that need a browser; `Deno.test.ignore` with the reason where it is missing. */
export function testNeedingChromium(): typeof Deno.test.ignore {
  if (needs(DATABASE)) return Deno.test.ignore;
  if (!isOpen(LOOKED_AT)) {
    // deno-lint-ignore no-console -- the reason belongs in the test run's output
    console.log(`skipped as permissions are missing: --allow-all, for ${LOOKED_AT}`);
    return Deno.test.ignore;
  }
  if (findChromium() !== null) return Deno.test;
  // deno-lint-ignore no-console -- the reason belongs in the test run's output
  console.log("skipped as there is no Chromium: install Debian's package, or name one in CHROMIUM");
  return Deno.test.ignore;
}

/** Starts the browser. */
export async function launchChromium(): Promise<Browser> {
  // playwright-core looks at the machine while it loads, which needs permissions
  const { chromium } = await import("playwright-core");
  const executablePath = findChromium();
  if (executablePath === null) throw new Error("Cannot start Chromium as there is none");
  return await chromium.launch({
    executablePath,
    // Chromium's own sandbox refuses to run as root; the pages are ours
    args: [
      "--disable-gpu",
      "--renderer-process-limit=2",
      ...(Deno.uid() === 0 ? ["--no-sandbox"] : []),
    ],
    timeout: 120_000,
  });
}
