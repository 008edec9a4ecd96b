/**
 * Rules that share one interface and one database: making a database costs more than most rules
 * do. Each rule makes merchants of its own and changes no setting that others would notice.
 *
 * @module
 */

import { type TestApi, testApi } from "../../support/api.ts";
import { booksFaults } from "../../support/books.ts";
import { DATABASE, testNeeding } from "../../support/permissions.ts";
import { assertEquals } from "@std/assert";

/** Adds one rule to a suite. */
export type Rule = (name: string, check: (api: TestApi) => Promise<void>) => void;

/**
 * Declares a suite: `const rule = suite("States"); rule("...", async (api) => { ... });`
 * Afterwards the books of all rules together must balance.
 */
export function suite(section: string): Rule {
  const rules: [string, (api: TestApi) => Promise<void>][] = [];
  testNeeding(DATABASE)(section, async (t) => {
    await using api = await testApi();
    for (const [name, check] of rules) await t.step(name, () => check(api));
    await t.step("the books balance", async () => assertEquals(await booksFaults(api.sql), []));
  });
  return (name, check) => rules.push([name, check]);
}
