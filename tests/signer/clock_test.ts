/**
 * A machine's clock that is wrong, alone or together with a node that lies, frees no cap of the
 * signer and ends the life of no signature.
 *
 * @module
 */

import { assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import { SpendingLimits } from "../../chains/signer/signing_rules.ts";
import { steadyClock } from "../../chains/signer/create_signer.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import { openDesk, refusalOf, signedOf, START } from "./support/desk.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Clocks of a machine; `wall` is the one that can be set. */
function machine() {
  const at = { wall: START, monotonic: 7 };
  const steady = steadyClock(() => at.wall, () => at.monotonic);
  const pass = (ms: number) => {
    at.wall += ms;
    at.monotonic += ms;
  };
  return { at, steady, pass };
}

/** Limits that let two payouts of 12.5 through per day. */
const twoPerDay = (spent = {}) =>
  new SpendingLimits({ "USDT/TRX": { perDay: amountOf("25") } }, spent);

Deno.test("a day's cap is not freed by a clock that goes a day forward and back", async () => {
  const { at, steady, pass } = machine();
  const spending = twoPerDay();
  const desk = openDesk({ spending, steady });
  const ask = async (id: string) => {
    desk.now = at.wall;
    return await desk.ask(at.wall, id);
  };
  signedOf(await ask("out_1"));
  signedOf(await ask("out_2"));
  at.wall += 2 * DAY_MS;
  assertStringIncludes(refusalOf(await ask("out_3")) ?? "", "per day");
  assertEquals(spending.sums(steady()), { "USDT/TRX": "25" });
  at.wall -= 2 * DAY_MS;
  assertStringIncludes(refusalOf(await ask("out_4")) ?? "", "per day");
  at.wall -= 2 * DAY_MS;
  assertStringIncludes(refusalOf(await ask("out_5")) ?? "", "per day");
  at.wall += 2 * DAY_MS;
  // only a day that has passed frees it
  pass(26 * HOUR_MS);
  signedOf(await ask("out_6"));
});

Deno.test("what was signed before a restart counts, also where the clock stands a day back after it", () => {
  const intent = { ...openDesk().intent, outgoingId: "out_1" };
  const before = twoPerDay();
  before.count([intent], START);
  before.count([intent], START);
  const after = twoPerDay(before.spent(START));
  const back = START - 2 * DAY_MS;
  assertEquals(after.fault([intent], back), "more than 25 per day");
  assertEquals(after.sums(back), { "USDT/TRX": "25" });
  // what is counted by the clock that is back is counted beside the rest, and leaves with it
  after.count([intent], back);
  assertEquals(after.sums(START + 23 * HOUR_MS), { "USDT/TRX": "37.5" });
  assertEquals(after.sums(START + 26 * HOUR_MS), { "USDT/TRX": "0" });
});

Deno.test("a clock an hour ahead and a block an hour ahead together end the life of no signature", async () => {
  const { at, steady } = machine();
  const desk = openDesk({ steady });
  const first = signedOf(await desk.ask(START));
  at.wall += HOUR_MS;
  desk.now = at.wall;
  const ahead = await desk.ask(START + HOUR_MS);
  assertStringIncludes(refusalOf(ahead) ?? "", "may still be valid");
  at.wall -= HOUR_MS;
  desk.now = at.wall;
  assertEquals(signedOf(await desk.ask(START)).txid, first.txid, "the same bytes, as before");
});

Deno.test("time that has passed ends the life of a signature, also where the clock was set back", async () => {
  const { at, steady, pass } = machine();
  const desk = openDesk({ steady });
  const first = signedOf(await desk.ask(START));
  pass(HOUR_MS);
  desk.now = at.wall;
  assertNotEquals(signedOf(await desk.ask(at.wall)).txid, first.txid);
});
