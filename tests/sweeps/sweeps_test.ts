import { assert, assertEquals, assertRejects } from "@std/assert";
import { checkChain } from "../../actors/reconcile/check_chain.ts";
import { newId } from "../../actors/runtime/ids.ts";
import { updatePair } from "../../ledger/settings.ts";
import { gasOf } from "../../chains/fees.ts";
import { amount, booksFaults } from "../support/books.ts";
import { needs } from "../support/permissions.ts";
import { openHouse } from "./support/house.ts";

const ignore = needs({ net: true, read: true, write: true, run: true, env: true, sys: true });

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore, fn });
}

test("a top-up becomes available, less the flat fee, when the sweep that lists it is final", async () => {
  await using house = await openHouse();
  const { sql } = house;
  const own = await house.address("top_up");
  const hotBefore = await house.chain.balanceOf(house.chain.hotWallet, "USDT");
  const txid = await house.pay(own, "100");
  await house.until("the gas", async () => (await house.steps()).length === 1);
  assertEquals(await house.deposit(txid), "PENDING 100 fee 0 effect 0");
  assertEquals(await house.balance(), "0/100");
  await house.until("the confirmation", async () => {
    return (await house.deposit(txid)).startsWith("CONFIRMED");
  });
  assertEquals(await house.deposit(txid), "CONFIRMED 100 fee 1 effect 99");
  assertEquals(await house.balance(), "99/0");
  const [charge] = await sql`SELECT type, trim_scale(amount)::text AS amount FROM book.charge`;
  assertEquals({ ...charge }, { type: "DIRECT_DEPOSIT", amount: "1" });
  const events = await sql<{ type: string; payload: string }[]>`
    SELECT type, payload FROM book.outbox ORDER BY id`;
  assertEquals(events.map(({ type }) => type), ["deposit.confirmed", "transaction.confirmed"]);
  const told = JSON.parse(events[0]?.payload ?? "{}");
  assertEquals([told.isMerchantDirectDeposit, told.receivableAmount, told.feeCharges.type], [
    true,
    "99",
    "FIXED_AMOUNT",
  ]);
  // every transfer of the house is kept with what it cost, and the money is where the books say
  const steps = await house.steps();
  assertEquals(steps.map(({ kind, status }) => `${kind} ${status}`), ["gas final", "sweep final"]);
  assert(steps.every(({ fees }) => fees.length === 1 && Number(fees[0]) > 0));
  assertEquals(await house.held(own), 0n);
  const hotAfter = await house.chain.balanceOf(house.chain.hotWallet, "USDT");
  assertEquals(hotAfter - hotBefore, amount("100"));
  assertEquals(await booksFaults(sql), []);
  // nothing is left to do, and the next top-up uses what coin is left
  await house.until("the end", async () => await house.reason(own) === null);
  const next = await house.pay(own, "40");
  await house.until("the second one", async () => {
    return (await house.deposit(next)).startsWith("CONFIRMED");
  });
  assertEquals(await house.balance(), "138/0");
  const given = (await house.steps()).filter(({ kind }) => kind === "gas");
  assertEquals(given.length, 2);
  assert(Number(given[1]?.amount) < Number(given[0]?.amount));
  assertEquals(await booksFaults(sql), []);
});

test("an issued address is swept when that pays, and says why when it does not", async () => {
  await using house = await openHouse();
  const rich = await house.address("issued", "rich");
  const poor = await house.address("issued", "poor");
  await house.pay(rich, "60");
  await house.pay(poor, "3");
  await house.until("the sweep", async () => {
    return (await house.steps()).some(({ kind, status }) => `${kind} ${status}` === "sweep final");
  });
  assertEquals(await house.held(rich), 0n);
  await house.until("the reason", async () => await house.reason(poor) === "below_economics");
  assertEquals(await house.held(poor), amount("3"));
  // more of it pays; all that is there is swept together, the first transfer included
  await house.pay(poor, "30");
  await house.until("the second sweep", async () => await house.reason(poor) === null);
  assertEquals(await house.held(poor), 0n);
  const sweeps = (await house.steps()).filter(({ kind }) => kind === "sweep");
  assertEquals(sweeps.map((step) => step.amount), ["60", "33"]);
  assertEquals(await booksFaults(house.sql), []);
});

test("energy is lent where there is stake for it, and taken back after the sweep", async () => {
  await using house = await openHouse({ stake: 20_000 });
  const { chain } = house;
  const own = await house.address("issued");
  await house.pay(own, "60");
  await house.until("the end", async () => {
    return (await house.steps()).length > 0 && await house.reason(own) === null;
  });
  assertEquals(await house.held(own), 0n);
  const steps = await house.steps();
  assertEquals(steps.map(({ kind, status }) => `${kind} ${status}`), [
    // an address that the chain does not know is woken up with a little coin first
    "gas final",
    "delegation final",
    "sweep final",
    "reclaim final",
  ]);
  assert(Number(steps[0]?.amount) < 1);
  assertEquals(steps[1]?.amount, steps[3]?.amount);
  assertEquals(await gasOf(chain).delegatedTo(own), 0n);
  // the sweep itself burned next to nothing
  assert(Number(steps[2]?.fees[0]) < 1);
  assertEquals(await booksFaults(house.sql), []);
});

