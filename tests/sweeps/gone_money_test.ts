import { assertEquals } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import { booksFaults, SOMEWHERE } from "../support/books.ts";
import { needs } from "../support/permissions.ts";
import { type House, openHouse } from "./support/house.ts";

const ignore = needs({ net: true, read: true, write: true, run: true, env: true, sys: true });

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore, fn });
}

/** The chain says that an address was paid, and what it was paid is not there. */
async function payNothing(house: House, to: string, units: string): Promise<string> {
  const step = { do: "event", from: SOMEWHERE, to, amount: units };
  const sent = await house.control("dev/emit", { steps: [step] });
  return String(Reflect.get(Object(sent), "txid"));
}

/** Whatever was noted by now was noted long ago. */
async function age(house: House): Promise<void> {
  await house.sql`UPDATE book.sweep_item SET found_at = now() - interval '1 hour'`;
  await house.lookNow();
}

async function confirmed(house: House, txid: string): Promise<void> {
  await house.until("the confirmation", async () => {
    await age(house);
    return (await house.deposit(txid)).startsWith("CONFIRMED");
  });
}

test("money that is gone from a top-up address keeps no later top-up from being swept", async () => {
  await using house = await openHouse();
  const own = await house.address("top_up");
  const gone = await payNothing(house, own, "100000000");
  await house.until("the reason", async () => await house.reason(own) === "balance_differs");
  for (const [text, available] of [["50", "49"], ["120", "168"], ["30", "197"]] as const) {
    const txid = await house.pay(own, text);
    await confirmed(house, txid);
    assertEquals(await house.balance(), `${available}/100`);
    assertEquals(await house.held(own), 0n);
  }
  assertEquals((await house.deposit(gone)).split(" ")[0], "PENDING");
  await house.until("the reason", async () => {
    await house.lookNow();
    return await house.reason(own) === "balance_differs";
  });
  const sweeps = (await house.steps()).filter(({ kind }) => kind === "sweep");
  assertEquals(sweeps.map(({ amount, status }) => `${amount} ${status}`), [
    "50 final",
    "120 final",
    "30 final",
  ]);
  assertEquals(await booksFaults(house.sql), []);
});

test("coin and energy that only the books have given hold up nothing for long", async () => {
  await using house = await openHouse();
  const { sql } = house;
  const own = await house.address("top_up");
  for (const [kind, amount] of [["gas", "15"], ["delegation", "9000"]] as const) {
    await sql`
      INSERT INTO book.outgoing (id, merchant_id, kind, network, currency, amount, wallet, destination, status, created_at, updated_at)
      VALUES (${
      newId("out")
    }, 'mer_platform', ${kind}, 'TRX', 'native', ${amount}, 'hot', ${own}, 'final',
        now() - interval '2 hours', now() - interval '1 hour')`;
  }
  const txid = await house.pay(own, "100");
  await house.until("the confirmation", async () => {
    return (await house.deposit(txid)).startsWith("CONFIRMED");
  });
  await house.until("the end", async () => await house.reason(own) === null);
  const lines = (await house.steps()).slice(2).map(({ kind, status }) => `${kind} ${status}`);
  assertEquals(lines, ["gas final", "sweep final"]);
  assertEquals(await house.held(own), 0n);
});
