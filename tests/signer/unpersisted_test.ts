import { assertEquals, assertRejects } from "@std/assert";
import { SpendingLimits } from "../../chains/signer/signing_rules.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import { openDesk, refusalOf, signedOf, START } from "./support/desk.ts";

const MINUTE = 60_000;
/** Longer than a signature lives, with all tolerances. */
const STEP = 6.5 * MINUTE;

/** A signer with a cap of 100 a day whose two files cannot be written while they are broken. */
function openBreakable() {
  const broken = { sums: false, journal: false };
  const kept: string[] = [];
  const spending = new SpendingLimits({ "USDT/TRX": { perDay: amountOf("100") } });
  const desk = openDesk({
    spending,
    persistSpent: () =>
      broken.sums ? Promise.reject(new Error("no space left")) : Promise.resolve(),
    persistSigned: (batch) => {
      if (broken.journal) return Promise.reject(new Error("no space left"));
      kept.push(...batch.map(({ signed }) => signed.txid));
      return Promise.resolve();
    },
  });
  return { broken, kept, spending, desk };
}

for (
  const [what, failing] of Object.entries({
    "neither sums nor signatures": { sums: true, journal: true },
    "no sums": { sums: true, journal: false },
    "no signatures": { sums: false, journal: true },
  })
) {
  Deno.test(`while ${what} can be made durable, no cap is used up by what never left`, async () => {
    const { broken, kept, spending, desk } = openBreakable();
    Object.assign(broken, failing);
    for (let attempt = 0; attempt < 10; attempt++) {
      await assertRejects(() => desk.ask(desk.now), Error, "no space left");
      await assertRejects(() => desk.ask(desk.now, `out_other_${attempt}`), Error, "no space left");
      assertEquals(spending.sums(desk.now), { "USDT/TRX": "12.5" });
      desk.now += STEP;
    }
    Object.assign(broken, { sums: false, journal: false });
    const first = signedOf(await desk.ask(desk.now));
    const other = signedOf(await desk.ask(desk.now, "out_other"));
    // the one that was made before the disk was known to be full has expired
    assertEquals(spending.sums(desk.now), { "USDT/TRX": "37.5" });
    assertEquals(kept.slice(1), [first.txid, other.txid]);
  });
}

Deno.test("a signature whose write failed is given once it is durable, while it lives", async () => {
  const { broken, kept, spending, desk } = openBreakable();
  broken.journal = true;
  await assertRejects(() => desk.ask(START), Error, "no space left");
  broken.journal = false;
  assertEquals([signedOf(await desk.ask(START)).txid], kept);
  assertEquals(spending.sums(desk.now), { "USDT/TRX": "12.5" });
});

Deno.test("batches that come together while nothing can be made durable sign nothing new", async () => {
  const { broken, spending, desk } = openBreakable();
  Object.assign(broken, { sums: true, journal: true });
  await assertRejects(() => desk.ask(START), Error, "no space left");
  const together = await Promise.allSettled(
    [1, 2, 3, 4, 5].map((n) => desk.ask(START, `out_together_${n}`)),
  );
  assertEquals(together.map(({ status }) => status), Array(5).fill("rejected"));
  assertEquals(spending.sums(START), { "USDT/TRX": "12.5" });
});

Deno.test("a pause is told while nothing can be made durable, and holds when it is set meanwhile", async () => {
  let isBroken = true;
  let isPaused = false;
  const spending = new SpendingLimits({});
  const desk = openDesk({
    spending,
    isPaused: () => isPaused,
    persistSpent: () => {
      if (isBroken) return Promise.reject(new Error("no space left"));
      isPaused = true;
      return Promise.resolve();
    },
  });
  await assertRejects(() => desk.ask(START), Error, "no space left");
  isPaused = true;
  assertEquals(refusalOf(await desk.ask(START))?.split(":")[0], "paused");
  isPaused = false;
  isBroken = false;
  // paused by an operator while the write that failed before is made up for
  assertEquals(refusalOf(await desk.ask(START, "out_2"))?.split(":")[0], "paused");
  assertEquals(spending.sums(START), { "USDT/TRX": "12.5" });
});