test("a top-up that does not pay is swept when it was final for long enough", async () => {
  await using house = await openHouse();
  const { sql } = house;
  const own = await house.address("top_up");
  const txid = await house.pay(own, "1.5");
  await house.until("the reason", async () => await house.reason(own) === "below_economics");
  await house.mine(3);
  assertEquals((await house.steps()).length, 0);
  await sql`UPDATE book.sweep_item SET found_at = now() - interval '22 hours 1 minute'`;
  await house.lookNow();
  await house.until("the confirmation", async () => {
    return await house.deposit(txid) === "CONFIRMED 1.5 fee 1 effect 0.5";
  });
  assertEquals(await booksFaults(sql), []);
});

test("what a sweep carried before it was booked is confirmed by that sweep, and not waited for", async () => {
  await using house = await openHouse();
  const { sql } = house;
  const own = await house.address("top_up");
  const small = await house.pay(own, "1.5");
  await house.until("the reason", async () => await house.reason(own) === "below_economics");
  const pair = { currency: "USDT", network: "TRX" } as const;
  const audit = { merchantId: null, actor: "key", action: "pair", subject: "USDT/TRX" } as const;
  const line = () => ({ ...audit, id: newId("aud"), requestId: null, createdAt: Date.now() });
  await updatePair(sql, pair, { depositsEnabled: false }, line());
  const large = await house.pay(own, "100");
  await house.until("the first one", async () => {
    return (await house.deposit(small)).startsWith("CONFIRMED");
  });
  // the sweep took everything and lists what was booked
  assertEquals(await house.held(own), 0n);
  assertEquals((await house.steps()).at(-1)?.amount, "101.5");
  assertEquals(await house.deposit(large), "none");
  await house.until("the reason", async () => await house.reason(own) === "deposit_held");
  await updatePair(sql, pair, { depositsEnabled: true }, line());
  await house.until("the second one", async () => {
    await house.lookNow();
    return (await house.deposit(large)).startsWith("CONFIRMED");
  });
  assertEquals(await house.balance(), "99.5/0");
  assertEquals((await house.steps()).length, 2);
  await house.until("the end", async () => await house.reason(own) === null);
  assertEquals(await booksFaults(sql), []);
});

test("the schema lets no sweep list more than it moves, and no transfer be carried twice", async () => {
  await using house = await openHouse({ terms: { enabled: false } });
  const { sql } = house;
  const own = await house.address("issued");
  await house.pay(own, "60");
  await house.until("the reason", async () => await house.reason(own) === "paused");
  // from addresses without money, so that the treasury signs none of them
  const queue = async (id: string, amount: string, wallet: string) => {
    await sql`
      INSERT INTO book.outgoing (id, merchant_id, kind, network, currency, amount, wallet, destination, status, created_at, updated_at)
      VALUES (${id}, 'mer_platform', 'sweep', 'TRX', 'USDT', ${amount}, ${wallet}, ${house.chain.hotWallet}, 'queued', now(), now())`;
  };
  const list = async (id: string) => {
    await sql`UPDATE book.sweep_item SET outgoing_id = ${id}`;
  };
  await queue("out_small", "59", "7");
  await assertRejects(() => list("out_small"), Error, "moves less");
  await queue("out_first", "60", "8");
  await list("out_first");
  await queue("out_second", "60", "9");
  await assertRejects(() => list("out_second"), Error, "may land");
  await assertRejects(() => queue("out_third", "1", "9"), Error, "outgoing_living_sweep");
});

test("books and chain agree at every block of a sweep", async () => {
  await using house = await openHouse({ stake: 20_000 });
  const { sql, chain } = house;
  const own = await house.address("top_up");
  const other = await house.address("issued");
  const txid = await house.pay(own, "100");
  await house.pay(other, "60");
  const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  await house.until("the end", async () => {
    const report = await checkChain({ sql, chain, pause, coldAddress: null });
    const differences = report.rules.filter((result) => result.differences.length > 0);
    assertEquals(differences, []);
    return (await house.deposit(txid)).startsWith("CONFIRMED") &&
      await house.reason(own) === null && await house.reason(other) === null;
  });
  assertEquals(await house.held(other), 0n);
  const count = async (name: string) =>
    (await house.steps()).filter(({ kind, status }) => kind === name && status === "final").length;
  assertEquals(await count("sweep"), 2);
  // energy was delegated to at least one of them, and undelegated
  assert(await count("delegation") > 0);
  assertEquals(await count("reclaim"), await count("delegation"));
});
