import { assert, assertEquals } from "@std/assert";
import { gasOf } from "../../chains/fees.ts";
import { amount, booksFaults } from "../support/books.ts";
import { needs } from "../support/permissions.ts";
import { type House, openHouse } from "./support/house.ts";

const ignore = needs({ net: true, read: true, write: true, run: true, env: true, sys: true });
const BROADCAST = "/wallet/broadcasttransaction";

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore, fn });
}

async function faults(house: House, list: readonly Record<string, unknown>[]): Promise<void> {
  await house.control("dev/config", { faults: list });
}

/** A top-up whose address has its coin, so that the next broadcast is the sweep's. */
async function readyToSweep(house: House): Promise<{ own: string; txid: string }> {
  const own = await house.address("top_up");
  const txid = await house.pay(own, "100");
  await house.until("the coin's signature", async () => {
    return (await house.steps()).some(({ status }) => status === "signed");
  });
  return { own, txid };
}

async function confirmed(house: House, txid: string): Promise<void> {
  await house.until("the confirmation", async () => {
    return (await house.deposit(txid)).startsWith("CONFIRMED");
  });
  assertEquals(await house.deposit(txid), "CONFIRMED 100 fee 1 effect 99");
  assertEquals(await house.balance(), "99/0");
  assertEquals(await booksFaults(house.sql), []);
  // what the hot wallet has got is what was paid, once
  const hot = await house.chain.balanceOf(house.chain.hotWallet, "USDT");
  assertEquals(hot, amount("1000100"));
}

const brief = async (house: House) =>
  (await house.steps()).map(({ kind, status, attempts }) => `${kind} ${status} ${attempts}`);

for (const [kind, word] of [["revert", "REVERT"], ["out-of-energy", "OUT_OF_ENERGY"]] as const) {
  test(`a sweep that fails on the chain (${word}) is planned anew, and ends once`, async () => {
    await using house = await openHouse();
    const { own, txid } = await readyToSweep(house);
    await faults(house, [{ path: BROADCAST, kind, times: 1 }]);
    await confirmed(house, txid);
    assertEquals(await brief(house), [
      "gas final 1",
      "sweep void 1",
      // what the failure burned is given again, and no more than that
      "gas final 1",
      "sweep final 1",
    ]);
    const [, failed] = await house.steps();
    assertEquals(failed?.reason, `failed: ${word}`);
    assert(Number(failed?.fees[0]) > 0);
    assertEquals(await house.held(own), 0n);
  });
}

test("a sweep whose broadcast was lost is sent again as it is, until it is in a block", async () => {
  await using house = await openHouse();
  const { txid } = await readyToSweep(house);
  await faults(house, [{ path: BROADCAST, kind: "lost-broadcast", times: 3 }]);
  await confirmed(house, txid);
  assertEquals(await brief(house), ["gas final 1", "sweep final 1"]);
});

test("what is proven dead is signed anew, gas and sweep alike; coin is never given twice", async () => {
  await using house = await openHouse();
  const own = await house.address("top_up");
  await faults(house, [{ path: BROADCAST, kind: "lost-broadcast", probability: 1 }]);
  const txid = await house.pay(own, "100");
  const attempts = async (kind: string) =>
    (await house.steps()).find((step) => step.kind === kind)?.attempts ?? 0;
  await house.until("the coin", async () => await attempts("gas") === 1);
  // block time passes the expiry without it
  await house.mine(4, 60_000);
  await faults(house, []);
  await house.until("the sweep's signature", async () => await attempts("sweep") === 1);
  await faults(house, [{ path: BROADCAST, kind: "lost-broadcast", probability: 1 }]);
  const [, sweep] = await house.steps();
  // it may have been taken before the fault was set
  await house.mine(4, 60_000);
  await faults(house, []);
  await confirmed(house, txid);
  const steps = await house.steps();
  assertEquals(steps.map(({ kind, status }) => `${kind} ${status}`), ["gas final", "sweep final"]);
  assertEquals(steps[0]?.fees[0], "expired");
  assertEquals(steps[1]?.id, sweep?.id);
  // one attempt alive at a time, every one that ended has its outcome
  const open = await house.sql`SELECT 1 FROM book.attempt WHERE outcome IS NULL`;
  assertEquals(open.length, 0);
});

test("an address that fails again and again rests, says so, and gives lent energy back", async () => {
  await using house = await openHouse({ stake: 20_000 });
  const own = await house.address("issued");
  await house.pay(own, "60");
  await house.until("the loan", async () => {
    return (await house.steps()).some(({ kind, status }) =>
      `${kind} ${status}` === "delegation signed"
    );
  });
  await faults(house, [{ path: BROADCAST, kind: "revert", probability: 1 }]);
  await house.until("the rest", async () => {
    return await house.reason(own) === "failed" &&
      await gasOf(house.chain).delegatedTo(own) === 0n &&
      (await house.steps()).filter(({ kind, status }) => `${kind} ${status}` === "sweep void")
          .length === 3;
  });
  const quiet = await brief(house);
  await house.lookNow();
  await house.mine(3);
  assertEquals(await brief(house), quiet);
  assertEquals(await house.held(own), amount("60"));
  assertEquals(await booksFaults(house.sql), []);
  const lent = quiet.filter((line) => line.startsWith("delegation final")).length;
  assertEquals(quiet.filter((line) => line.startsWith("reclaim final")).length, lent);
});

test("a restart in the middle of everything changes nothing about the end", async () => {
  await using house = await openHouse();
  const own = await house.address("top_up");
  const txid = await house.pay(own, "100");
  let known = 0;
  await house.until("the confirmation", async () => {
    const steps = (await house.steps()).map(({ id, status }) => `${id} ${status}`).join();
    if (steps.length !== known) await house.restart();
    known = steps.length;
    return (await house.deposit(txid)).startsWith("CONFIRMED");
  });
  await confirmed(house, txid);
  assertEquals(await brief(house), ["gas final 1", "sweep final 1"]);
});

test("two nodes on one database give and sweep once", async () => {
  await using house = await openHouse({ second: true });
  const own = await house.address("top_up");
  const txid = await house.pay(own, "100");
  const others: string[] = [];
  for (let i = 0; i < 4; i++) {
    const address = await house.address("issued", `customer-${i}`);
    others.push(address);
    await house.pay(address, "60");
  }
  await house.until("the end", async () => {
    const left = await house.sql`SELECT 1 FROM book.sweep_item WHERE NOT done`;
    return left.length === 0 && (await house.deposit(txid)).startsWith("CONFIRMED");
  });
  assertEquals(await house.deposit(txid), "CONFIRMED 100 fee 1 effect 99");
  const lines = (await brief(house)).sort();
  assertEquals(lines, [
    ...Array.from({ length: 5 }, () => "gas final 1"),
    ...Array.from({ length: 5 }, () => "sweep final 1"),
  ]);
  for (const address of [own, ...others]) assertEquals(await house.held(address), 0n);
  assertEquals(await booksFaults(house.sql), []);
});
